"""The door of this room: the tables of a file into SQLite."""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from skillstill.facts.reader import HEAD, Gap, Source, Unreadable
from skillstill.facts.readers.data.delimited import read_delimited
from skillstill.facts.readers.data.formats import format_of
from skillstill.facts.readers.data.forms import Cell
from skillstill.facts.readers.data.json_rows import read_json
from skillstill.facts.readers.data.naming import free_name, identifier
from skillstill.facts.readers.data.parquet import load_parquet
from skillstill.facts.readers.data.sheet import LoadedTable, Sheet, Sink, type_sheet
from skillstill.facts.readers.data.workbook import read_workbook

DECLARED = {"INTEGER": "INTEGER", "BOOLEAN": "INTEGER", "REAL": "REAL", "BLOB": "BLOB"}
SUFFIX = re.compile(r"\.[A-Za-z]\w{0,7}$")
SinkMaker = Callable[[str, str], Sink]  # of a table's name, and the name of its column of places


class TableSink:
    """Rows of one table of an SQLite connection."""

    def __init__(self, connection: sqlite3.Connection, name: str, position: str) -> None:
        self.connection = connection
        self.name = name
        self.position = position
        self.insertion = ""

    def create(self, columns: Sequence[tuple[str, str]]) -> None:
        """Make the table anew, with these columns behind the one of places."""
        declared = [f'"{self.position}" INTEGER', *(f'"{name}" {DECLARED.get(kind, "TEXT")}' for name, kind in columns)]
        self.connection.execute(f'DROP TABLE IF EXISTS "{self.name}"')
        self.connection.execute(f'CREATE TABLE "{self.name}" ({", ".join(declared)})')
        self.insertion = f'INSERT INTO "{self.name}" VALUES ({", ".join("?" * len(declared))})'  # noqa: S608

    def insert(self, places: Sequence[int], columns: Sequence[Sequence[Cell]]) -> None:
        """Add rows."""
        self.connection.executemany(self.insertion, zip(places, *columns, strict=True))


def load_tables(source: Source, connection: sqlite3.Connection) -> Sequence[LoadedTable]:
    """Copy the tables of a file that is no SQLite database into the connection. Raise Unreadable."""
    used = {name.lower() for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    loaded = read_tables(source, lambda name, position: TableSink(connection, name, position), used)
    connection.commit()
    return loaded


def read_tables(source: Source, make_sink: SinkMaker, used: set[str]) -> Sequence[LoadedTable]:
    """Read the tables of a file that is no SQLite database into sinks. Raise Unreadable.

    `used` are names that no table may have. What could not be read is a gap of the first table.
    """
    file_format = format_of(source.name, source.stream.read(HEAD))
    source.stream.seek(0)
    name = identifier(SUFFIX.sub("", PurePosixPath(source.name).name), "data")
    if file_format == "parquet":
        own = free_name(name, used)
        return [load_parquet(source, own, make_sink(own, "_row"))]
    loaded: list[LoadedTable] = []
    gaps: list[Gap] = []
    for sheet in _sheets(source, name, file_format):
        if isinstance(sheet, Gap):
            gaps.append(sheet)
            continue
        own = free_name(sheet.name, {*used, *(table.name.lower() for table in loaded)})
        loaded.append(type_sheet(sheet, own, make_sink(own, sheet.position)))
    if not loaded:
        raise Unreadable(gaps[0].reason if gaps else "empty")
    return [replace(loaded[0], gaps=(*loaded[0].gaps, *gaps)), *loaded[1:]]


def _sheets(source: Source, name: str, file_format: str) -> Iterator[Sheet | Gap]:
    if file_format == "workbook":
        yield from read_workbook(source, name)
    elif file_format == "json":
        yield read_json(source, name)
    elif file_format == "delimited":
        yield read_delimited(source, name)
    else:
        raise Unreadable("no table")
