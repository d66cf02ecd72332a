"""What a result may lack: the gaps of files that could have a row in it."""

import os
import re
import sqlite3
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from skillstill.facts.asked import PATH, AskedTable, Condition, asked_tables
from skillstill.facts.reader import ALL_OF, Reader
from skillstill.facts.schema import FILES
from skillstill.facts.table import FactTable
from skillstill.util.storage import open_no_link

# What a query reads of files to see whether their gaps concern it: some ten milliseconds. Other gaps are told unseen.
MOST_FILES, MOST_BYTES = 500, 10_000_000
WITH_GAP = "from _gaps join _files on id = file where reason = ? and fact_table = ? and fact_column = ?"


@dataclass(frozen=True, slots=True)
class Unseen:
    """So many files of which a query could not see everything, and why."""

    reason: str
    files: int


@dataclass(frozen=True, slots=True)
class FileGap:
    """A gap that files have, as they are counted: with the tables that it may lack rows of."""

    reason: str
    table: str
    column: str
    tables: AbstractSet[str]


class GapFinder:
    """Finds the gaps of an index that touch a result."""

    def __init__(
        self, connection: sqlite3.Connection, root: Path, readers: Sequence[Reader], tables: Mapping[str, FactTable]
    ) -> None:
        self._connection, self._root, self._tables = connection, root, tables
        self._of_reader = {f"{ALL_OF}{one.name}": {table.name for table in one.tables} for one in readers}

    def find(self, query: str, reads: AbstractSet[str]) -> Sequence[Unseen]:
        """Return what files lack of the tables that a query read and the columns that it names, the most files first.

        A file that cannot have a row in the result is not among them.
        """
        words = {word.lower() for word in re.findall(r"\w+", query)} | {""}
        asked, texts = asked_tables(query, self._tables), _Texts(self._root)
        gaps = self._connection.execute("select distinct reason, fact_table, fact_column from _gaps").fetchall()
        found = []
        for reason, table, column in gaps:
            gap = FileGap(reason, table, column, self._touched(table))
            if gap.tables & reads and column.lower() in words:
                found.append(Unseen(reason, self._count(gap, asked, texts)))
        return sorted((one for one in found if one.files), key=lambda one: (-one.files, one.reason))

    def _touched(self, table: str) -> AbstractSet[str]:
        return self._of_reader.get(table, {table} if table else {*self._tables} - {FILES.name})

    def _count(self, gap: FileGap, asked: Sequence[AskedTable] | None, texts: "_Texts") -> int:
        """Return how many files with this gap could have a row in the result."""
        touched = [one for one in asked or () if one.table.name in gap.tables or one.table.made_of]
        named = (gap.reason, gap.table, gap.column)
        telling = [[each for each in one.conditions if _tells(each, one.table, gap)] for one in touched]
        if not telling or not all(telling):
            return int(self._connection.execute(f"select count(*) {WITH_GAP}", named).fetchone()[0])
        files = self._connection.execute(f"select path, size {WITH_GAP}", named).fetchall()
        return sum(any(texts.could_meet(path, size, each) for each in telling) for path, size in files)


def _tells(condition: Condition, table: FactTable, gap: FileGap) -> bool:
    """Return whether a file that does not meet the condition has no row in the table, also none that the gap hides.

    A gap of some rows may hide what does not stand in the file, such as a name that a macro makes.
    """
    if condition.column == PATH:
        return not table.made_of
    column = next(one for one in table.columns if one.name == condition.column)
    is_of_rows = gap.table in {table.name, *re.findall(r"\w+", table.made_of)} and not gap.column
    return column.is_verbatim and not is_of_rows and column.name != gap.column


class _Texts:
    """The files that a query looks into, each read once."""

    def __init__(self, root: Path) -> None:
        self._root, self._room = root, MOST_BYTES
        self._texts: dict[str, bytes | None] = {}

    def could_meet(self, path: str, size: int, conditions: Sequence[Condition]) -> bool:
        """Return whether a row of the file could meet all conditions, or nobody can tell."""
        return all(
            one.is_met_by(path.lower().encode("utf-8", "surrogateescape"))
            if one.column == PATH
            else (text := self._text(path, size)) is None or one.is_met_by(text)
            for one in conditions
        )

    def _text(self, path: str, size: int) -> bytes | None:
        """Return a file in small letters; None if it is binary, or cannot be read, or there is no room for it."""
        if path not in self._texts:
            self._room -= size
            is_read = self._room >= 0 and len(self._texts) < MOST_FILES
            self._texts[path] = _read(self._root / path, size) if is_read else None
        return self._texts[path]


def _read(file: Path, size: int) -> bytes | None:
    """Return a file in small letters; None if it is binary or not as it was indexed."""
    try:
        with open(os.fspath(file), "rb", opener=open_no_link) as opened:
            content = opened.read(size + 1)
    except OSError:
        return None
    return None if len(content) != size or b"\0" in content else content.lower()
