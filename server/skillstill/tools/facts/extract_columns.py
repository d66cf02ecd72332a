"""What the likeliest tables and columns say of themselves, quoted as an answer: counts of rows, ranges, values.

Of 962 training questions about tables the first three are a right answer to 11 %. The weights of the chance were
learned on these questions by a logistic regression (docs/experiments.md).
"""

import math
import re
from collections.abc import Iterator, Sequence

from skillstill.facts.locate.places import Place
from skillstill.facts.locate.question import Question, last_question
from skillstill.tools.facts.extract import ExtractiveAnswer, covered, probability
from skillstill.tools.kit.redaction import redact

QUOTED = 3
BIAS = -1.73
COVERED, LENGTH = 2.23, -0.76
# What the question is, what the first place has to look like, and what both together count.
WHICH = r"\bwhere\b|\b(?:which|what) (?:file|table|sheet|column|field|database|one)\b|which of the (?:files|tables)"
EXTREME = (
    r"\b(?:latest|last|newest|earliest|first|until|since|oldest|range|from when|highest|lowest|max\w*|min\w*|biggest"
    r"|largest|smallest|most|least)\b"
)
RANGED = r"\b(?:DATE|TIMESTAMP|INTEGER|REAL|DECIMAL)\b"
SIGNS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(told), weight)
    for asked, told, weight in (
        (WHICH, "", 1.18),
        (r"\bhow (?:many|much|often|long)\b", r"^[\d,]+ rows, ", 1.09),
        (EXTREME, RANGED, 0.67),
        (r"\b(?:list|all|every|each)\b", "", -0.65),
        (r"\band\b", "", -0.54),
    )
)


def extract_columns(question: str, places: Sequence[Place]) -> ExtractiveAnswer | None:
    """Return what the likeliest tables and columns say; None if there are none."""
    quoted = [place for place in places if place.is_column][:QUOTED]
    if not quoted:
        return None
    answer = [*_quotes(quoted)]
    return ExtractiveAnswer(
        answer="\n".join(answer),
        context="",
        places=tuple(map(_place, quoted)),
        chance=round(_chance(question, quoted[0], answer), 3),
        source="the likeliest tables and columns by the words of the question",
    )


def _quotes(places: Sequence[Place]) -> Iterator[str]:
    for place in places:
        said = f"{place.name}: {redact(place.text)}"
        yield f"{place.path}:{place.line}: {said}" if place.line else f"{place.path}:{said}"


def _place(place: Place) -> str:
    return f"{place.path}:{place.line or place.name}"


def _chance(question: str, first: Place, answer: Sequence[str]) -> float:
    asked = last_question(question)
    words = frozenset(Question.of(question).words)
    logit = BIAS + COVERED * covered(words, answer) + LENGTH * math.log1p(len(words))
    logit += sum(weight for asks, told, weight in SIGNS if asks.search(asked) and told.search(first.text))
    return probability(logit)
