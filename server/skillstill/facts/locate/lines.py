"""The lines of a file by the words of a question, and the one of some lines that tells most."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

import numpy as np

from skillstill.facts.locate.postings import Array
from skillstill.facts.locate.stems import NAME, names_in, stems_of

LONGEST = 2_000  # characters of a line that is read: a longer one is data
NEAR, REACH = 0.35, 2  # what a word counts that stands near a line, and how many lines off it may
VALUED = 1.15  # what lines with a value count more
IMPORTED = 0.6  # what is left of a line that only imports
_VALUE = re.compile(r"\d|[\"'`]\S|[=:]\s*\S")
_IMPORT = re.compile(r"\s*(?:import|from|use|using|#include|package|require)\b")


class LineWords:
    """The wanted words of each line of a text; `literals` are such with digits, found as they are."""

    def __init__(self, text: str, wanted: Mapping[str, float], literals: Sequence[str] = ()) -> None:
        self.lines = text.removesuffix("\n").split("\n")
        self._wanted = wanted
        self._known: dict[str, tuple[str, ...]] = {}
        self.words: list[Sequence[str]] = [()] * len(self.lines)
        self._read(text.lower(), literals)

    def _read(self, lowered: str, literals: Sequence[str]) -> None:
        starts = [0, *accumulate(len(line) + 1 for line in lowered.removesuffix("\n").split("\n"))]
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


def count_words(lines: LineWords, order: Mapping[str, int]) -> Array:
    """Return how often each line has each word: a row a word, by its position in `order`, a column a line."""
    counts = np.zeros((len(order), len(lines.lines)))
    pairs = [(order[word], at) for at, words in enumerate(lines.words) if words for word in words if word in order]
    if pairs:
        np.add.at(counts, tuple(np.array(pairs).T), 1.0)
    return counts


def near_words(counts: Array, values: Array, first: int, last: int) -> Array:
    """Return what the words in each line from `first` to `last` and near it tell; 0 of a line without one."""
    own = counts[:, first - 1 : last] > 0
    told: Array = (values @ np.maximum(own, NEAR * _near(own))) * own.any(axis=0)
    return told


def telling_line(lines: Sequence[str], told: Array) -> int:
    """Return the index of the line that tells most by its words; one that only imports tells less."""
    weights = [_weight(line) if score else 0.0 for line, score in zip(lines, told, strict=True)]
    return int(np.argmax(told * weights))


def _weight(line: str) -> float:
    if len(line) > LONGEST:
        return 0.0
    return IMPORTED if _IMPORT.match(line) else VALUED if _VALUE.search(line) else 1.0


def _near(own: Array) -> Array:
    near = np.zeros(own.shape)
    for step in range(1, min(REACH + 1, own.shape[1])):
        near[:, step:] = np.maximum(near[:, step:], own[:, :-step])
        near[:, :-step] = np.maximum(near[:, :-step], own[:, step:])
    return near


def positions(text: str, order: Mapping[str, int]) -> list[int]:
    """Return the positions of the words of a text that are wanted."""
    return sorted({order[stem] for name in names_in(text) for stem in stems_of(name) if stem in order})
