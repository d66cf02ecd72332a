"""Write what readers found into an index: words become numbers, excerpts two numbers, and all the rest stays."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count, repeat
from operator import sub
from typing import Any

from skillstill.facts.parsing import Batch
from skillstill.facts.schema import insertion
from skillstill.facts.table import FactColumn, FactTable


class WordIds(dict[str | None, int | None]):
    """The numbers of words, new ones stored as they are first asked for.

    All are loaded at once, unless they can be looked up one by one: of a large folder that is half a second.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        index = connection.execute("select 1 from sqlite_master where name = '_words_text'").fetchone()
        super().__init__(() if index else connection.execute("select text, id from _words"))
        self[None] = None
        self._connection, self._is_indexed = connection, index is not None

    def __missing__(self, word: str | None) -> int | None:
        found = self._find(word) if self._is_indexed else None
        insert = "insert into _words (text) values (?)"
        self[word] = found[0] if found else self._connection.execute(insert, (word,)).lastrowid
        return self[word]

    def _find(self, word: str | None) -> tuple[int] | None:
        found: tuple[int] | None = self._connection.execute("select id from _words where text = ?", (word,)).fetchone()
        return found


class RowWriter:
    """Writes the rows of one file after the other."""

    def __init__(self, connection: sqlite3.Connection, tables: Sequence[FactTable]) -> None:
        self._connection = connection
        self._tables = {table.name: table for table in tables if not table.made_of}
        self._insertions = {name: insertion(table) for name, table in self._tables.items()}
        self._words = WordIds(connection)

    def forget(self, file: int) -> None:
        """Remove all rows and gaps of a file."""
        for name in self._tables:
            self._connection.execute(f'delete from "_{name}" where _file = ?', (file,))  # noqa: S608
        self._connection.execute("delete from _gaps where file = ?", (file,))

    def append(self, file: int, batches: Iterable[Batch]) -> None:
        """Add rows to those that a file has."""
        count = 'select coalesce(max(_number) + 1, 0) from "_{}" where _file = ?'
        had = {name: self._connection.execute(count.format(name), (file,)).fetchone()[0] for name in self._tables}
        self.write(file, batches, Counter(had))

    def write(self, file: int, batches: Iterable[Batch], had: Counter[str] | None = None) -> None:
        """Add the rows of a file that `had` so many in each table. A table that no reader announced is left out."""
        written: Counter[str] = had or Counter()
        gaps: set[tuple[str, ...]] = set()
        for batch in batches:
            for name, rows in batch.rows.items():
                if rows and name in self._tables:
                    self._insert(file, self._tables[name], rows, written[name])
                    written[name] += len(rows)
            gaps.update(map(tuple, batch.gaps))
        named = ((file, table, column, reason) for reason, table, column in sorted(gaps))
        self._connection.executemany("insert or ignore into _gaps values (?, ?, ?, ?)", named)

    def _insert(self, file: int, table: FactTable, rows: Sequence[Sequence[Any]], first: int) -> None:
        columns: list[Iterable[Any]] = [*zip(*rows, strict=True)]
        stored: list[Iterable[Any]] = [columns[0], map(sub, columns[1], columns[0])]
        for column, values in zip(table.stored, columns[2:], strict=True):
            stored += self._as_stored(column, values)
        self._connection.executemany(
            self._insertions[table.name], zip(repeat(file), count(first), *stored, strict=False)
        )

    def _as_stored(self, column: FactColumn, values: Iterable[Any]) -> list[Iterable[Any]]:
        """Return the column, or the two columns, that hold these values."""
        if column.type == "word":
            return [map(self._words.__getitem__, values)]
        if column.type == "excerpt":
            pairs = [value or (None, None) for value in values]
            return [[at for at, _ in pairs], [size for _, size in pairs]]
        return [values]
