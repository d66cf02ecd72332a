"""The lines of a file by the words of a question: in the line, around it, and in what it stands in."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

import numpy as np

from skillstill.facts.locate.corpus import NamedFact, NamedLines
from skillstill.facts.locate.postings import Array
from skillstill.facts.locate.stems import NAME, names_in, stems_of

LONGEST = 2_000  # characters of a line that is read: a longer one is data
# What a word counts that stands not in a line but in a fact's name, in what the line stands in, in the path, near it.
FACT, AROUND, PATH, NEAR = 1.3, 0.6, 0.4, 0.35
BEST = 250  # lines of a file that are looked at one by one
REACH = 2  # lines that are near
VALUED, STATED = 1.15, 1.2  # what lines with a value count more, and those of a fact
IMPORTED = 0.6  # what is left of a line that only imports
_VALUE = re.compile(r"\d|[\"'`]\S|[=:]\s*\S")
_IMPORT = re.compile(r"\s*(?:import|from|use|using|#include|package|require)\b")


class LineWords:
    """The wanted words of each line of a text; `literals` are such with digits, found as they are."""

    def __init__(self, text: str, wanted: Mapping[str, float], literals: Sequence[str] = ()) -> None:
        self.lines = text.split("\n")
        self._wanted = wanted
        self._known: dict[str, tuple[str, ...]] = {}
        self.words: list[Sequence[str]] = [()] * len(self.lines)
        self._read(text.lower(), literals)

    def _read(self, lowered: str, literals: Sequence[str]) -> None:
        starts = [0, *accumulate(len(line) + 1 for line in lowered.split("\n"))]
        for line in {at for word in self._wanted for at in _lines_with(word, lowered, starts)}:
            self.words[line] = self._words_of(self.lines[line])
        for literal in literals:
            for line in _lines_with(literal.lower(), lowered, starts):
                if _stands_alone(literal.lower(), self.lines[line].lower()):
                    self.words[line] = [*self.words[line], literal]

    def _words_of(self, line: str) -> list[str]:
        known = self._known
        words: list[str] = []
        for name in NAME.findall(line):
            found = known.get(name)
            if found is None:
                found = known[name] = tuple(stem for stem in stems_of(name) if stem in self._wanted)
            words += found
        return words


def _lines_with(word: str, lowered: str, starts: Sequence[int]) -> Iterator[int]:
    """Yield the lines of a text in small letters in which a word is part of a name."""
    at = lowered.find(word)
    while at >= 0:
        line = bisect_right(starts, at) - 1
        yield line
        at = lowered.find(word, starts[line + 1])


def _stands_alone(literal: str, line: str) -> bool:
    return re.search(rf"(?<![a-z0-9]){re.escape(literal)}(?![a-z0-9])", line) is not None


def rank_lines(
    lines: LineWords,
    values: Mapping[str, float],
    facts: Sequence[NamedFact],
    contexts: Sequence[NamedLines],
    path: frozenset[str],
) -> Array:
    """Return the score of each line of a file; 0 if it has none of the words and is no fact of such a name."""
    order = {word: at for at, word in enumerate(values)}
    own = _own(lines, order)
    best = np.maximum(own, NEAR * _near(own))
    counts = own.any(axis=0).astype(float)
    for context in contexts:
        if found := _positions(context.text, order):
            _lift(best, found, slice(context.first - 1, context.last), AROUND)
    for fact in facts:
        if fact.first <= len(lines.lines) and (found := _positions(fact.name, order)):
            _lift(best, found, slice(max(0, fact.first - 1), fact.first), FACT)
            counts[fact.first - 1] = STATED
    if found := [order[word] for word in path if word in order]:
        _lift(best, found, slice(None), PATH)
    return _weighed(lines, np.array([*values.values()]) @ best * counts)


def _own(lines: LineWords, order: Mapping[str, int]) -> Array:
    pairs = [(order[word], at) for at, words in enumerate(lines.words) if words for word in words if word in order]
    own = np.zeros((len(order), len(lines.lines)))
    if pairs:
        rows, columns = np.array(pairs).T
        own[rows, columns] = 1.0
    return own


def _lift(best: Array, words: Sequence[int], part: slice, least: float) -> None:
    for word in words:
        np.maximum(best[word, part], least, out=best[word, part])


def _near(own: Array) -> Array:
    near = np.zeros_like(own)
    for step in range(1, REACH + 1):
        near[:, step:] = np.maximum(near[:, step:], own[:, :-step])
        near[:, :-step] = np.maximum(near[:, :-step], own[:, step:])
    return near


def _weighed(lines: LineWords, scores: Array) -> Array:
    """Return the scores of the best lines, less of those that only import, more of those that hold a value."""
    weighed = np.zeros(len(scores))
    for at in np.argsort(-scores, kind="stable")[:BEST]:
        line = lines.lines[at]
        if scores[at] > 0 and len(line) <= LONGEST:
            weighed[at] = scores[at] * (IMPORTED if _IMPORT.match(line) else VALUED if _VALUE.search(line) else 1.0)
    return weighed


def _positions(text: str, order: Mapping[str, int]) -> list[int]:
    return sorted({order[stem] for name in names_in(text) for stem in stems_of(name) if stem in order})
