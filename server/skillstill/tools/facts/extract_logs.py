"""What a log says as a whole, quoted as an answer: how many entries, from when to when, of which levels.

Of 778 training questions about logs this is a right answer to 11 %, half of them how many there are. The weights of the
chance were learned on these questions by a logistic regression (docs/experiments.md).
"""

import re
from collections.abc import Sequence
from itertools import islice

from skillstill.facts.index import FactIndex
from skillstill.facts.locate.places import Place
from skillstill.facts.locate.question import last_question
from skillstill.tools.facts.extract import ExtractiveAnswer, probability
from skillstill.tools.facts.extract_lines import SECONDS, LinesOf, quote, told_alike

LEVELS = 6
WHOLE = "select entries, first_time, last_time from log_files where path = {path}"
COUNTS = "select level, count(*) from entries where path = {path} and level is not null group by level order by 2 desc"
BIAS, ALIKE, LINES = -2.77, 0.30, 0.89
# What the question is, and what that counts.
ASKED = tuple(
    (re.compile(pattern, re.IGNORECASE), weight)
    for pattern, weight in (
        (r"\bhow (?:many|often)\b|\bnumber of\b|\bcount\b", 1.36),
        (r"\b(?:errors?|warnings?|levels?|entries|lines|severit\w+)\b", 0.59),
        (r"\b(?:file|log|logs|whole|total|altogether|overall|all)\b", 0.32),
        (r"\band\b", -0.84),
        (r"\b(?:why|what)\b", -0.89),
    )
)


def extract_log(
    question: str, index: FactIndex, places: Sequence[Place], lines: ExtractiveAnswer | None, lines_of: LinesOf
) -> ExtractiveAnswer | None:
    """Return the first place and the log that it is in as a whole; None if it is in none.

    `lines` is what the likeliest lines say: the likelier they are right, the likelier this is the log that is meant.
    """
    place = next((each for each in places if each.line and not each.is_column), None)
    whole = told_log(index, place.path) if place else ""
    if not place or not lines or not whole:
        return None
    alike = [*told_alike(place)]
    return ExtractiveAnswer(
        answer="\n".join([quote(place, lines_of(place.path)), *alike, whole]),
        context="",
        places=(f"{place.path}:{place.line}",),
        chance=round(_chance(last_question(question), lines, is_alike=bool(alike)), 3),
        source="the likeliest log as a whole",
    )


def told_log(index: FactIndex, path: str) -> str:
    """Return how many entries a log has, from when to when, and how many of each level; empty if it is no log."""
    at = "'" + path.replace("'", "''") + "'"
    is_read = any(table.name == "log_files" for table in index.tables)
    for entries, first, last in index.ask(WHOLE.format(path=at)).rows if is_read else ():
        times = f", {first[:SECONDS]} to {last[:SECONDS]}" if first else ""
        levels = ", ".join(f"{level} {count}" for level, count in islice(index.ask(COUNTS.format(path=at)).rows, LEVELS))
        return f"{path}: {entries:,} entries{times}{'; ' if levels else ''}{levels}"
    return ""


def _chance(asked: str, lines: ExtractiveAnswer, *, is_alike: bool) -> float:
    logit = BIAS + LINES * lines.chance + ALIKE * is_alike
    return probability(logit + sum(weight for pattern, weight in ASKED if pattern.search(asked)))
