"""An answer that quotes what the likeliest places say, and how likely it answers the question. No model reads it."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from skillstill.facts.locate.stems import stems_in


@dataclass(frozen=True, slots=True)
class ExtractiveAnswer:
    """Quotes of the likeliest places.

    answer    a line of each place, the place in front
    context   the same with the lines around the first; empty if there are none
    places    `path:line`; of a table or column in a file without lines, `path:table.column`
    chance    that it answers the question, 0 to 1
    source    what is quoted
    is_named  the question names it by what stands there, and not by words like it
    """

    answer: str
    context: str
    places: tuple[str, ...]
    chance: float
    source: str
    is_named: bool = False


# What questions are: for several things, whether there is something, for one thing and another.
LISTED = r"\b(?:list|all|every|each)\b"
WHETHER = r"^\W*(?:is|are|does|do|did|has|have|can|was|were)\b|\b(?:is|are) there\b"
JOINED = r"\band\b"
Signs = Sequence[tuple[re.Pattern[str], float]]


def signs_of(*weighed: tuple[str, float]) -> Signs:
    """Return patterns of questions, whatever their case, each with what it counts for a chance."""
    return [(re.compile(pattern, re.IGNORECASE), weight) for pattern, weight in weighed]


def covered(words: frozenset[str], lines: Sequence[str]) -> float:
    """Return the share of the words, as stems, that stand in the lines."""
    return len(words.intersection(stems_in("\n".join(lines)))) / max(1, len(words))


def probability(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))
