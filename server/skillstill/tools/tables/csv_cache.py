"""CSV files as databases in memory. Those that were read last are kept, so that the next call need not parse them."""

import sqlite3
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from skillstill.facts.files import Stamp
from skillstill.tools.tables.catalogue import Table
from skillstill.tools.tables.delimited import load_delimited
from skillstill.workspace import Workspace

MAX_DELIMITED = 50_000_000  # bytes of the CSV files of one call: they are held in memory
MAX_KEPT = 100_000_000  # bytes of all databases that are kept

Content = tuple[Path, Stamp, str, str]  # a file, as it is now, and the name and the separator of its table


class CsvCache:
    """The databases of the CSV files that were read last, as bytes: each holds one table."""

    def __init__(self, most: int = MAX_KEPT) -> None:
        self._most, self._kept = most, OrderedDict[Content, bytes]()
        self._lock = Lock()

    def fill(
        self, connection: sqlite3.Connection, schema: str, workspace: Workspace, table: Table, check: Callable[[], None]
    ) -> None:
        """Put a CSV file's table into an attached, empty database. Raise Refusal if it cannot be read."""
        file = workspace.resolve(table.path)
        stamp = Stamp.of(file.stat())
        content = file, stamp, table.name, table.separator
        with self._lock:
            pages = self._kept.get(content)
            if pages:
                self._kept.move_to_end(content)
        if pages:
            connection.deserialize(pages, name=schema)
            return
        is_settled = stamp.is_settled
        load(connection, schema, workspace, table, check)
        if is_settled:
            self._keep(content, connection.serialize(name=schema))

    def _keep(self, content: Content, pages: bytes) -> None:
        with self._lock:
            self._kept[content] = pages
            while sum(map(len, self._kept.values())) > self._most:
                self._kept.popitem(last=False)


def load(
    connection: sqlite3.Connection, schema: str, workspace: Workspace, table: Table, check: Callable[[], None]
) -> None:
    """Make a table of a CSV file. Raise Refusal if it cannot be read."""
    data = workspace.read(table.path, MAX_DELIMITED, in_any_encoding=True)
    load_delimited(connection, schema, table, data, check)
