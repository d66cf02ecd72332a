"""The lines of a passage that may hold what a question asks for: its words, and a value of the kind that it expects.

The weights were learned by a softmax over the lines of the likeliest passages, on 1,197 training questions about code
and logs whose answer stands in a line (docs/experiments.md).
"""

import re
from collections.abc import Sequence

import numpy as np

from skillstill.facts.locate.postings import Array

NEAR, ANY = 2.6, 0.8  # the share of the words that is in a line or near it; any of them
BEST, NEXT = 1.0, 0.6  # the line that has most of the words, and those beside it
PASSAGE, WORTH = 0.8, 0.2  # the passage's place among others, and what it is worth beside the best
SHORT, DIGIT, ASSIGNED = -3.8, 1.4, 0.4  # a line of a bracket or so; one with a digit; one that sets something
LEAST = 4  # characters of a line that is not short
READ = 300  # characters of a line that are read
_DIGIT, _ASSIGNED = re.compile(r"\d"), re.compile(r"[=:]\s*\S")
# What a question asks for, how a line looks that may hold it, and what that counts.
EXPECTED = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(held), weight)
    for asked, held, weight in (
        (
            (
                r"\bhow (?:many|much|long|often|big|large|far|old|high)\b|\bnumber of\b|\bcount\b|\bmax|\bmin|limit"
                r"|default|time ?out|size|\bport\b|seconds|length"
            ),
            r"\d",
            1.6,
        ),
        (r"version|release|minimum|which (?:python|node|java|go)\b", r"\d+\.\d", 1.7),
        (
            r"\bwhen\b|\bdate\b|what time|which day|\blast\b|\bfirst\b",
            r"\d{4}-\d\d|\d\d:\d\d|\d\d/\d\d/",
            3.3,
        ),
        (
            r"\bname\b|called|\benv\b|environment|which (?:class|function|method|module|header|option|setting|field)",
            r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b",
            1.2,
        ),
        (r"\bname\b|called|which (?:class|function|method|module)", r"\w\(", 0.5),
        (
            r"error|exception|fail|crash|raise|throw|wrong|happens|\bcode\b",
            r"(?i:raise |throw |error|panic|exit|fail)",
            1.0,
        ),
        (r"\bip\b|address|\bhost\b|client", r"\d+\.\d+\.\d+\.\d+", 1.3),
        (r"command|\brun\b|script|flag|switch|option", r"(?<!\w)--?[a-z]", 0.4),
        (r"\bwhere\b|which file|what file|folder|director|\bpath\b", r"[\w.-]+/[\w./-]+", 0.3),
    )
)


def promise(question: str, lines: Sequence[str], near: Array, best: int) -> Array:
    """Return what each line of a passage promises. `near` are the shares of the question's words in and near them.

    `best` is the index of the line that tells most by its words. If no line has a word, none of them promises more.
    """
    if not near.any():
        alone: Array = BEST * (np.arange(len(lines)) == best)
        return alone
    held = [(held, weight) for asked, held, weight in EXPECTED if asked.search(question)]
    scores: Array = NEAR * near + ANY * (near > 0) + np.array([_looks(line[:READ], held) for line in lines])
    scores[best] += BEST
    scores[[at for at in (best - 1, best + 1) if 0 <= at < len(lines)]] += NEXT
    return scores


def standing(rank: int, value: float, best: float) -> float:
    """Return what the lines of a passage promise by its place among others, the first being 0."""
    return PASSAGE / (1 + rank) + WORTH * (value - best)


def _looks(line: str, held: Sequence[tuple[re.Pattern[str], float]]) -> float:
    """Return what a line counts by how it looks, words aside; `held` is what the question expects, with its weights."""
    return (
        sum(weight for pattern, weight in held if pattern.search(line))
        + SHORT * (len(line.strip()) < LEAST)
        + DIGIT * (_DIGIT.search(line) is not None)
        + ASSIGNED * (_ASSIGNED.search(line) is not None)
    )
