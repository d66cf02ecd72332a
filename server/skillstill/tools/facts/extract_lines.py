"""What the likeliest lines say, quoted as an answer, and how likely that answers the question. No model reads it.

Of 3,244 training questions about code and logs, the line of the first place with those around it and the lines of the
next two are a right answer to 24 %. The weights of the chance were learned on these questions by a logistic regression
(docs/experiments.md).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from skillstill.facts.locate.expected import EXPECTED
from skillstill.facts.locate.places import Place
from skillstill.facts.locate.question import Question
from skillstill.tools.facts.extract import JOINED, LISTED, WHETHER, ExtractiveAnswer, covered, probability, signs_of
from skillstill.util.text import clean, indented, shorten

QUOTED = 3  # places: with one more, the judges call it a list
ABOVE, BELOW = 1, 2  # lines told around the first
WIDTH = 500  # characters of a line: with 200, 19 % of the questions about logs are answered, with these 22 %
SECONDS = len("2026-03-01 10:00:00")  # of a time
LAST = 4  # the position of the place that the first is compared with
BIAS = -3.88
SCORES, FIRST_WORDS, ALL_WORDS, LENGTH, EXPECTS = 0.18, 1.94, 0.68, 0.42, 0.22
# What the question is, and what that counts: several things are hard to quote, and an absence cannot be quoted.
ASKED = signs_of(
    (r"\bhow (?:many|much|often|long)\b", -0.23),
    (LISTED, -0.45),
    (WHETHER, -0.84),
    (JOINED, -0.17),
    (r"\bwhere\b", 0.73),
)
WEIGHTS = (SCORES, FIRST_WORDS, ALL_WORDS, LENGTH, EXPECTS, *(weight for _, weight in ASKED))
LinesOf = Callable[[str], Sequence[str]]


def extract_lines(question: str, places: Sequence[Place], lines_of: LinesOf) -> ExtractiveAnswer | None:
    """Return what the likeliest lines say; None if no place has lines. `lines_of` reads a file by its path."""
    quoted = [*islice((place for place in places if place.line and not place.is_column), QUOTED)]
    if not quoted:
        return None
    first, *others = [quote(place, lines_of(place.path)) for place in quoted]
    told = [*_around(first, quoted[0].line, lines_of(quoted[0].path))]
    alike = [*told_alike(quoted[0])]
    return ExtractiveAnswer(
        answer="\n".join([first, *alike, *others]),
        context="\n".join([*told, *alike, *others]),
        places=tuple(f"{place.path}:{place.line}" for place in quoted),
        chance=round(_chance(signs(question, places, told, others)), 3),
        source="the likeliest lines by the words of the question",
    )


def signs(question: str, places: Sequence[Place], told: Sequence[str], others: Sequence[str]) -> tuple[float, ...]:
    """Return what the chance is made of, in the order of `WEIGHTS`."""
    words = frozenset(Question.of(question).words)
    last = places[LAST].score if len(places) > LAST else 0.0
    return (
        places[0].score - last,
        covered(words, told),
        covered(words, [*told, *others]),
        math.log1p(len(words)),
        float(any(asked.search(question) for asked, _, _ in EXPECTED)),
        *(float(pattern.search(question) is not None) for pattern, _ in ASKED),
    )


def _chance(signs: Sequence[float]) -> float:
    return probability(BIAS + sum(sign * weight for sign, weight in zip(signs, WEIGHTS, strict=True)))


def _around(quote: str, at: int, lines: Sequence[str]) -> Iterator[str]:
    """Yield the quote of the line `at` between those around it, which are indented."""
    yield from _indented(lines[max(0, at - 1 - ABOVE) : at - 1])
    yield quote
    yield from _indented(lines[at : at + BELOW])


def _indented(lines: Sequence[str]) -> Iterator[str]:
    yield from (indented(line, WIDTH) for line in lines if line.strip())


def told_alike(place: Place) -> Iterator[str]:
    """Yield how many entries of the log are like the one at a place, and of when."""
    alike = place.alike
    if alike.times > 1:
        times = f", {alike.since[:SECONDS]} to {alike.until[:SECONDS]}" if alike.since else ""
        yield f"  {alike.times:,} entries like it{times}"


def quote(place: Place, lines: Sequence[str]) -> str:
    """Return a place with what its line says."""
    return f"{place.path}:{place.line}: {_told(lines[place.line - 1]) if place.line <= len(lines) else place.text}"


def _told(line: str) -> str:
    return shorten(clean(line).strip(), WIDTH)
