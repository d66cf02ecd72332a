"""What may be shown for a text: spans of files, single lines, entries of logs, tables and their columns."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skillstill.facts.locate.corpus import Column, Entries, NamedLines
from skillstill.facts.locate.lines import LineWords, rank_lines
from skillstill.facts.locate.postings import Array
from skillstill.facts.locate.signals import Search, files_of
from skillstill.facts.locate.spans import Span, best_line, score, spans_of
from skillstill.facts.locate.stems import stems_in

NAMED = 0.2  # what it counts for lines that the text names one of their names
FRAMED = 0.5  # ... or a line
EACH = 15  # lines of a file that may be shown
LITERAL = 4.0  # what an address, a time or an id counts that the text says
# What a word counts in the name of a column, in that of its table, in its values and in the path of its file.
COLUMN, SAMPLE, TABLE, FILE = 1.0, 0.6, 0.5, 0.4
WHOLE = 0.9  # what a table as a whole keeps beside its columns


@dataclass(frozen=True, slots=True)
class Candidate:
    """Lines of a file that may be shown.

    line    the one that is shown; 0 if the file has none
    words   what it is worth by its words, among others of its sort
    named   what it counts that the text names it
    text    what is shown; empty for the line itself
    name    of the definition that it is in, or of the column
    group   what several candidates have in common of which one is enough: the template of an entry; 0 if nothing
    times   how often that is there
    """

    file: int
    line: int
    last: int
    words: float
    named: float = 0.0
    text: str = ""
    name: str = ""
    group: int = 0
    times: int = 1


def span_candidates(search: Search, file: int, lines: LineWords, windows: bool = True) -> Iterator[Candidate]:
    """Yield the definitions of a file, and the windows between them if they are wanted."""
    framed = _framed_lines(search, file)
    for span in spans_of(search.corpus.definitions_in(file), len(lines.lines)):
        if span.definition or windows:
            yield _of_span(search, file, lines, span, [line for line in framed if span.first <= line <= span.last])


def _of_span(search: Search, file: int, lines: LineWords, span: Span, framed: Sequence[int]) -> Candidate:
    named = FRAMED if framed else NAMED * search.naming(span.definition)
    line = framed[0] if framed else best_line(span, lines, search.values)
    name = span.definition.qualified if span.definition else ""
    return Candidate(file, line, max(line, span.last), score(span, lines, search.values), named, name=name)


def _framed_lines(search: Search, file: int) -> Sequence[int]:
    """Return the lines of a file that the text names, the likeliest first."""
    mentions = (*search.question.frames, *search.question.paths)
    return [mention.line for mention in mentions if mention.line and file in files_of(search, mention)]


def line_values(search: Search, texts: Mapping[int, LineWords]) -> Mapping[str, float]:
    """Return what each word tells of a line: what is rare among the lines tells more."""
    found = Counter(word for lines in texts.values() for words in lines.words if words for word in {*words})
    count = sum(len(lines.lines) for lines in texts.values())
    weights = {**search.values, **dict.fromkeys(search.question.literals, LITERAL)}
    return {word: weights[word] * math.log(1 + count / times) for word, times in found.items()}


def line_candidates(search: Search, file: int, lines: LineWords, values: Mapping[str, float]) -> Iterator[Candidate]:
    """Yield the lines of a file with most of the words, of a log one entry for each template."""
    corpus, path = search.corpus, search.paths.stems[file]
    definitions = sorted(corpus.definitions_in(file), key=lambda each: (each.first, -each.last))
    around = [NamedLines(each.first, each.last, each.qualified) for each in definitions]
    ranks = rank_lines(lines, values, corpus.facts_in(file), [*around, *corpus.sections_in(file)], path)
    if entries := corpus.entries_in(file):
        yield from _entries(file, ranks, entries)
        return
    for at in _best(ranks, EACH):
        inside = [each.qualified for each in definitions if each.first <= at + 1 <= each.last]
        yield Candidate(file, at + 1, at + 1, float(ranks[at]), name=inside[-1] if inside else "")


def _best(ranks: Array, count: int) -> Iterator[int]:
    """Yield the positions of the best lines, of like ones the first."""
    for at in np.argsort(-ranks, kind="stable")[:count]:
        if ranks[at] > 0:
            yield int(at)


def _entries(file: int, ranks: Array, entries: Entries) -> Iterator[Candidate]:
    seen: set[int] = set()
    for at in _best(ranks, EACH * EACH):
        entry = int(np.searchsorted(entries.firsts, at + 1, side="right")) - 1
        group = int(entries.templates[entry]) if entry >= 0 and at < entries.lasts[entry] else 0
        if group and group in seen:
            continue
        seen.add(group)
        last = int(entries.lasts[entry]) if group else at + 1
        yield Candidate(file, at + 1, last, float(ranks[at]), group=group, times=entries.times(group) if group else 1)


def column_candidates(search: Search, columns: "ColumnWords") -> Iterator[Candidate]:
    """Yield the tables and columns that have words of the text, with what they hold."""
    for at, words in columns.scores(search.question.words):
        column = columns.columns[at]
        yield Candidate(column.file, column.line, column.line, words, text=column.shown, name=column.full_name)


class ColumnWords:
    """The tables and columns of data files by their words."""

    def __init__(self, columns: Sequence[Column], paths: Sequence[Collection[str]]) -> None:
        self.columns = columns
        self._holders: dict[str, dict[int, float]] = {}
        for at, column in enumerate(columns):
            whole = 1.0 if column.name else WHOLE
            for weight, words in (
                (FILE, paths[column.file]),
                (TABLE if column.name else COLUMN, stems_in(column.table)),
                (SAMPLE, stems_in(column.samples)),
                (COLUMN, stems_in(column.name)),
            ):
                for word in words:
                    held = self._holders.setdefault(word, {})
                    held[at] = max(held.get(at, 0.0), whole * weight)

    def scores(self, words: Mapping[str, float]) -> Iterator[tuple[int, float]]:
        """Yield the positions of the columns that have one of the words, and what they are worth."""
        found: defaultdict[int, float] = defaultdict(float)
        for word, weight in words.items():
            held = self._holders.get(word, {})
            rarity = math.log(1 + len(self.columns) / len(held)) if held else 0.0
            for at, share in held.items():
                found[at] += weight * rarity * share
        return iter(sorted(found.items(), key=lambda each: -each[1])[: EACH * EACH])
