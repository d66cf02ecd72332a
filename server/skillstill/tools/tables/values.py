"""The values that stand in tables, by their words: which table and column has `Ernst Handel`, and in how many rows."""

import re
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import groupby
from typing import Any, Self

from skillstill.errors import Refusal
from skillstill.facts.locate.stems import stems_in
from skillstill.tools.tables.catalogue import Table, quoted_name
from skillstill.tools.tables.database import Database, Deadline, open_database
from skillstill.tools.tables.joins import TELLING
from skillstill.workspace import Workspace

LONGEST = 60  # characters of a value: a longer one is named by nobody in full
MOST_WORDS = 8  # of a value
SHORTEST = 3  # letters of a word that names a value alone
LOOKED_AT = 100_000  # rows of a table
DISTINCT = 50_000  # values of a column
RARE = 8  # values that have a word by which they may be named alone: `JFK` of `JFK Airport`
COLUMNS = 60  # of a table
LARGEST = 30_000_000  # bytes of a file
TOGETHER = 60_000_000  # bytes of all files: what takes some seconds to read
FEW = 6  # values of a column that are all told
TOLD = 60  # characters of these together
DATED = re.compile(r"\d{4}-\d\d(?!\d)")
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a column, in how many of the rows that were looked at, and its words in lower case."""

    table: Table
    column: str
    value: Any
    rows: int
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """What a column holds: how many values, the least and the greatest, and those that stand in most rows.

    is_whole   the common ones are all that it has
    is_range   they are numbers or days, which are best told by their ends
    is_unique  each stands in one row
    """

    distinct: int = 0
    least: Any = None
    greatest: Any = None
    common: tuple[Any, ...] = ()
    is_whole: bool = False
    is_range: bool = False
    is_unique: bool = False

    @classmethod
    def of(cls, counts: Mapping[Any, int]) -> Self:
        """`counts` are the values and in how many rows each stands."""
        if not counts:
            return cls()
        common = tuple(nlargest(FEW, counts, key=lambda value: counts[value]))
        is_whole = len(counts) <= FEW and sum(len(str(value)) for value in common) <= TOLD
        numbers = all(isinstance(value, int | float) for value in counts)
        dates = not numbers and all(isinstance(value, str) and DATED.match(value) for value in counts)
        return cls(
            distinct=len(counts),
            least=min(counts) if numbers or dates else None,
            greatest=max(counts) if numbers or dates else None,
            common=common,
            is_whole=is_whole,
            is_range=(numbers or dates) and not is_whole,
            is_unique=max(counts.values()) == 1,
        )


@dataclass(slots=True)
class TableValues:
    """The values of some tables by their words.

    Of each table also the columns, the number of rows, and the stems of its name and those of its columns; of a column
    what it holds, and the `table.column` that its foreign key names.
    """

    columns: dict[Table, Sequence[str]] = field(default_factory=dict)
    rows: dict[Table, int] = field(default_factory=dict)
    stems: dict[Table, frozenset[str]] = field(default_factory=dict)
    summaries: dict[tuple[Table, str], ColumnValues] = field(default_factory=dict)
    declared: dict[tuple[Table, str], str] = field(default_factory=dict)
    _by_word: defaultdict[str, list[Value]] = field(default_factory=lambda: defaultdict(list))

    def add(self, database: Database, tables: Sequence[Table]) -> None:
        """Read the values of tables. Raise what sqlite3 raises, and Refusal if it takes too long."""
        for table in tables:
            names = [column.name for column in database.columns[table]]
            if not names:
                continue
            declared = (column for column in database.columns[table] if column.refers)
            self.declared |= {(table, column.name): column.refers for column in declared}
            place = database.places[table]
            ((self.rows[table],),) = database.every(f"SELECT count(*) FROM {place}")  # noqa: S608
            self.columns[table] = names
            self.stems[table] = frozenset(stems_in(" ".join([table.inner, *names])))
            for name in names[:COLUMNS]:
                self._add_column(database, table, name)

    def _add_column(self, database: Database, table: Table, name: str) -> None:
        column, place = quoted_name(name), database.places[table]
        rows = f"(SELECT {column} AS v FROM {place} LIMIT {LOOKED_AT})"  # noqa: S608
        query = f"SELECT v, count(*) FROM {rows} WHERE length(v) <= {LONGEST} GROUP BY v LIMIT {DISTINCT}"  # noqa: S608
        counts: dict[Any, int] = {}
        for value, count in database.every(query):
            counts[value] = count
            words = frozenset() if isinstance(value, bytes) else words_in(str(value))
            if words and len(words) <= MOST_WORDS:
                found = Value(table, name, value, count, words)
                for word in words:
                    self._by_word[word].append(found)
        self.summaries[table, name] = ColumnValues.of(counts)

    def refers_to(self, table: Table, column: str) -> str:
        """Return the `table.column` that a column refers to: as declared, or a column of its name that is a key."""
        if declared := self.declared.get((table, column)):
            return declared
        if not TELLING.search(column) or column == self.columns[table][0]:
            return ""
        for owner, (first, *_) in self.columns.items():
            key = self.summaries.get((owner, first))  # None if there was no time to read it
            if owner != table and first.lower() == column.lower() and key and key.is_unique:
                return f"{owner.name}.{first}"
        return ""

    def named_by(self, words: Collection[str]) -> Iterator[Value]:
        """Yield each value all of whose words are among these, or one of them that few others have."""
        found: dict[int, Value] = {}
        for word in sorted(words):  # so that of two which tell as much the same one comes first
            having = self._by_word.get(word, ())
            is_rare = len(having) <= RARE and len(word) >= SHORTEST and not word.isdigit()
            found |= {id(value): value for value in having if is_rare or value.words.issubset(words)}
        yield from found.values()


def words_in(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.casefold()))


def read_values(workspace: Workspace, tables: Sequence[Table], deadline: Deadline) -> TableValues:
    """Return the values of the tables, of the small files first. What cannot be read in time, or at all, is missing."""
    sizes: Mapping[str, int] = {table.path: workspace.resolve(table.path).stat().st_size for table in tables}
    found, left = TableValues(), TOGETHER
    for path, parts in groupby(sorted(tables, key=lambda table: (sizes[table.path], table.path)), lambda one: one.path):
        left -= sizes[path]
        if sizes[path] > LARGEST or left < 0:
            break
        here = [*parts]
        try:
            with open_database(workspace, here, (), deadline) as database:
                found.add(database, here)
        except (Refusal, sqlite3.Error):
            if deadline.is_over:
                break
    return found
