"""What may be shown for a text, and the tables and columns among it."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillstill.facts.locate.corpus import Column
from skillstill.facts.locate.postings import Array
from skillstill.facts.locate.signals import Search
from skillstill.facts.locate.stems import stems_in

MOST = 225  # columns that are compared
# What a word counts in the name of a column, in that of its table, in its values and in the path of its file.
COLUMN, SAMPLE, TABLE, FILE = 1.0, 0.6, 0.5, 0.4
WHOLE = 0.9  # what a table as a whole keeps beside its columns


@dataclass(frozen=True, slots=True)
class Candidate:
    """Lines of a file that may be shown, and what they are worth.

    line        the first of the passage or the header of the table; 0 of a file without lines
    text        what is shown of a table or column; empty if nothing is known of it
    name        of the definition that it is in, or of the column
    is_column   it is a table or a column, and shown by its text; else by its lines
    """

    file: int
    first: int
    last: int
    value: float
    line: int = 0
    text: str = ""
    name: str = ""
    is_column: bool = False


def column_candidates(search: Search, columns: "ColumnWords", priors: Array, weight: float) -> Iterator[Candidate]:
    """Yield the tables and columns that have words of the text, with what they hold."""
    found = [*columns.scores(search.question.words)]
    best = max((score for _, score in found), default=0.0)
    for at, score in found:
        column = columns.columns[at]
        value = float(priors[column.file]) + weight * score / best
        yield Candidate(
            column.file, column.line, column.line, value, column.line, column.shown, column.full_name, is_column=True
        )


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
        return iter(sorted(found.items(), key=lambda each: -each[1])[:MOST])
