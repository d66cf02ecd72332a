"""The lines of a file that a text means: definitions, and windows where there are none."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillstill.facts.locate.corpus import Definition
from skillstill.facts.locate.lines import LineWords
from skillstill.facts.locate.stems import names_in, stems_of

WINDOW = 30  # lines of a window, and of the first part of a long definition
NAME, OWNER = 4.0, 1.5  # what a word counts in the name of a definition, and in those around it
DAMPING, LENGTH = 1.5, 0.4  # k1 and b
TYPICAL = 60.0  # words of a span of usual length


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file, and the definition that they are of, if any."""

    first: int
    last: int
    definition: Definition | None = None


def spans_of(definitions: Sequence[Definition], lines: int) -> Iterator[Span]:
    """Yield each definition up to the first one inside of it, and windows over the lines of none."""
    covered = 0
    ordered = sorted(definitions, key=lambda each: (each.first, -each.last))
    for at, definition in enumerate(ordered):
        if definition.first > covered + 1:
            yield from _windows(covered + 1, definition.first - 1)
        following = ordered[at + 1].first if at + 1 < len(ordered) else lines + 1
        last = max(definition.first, min(definition.last, following - 1))
        yield Span(definition.first, last, definition)
        covered = max(covered, last)
    yield from _windows(covered + 1, lines)


def _windows(first: int, last: int) -> Iterator[Span]:
    for start in range(first, last + 1, WINDOW):
        yield Span(start, min(last, start + WINDOW - 1))


def score(span: Span, words: LineWords, values: Mapping[str, float]) -> float:
    """Return how much of the wanted words a span has."""
    weights: dict[str, float] = {}
    for line in words.words[span.first - 1 : span.last]:
        for word in line:
            if word not in values:  # a literal
                continue
            weights[word] = weights.get(word, 0.0) + 1.0
    if span.definition:
        owner, _, _ = span.definition.qualified.rpartition(".")
        for text, weight in ((span.definition.name, NAME), (owner, OWNER)):
            for name in names_in(text):
                for stem in stems_of(name):
                    if stem in values:
                        weights[stem] = weights.get(stem, 0.0) + weight
    size = 5 * (span.last - span.first + 1) / TYPICAL
    room = DAMPING * (1 - LENGTH + LENGTH * min(size, 4.0))
    return math.fsum(values[word] * count / (count + room) for word, count in weights.items())


def best_line(span: Span, words: LineWords, values: Mapping[str, float]) -> int:
    """Return the line that a reader wants to see first: that of the definition, or the one with most of the words."""
    if span.definition:
        return span.first

    def told(line: int) -> float:
        return sum(values.get(word, 0.0) for word in {*words.words[line - 1]}) if line <= len(words.words) else 0.0

    return max(range(span.first, max(span.first, span.last) + 1), key=told)
