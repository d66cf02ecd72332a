"""Rows of a folder as a whole, such as its history: they grow with it, and what was read stays."""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from skillstill.facts.parsing import Batch
from skillstill.facts.reader import ALL_OF, FolderReader, Gap
from skillstill.facts.rows import RowWriter
from skillstill.facts.table import Row
from skillstill.facts.tree import content_hash

NOT_YET = Gap("older ones are not read yet")
UNDER_WAY = b"\0"  # the state of rows that are not all read yet: no hash


class FolderRefreshing:
    """One refresh of the rows of a folder reader."""

    def __init__(
        self, root: Path, connection: sqlite3.Connection, writer: Callable[[], RowWriter], reader: FolderReader
    ) -> None:
        """`writer` is asked for if there is something to write: making one costs time."""
        self._root, self._connection, self._get_writer, self._reader = root, connection, writer, reader

    def run(self, end: float) -> bool:
        """Read what is new until the time `end` of the monotonic clock. Return whether anything was."""
        state = content_hash(self._reader.state(self._root).encode("utf-8", "replace"))
        known = self._connection.execute("select leaf from _files where path = ?", (self._reader.grows,)).fetchone()
        if known and known[0] == state:
            return False
        grows, changes = (self._file(path) for path in (self._reader.grows, self._reader.changes))
        self._writer.forget(changes)
        if {*self._keys()} - {*self._reader.keys(self._root)}:  # another branch: some of the rows are of no use
            self._writer.forget(grows)
        is_whole = self._read(grows, changes, end)
        update = "update _files set leaf = ? where id = ?"
        self._connection.execute(update, (state if is_whole else UNDER_WAY, grows))
        self._connection.commit()
        return True

    def _read(self, grows: int, changes: int, end: float) -> bool:
        """Write the rows. Return whether there was time for all of them."""
        for number, facts in enumerate(self._reader.read_since(self._root, self._keys())):
            self._writer.append(grows if number else changes, [self._batch(facts.rows, facts.gaps)])
            self._connection.commit()
            if time.monotonic() > end:
                self._writer.append(changes, [self._batch({}, (NOT_YET,))])
                return False
        return True

    @property
    def _writer(self) -> RowWriter:
        return self._get_writer()

    def _keys(self) -> Sequence[str]:
        table = self._reader.tables[0]
        query = f'select "{table.columns[0].name}" from "_{table.name}"'  # noqa: S608 - names are the reader's
        return [key for (key,) in self._connection.execute(query)]

    def _file(self, path: str) -> int:
        """Return the number of what stands for the folder among the files. It has no name, and is no file."""
        self._connection.execute("insert or ignore into _files (path, leaf) values (?, ?)", (path, UNDER_WAY))
        (number,) = self._connection.execute("select id from _files where path = ?", (path,)).fetchone()
        return int(number)

    def _batch(self, rows: Mapping[str, Sequence[Row]], gaps: Sequence[Gap]) -> Batch:
        return Batch(rows, [[gap.reason, gap.table or f"{ALL_OF}{self._reader.name}", gap.column] for gap in gaps])
