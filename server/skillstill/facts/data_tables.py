"""The rows of data files, behind the connection of an index: each table under its own name, once a query names it.

A database is attached as it is, read-only. Another file is copied into one by a worker process, once for its content.
A name that several files have, or a table of facts, is written with the path: `"sales/2024.csv/orders"`.
"""

import re
import sqlite3
import tempfile
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from skillstill.errors import Refusal
from skillstill.facts.home import copy_file, mark_used
from skillstill.facts.reading import FileReaders
from skillstill.util.collations import add_collations

MOST = 8  # files that are attached at once: SQLite is compiled for ten
POSITIONS = ("_line", "_row")  # the first column of a copied table: where a row lies in its file
MAGIC = b"SQLite format 3\0"
TABLES = """
    select _files.path, _files.leaf, _files.size, names.text from _data_tables
    join _files on _files.id = _file join _words as names on names.id = table_name
"""


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table of a data file of so many bytes, whose content has the hash `leaf`."""

    path: str
    leaf: bytes
    size: int
    name: str

    @property
    def full_name(self) -> str:
        return f"{self.path}/{self.name}"


class DataTables:
    """The data files of one workspace. `taken` are names that tables of facts have."""

    def __init__(self, root: Path, readers: FileReaders, home: Path | None, taken: Collection[str]) -> None:
        self._root, self._readers, self._taken = root, readers, {name.lower() for name in taken}
        self._home = home
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._attached: OrderedDict[bytes, str] = OrderedDict()
        self.names: set[str] = set()  # of the views that there are

    def attach(self, connection: sqlite3.Connection, query: str) -> None:
        """Make the tables that a query names known by these names. Raise Refusal if one is not to be had."""
        for name, table in self._named(connection, query):
            schema = self._schema(connection, table)
            connection.execute(f"drop view if exists temp.{_quoted(name)}")
            connection.execute(f"create temp view {_quoted(name)} as {_selection(connection, schema, table)}")
            self.names.add(name)

    def close(self) -> None:
        """Remove what was copied, unless it is kept."""
        if self._scratch:
            self._scratch.cleanup()

    def _named(self, connection: sqlite3.Connection, query: str) -> Iterator[tuple[str, DataTable]]:
        words = {word.lower() for word in re.findall(r"\w+", query)}
        by_name: defaultdict[str, list[DataTable]] = defaultdict(list)
        for row in connection.execute(TABLES).fetchall():  # while a table is attached, no query may be open
            table = DataTable(*row)
            if f'"{table.full_name}"' in query:
                yield table.full_name, table
            elif {*re.findall(r"\w+", table.name.lower())} <= words:
                by_name[table.name.lower()].append(table)
        yield from self._unambiguous(by_name, query)

    def _unambiguous(self, by_name: Mapping[str, Sequence[DataTable]], query: str) -> Iterator[tuple[str, DataTable]]:
        for name, tables in by_name.items():
            if name in self._taken or not re.search(rf"\b(?:from|join)\b.*{re.escape(name)}", query.lower(), re.DOTALL):
                continue
            if len(tables) > 1:
                named = ", ".join(f'"{one.full_name}"' for one in tables[:3])
                raise Refusal(f"{len(tables)} files have a table {tables[0].name}: write {named}")
            yield tables[0].name, tables[0]

    def _schema(self, connection: sqlite3.Connection, table: DataTable) -> str:
        """Return the name under which the file is attached."""
        if table.leaf not in self._attached:
            used = {*self._attached.values()}
            schema = next((name for name in _SCHEMAS if name not in used), "") or self._make_room(connection)
            connection.execute(f"attach ? as {schema}", (_address(self._database(table)),))
            self._attached[table.leaf] = schema
            add_collations(connection, schema)
        self._attached.move_to_end(table.leaf)
        return self._attached[table.leaf]

    def _make_room(self, connection: sqlite3.Connection) -> str:
        """Detach the file that was not asked for longest, with all views, which are made anew when they are named."""
        for name in self.names:
            connection.execute(f"drop view if exists temp.{_quoted(name)}")
        self.names.clear()
        _, schema = self._attached.popitem(last=False)
        connection.execute(f"detach {schema}")
        return schema

    def _database(self, table: DataTable) -> Path:
        """Return the database that holds the tables of a file: itself, or a copy."""
        file = self._root / table.path
        with suppress(OSError), file.open("rb") as opened:
            if opened.read(len(MAGIC)) == MAGIC:
                return file
        copy = copy_file(self._home or self._temporary(), self._readers.key_of(table.leaf))
        if copy.exists():
            mark_used(copy)
        else:
            self._copy(table, copy)
        return copy

    def _copy(self, table: DataTable, into: Path) -> None:
        part = into.with_suffix(".part")
        part.unlink(missing_ok=True)
        if problems := self._readers.copy(self._root / table.path, table.size, part):
            part.unlink(missing_ok=True)
            raise Refusal(f"{table.path} cannot be read: {problems[0]}")
        part.replace(into)

    def _temporary(self) -> Path:
        if self._scratch is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="skillstill-data-")
        return Path(self._scratch.name)


_SCHEMAS = [f"data{number}" for number in range(MOST)]


def _selection(connection: sqlite3.Connection, schema: str, table: DataTable) -> str:
    """Return the SELECT of a view. It adds the place of a row, unless the table has columns of these names."""
    source = f"{schema}.{_quoted(table.name)}"
    columns = [name for _, name, *_ in connection.execute(f"pragma {schema}.table_info({_quoted(table.name)})")]
    if not columns:
        raise Refusal(f"{table.path} changed and has no table {table.name} now: ask again")
    if {"path", "first", "last"} & {name.lower() for name in columns}:
        return f"select * from {source}"  # noqa: S608 - names are quoted
    line = columns[0] if columns[0] == POSITIONS[0] else "0"
    path = table.path.replace("'", "''")
    return f"select *, '{path}' as path, {line} as first, {line} as last from {source}"  # noqa: S608


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _address(file: Path) -> str:
    """Return a file's address for SQLite: nothing is written, not even beside it."""
    return f"file:{quote(str(file))}?mode=ro&immutable=1"
