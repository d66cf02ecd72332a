"""The schema of an SQLite file, and what its columns hold, read from a private copy.

Nothing is written to the file, no journal is followed.

The file is not trusted. Only counts and comparisons of stored values run, within limits of time and memory; views are
never opened but for their columns, and computed columns and virtual tables are not looked into. SQLite parses the file
in this process.
"""

import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfileobj
from time import monotonic
from typing import Any, BinaryIO

from skillstill.facts.reader import Gap, Source, Unreadable
from skillstill.facts.readers.data.sheet import DISTINCT, LONGEST_SAMPLE, SAMPLES
from skillstill.util.collations import add_collations

IN_MEMORY = 64_000_000  # bytes of a file that is read without a copy on disk
MAX_FILE = 4_000_000_000
MAX_TABLES = 2_000
SCHEMA_SECONDS = 20.0
VALUE_SECONDS = 60.0  # for what all columns hold
STEPS = 10_000  # instructions of SQLite between two looks at the clock
HEAP = 200_000_000  # bytes that SQLite may hold
HIDDEN, COMPUTED = 1, (2, 3)  # kinds of columns in SQLite's words
JOURNAL_MODES = slice(18, 20)  # bytes of the header; 2 and 2 is a write-ahead log
WRITE_AHEAD, ROLLBACK = b"\2\2", b"\1\1"
FUNCTIONS = {"count", "min", "max", "substr", "typeof", "length"}
PRAGMAS = {"table_list", "table_xinfo", "foreign_key_list", "encoding"}
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 100_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
LATE = Gap("counting values took too long", "data_columns")


@dataclass(frozen=True, slots=True)
class ColumnHold:
    """What a column holds, None if that was not counted. Minimum and maximum are texts, cut."""

    nulls: int | None = None
    distinct: int | None = None
    minimum: str | None = None
    maximum: str | None = None
    samples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SchemaColumn:
    """A column of a table or view. `refers` is the `table.column` of a foreign key."""

    name: str
    type: str
    refers: str = ""
    hold: ColumnHold = ColumnHold()


@dataclass(frozen=True, slots=True)
class SchemaTable:
    """A table or view. `rows` is None if they were not counted."""

    name: str
    kind: str
    rows: int | None
    columns: tuple[SchemaColumn, ...]


def read_database(source: Source) -> Iterator[SchemaTable | Gap]:
    """Yield the tables and views of an SQLite file, and gaps. Raise Unreadable."""
    if source.size > MAX_FILE:
        raise Unreadable(f"larger than {MAX_FILE // 1_000_000} MB")
    header = source.stream.read(100)
    source.stream.seek(0)
    if header[JOURNAL_MODES] == WRITE_AHEAD:
        yield Gap("rows that are only in the write-ahead log (`-wal`) beside the file are not seen")
    try:
        with _connect(source) as connection:
            yield from _Schema(connection).tables()
    except (sqlite3.Error, MemoryError, OverflowError) as error:
        raise Unreadable(f"no readable SQLite file: {_plain(error)}") from error


def _plain(error: Exception) -> str:
    """Return what SQLite says, without the names of the file, so that like files are counted together."""
    return str(error).split(":")[0].split("(")[0].strip()[:60] or "too large"


@contextmanager
def _connect(source: Source) -> Iterator[sqlite3.Connection]:
    if source.size <= IN_MEMORY:
        with closing(sqlite3.connect(":memory:")) as connection:
            data = bytearray(source.stream.read())
            data[JOURNAL_MODES] = ROLLBACK  # a database in memory knows no other
            connection.deserialize(bytes(data))
            del data
            yield _guarded(connection)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "copy"
        _copy(source.stream, path)
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
            yield _guarded(connection)


def _copy(stream: BinaryIO, path: Path) -> None:
    with path.open("wb") as file:
        copyfileobj(stream, file, 1 << 20)
        file.seek(JOURNAL_MODES.start)
        file.write(ROLLBACK)


def _guarded(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Return the connection with its limits set, allowed to do nothing but what this module asks."""
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    for limit, value in LIMITS.items():
        connection.setlimit(limit, value)
    for setup in ("trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY", "mmap_size = 0"):
        connection.execute(f"PRAGMA {setup}").close()
    connection.execute(f"PRAGMA soft_heap_limit = {HEAP}").close()
    add_collations(connection)
    connection.set_authorizer(_authorize)
    return connection


def _authorize(action: int, first: str | None, second: str | None, place: str | None, by: str | None) -> int:
    allowed = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)
    allowed = allowed or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FUNCTIONS)
    allowed = allowed or (action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in PRAGMAS)
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


class _Schema:
    """The tables behind a guarded connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.end = monotonic() + SCHEMA_SECONDS
        self.is_late = False
        connection.set_progress_handler(lambda: monotonic() > self.end, STEPS)

    def tables(self) -> Iterator[SchemaTable | Gap]:
        """Yield all tables and views, and gaps."""
        listed = self._listed()
        if len(listed) > MAX_TABLES:
            yield Gap(f"only the first {MAX_TABLES:,} tables are listed")
        self.end = monotonic() + VALUE_SECONDS
        for name, kind in listed[:MAX_TABLES]:
            try:
                columns = self._columns(name)
            except sqlite3.Error:  # a view of something that is gone, or a module that is not here
                yield Gap(f"a {kind} whose columns cannot be read")
                yield SchemaTable(name, kind, None, ())
                continue
            yield self._counted(name, kind, columns) if kind == "table" else SchemaTable(name, kind, None, columns)
        if self.is_late:
            yield LATE

    def _listed(self) -> list[tuple[str, str]]:
        """Return the names and kinds of tables, views and virtual tables. SQLite's own are left out."""
        query = (
            "SELECT name, type, substr(sql, 1, 20) FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid"
        )
        found = [row for row in self._ask(query) if isinstance(row[0], str) and not row[0].startswith("sqlite_")]
        virtual = {name for name, _, sql in found if str(sql).upper().startswith("CREATE VIRTUAL")}
        shadows = {name for name, _, _ in found for of in virtual if name.startswith(f"{of}_")}
        return [(name, "virtual table" if name in virtual else kind) for name, kind, _ in found if name not in shadows]

    def _columns(self, name: str) -> tuple[SchemaColumn, ...]:
        refers = self._foreign_keys(name)
        rows = [row for row in self._ask(f"PRAGMA table_xinfo({_quoted(name)})") if row[6] != HIDDEN]
        return tuple(
            SchemaColumn(row[1], f"{row[2]} COMPUTED" if row[6] in COMPUTED else row[2], refers.get(row[1].lower(), ""))
            for row in rows
        )

    def _foreign_keys(self, name: str) -> Mapping[str, str]:
        keys = {}
        for _, place, table, own, other, *_ in self._ask(f"PRAGMA foreign_key_list({_quoted(name)})"):
            if own is not None and table is not None:
                keys[own.lower()] = f"{table}.{other or self._primary(table, place)}"
        return keys

    def _primary(self, table: str, place: int) -> str:
        """Return the column of a table's primary key that an unnamed reference means."""
        rows = self._ask(f"PRAGMA table_xinfo({_quoted(table)})")
        return next((row[1] for row in rows if row[5] == place + 1), "rowid")

    def _counted(self, name: str, kind: str, columns: Sequence[SchemaColumn]) -> SchemaTable:
        """Return the table with its rows counted and what its columns hold, as far as the time goes."""
        try:
            ((rows,),) = self._ask(f"SELECT count(*) FROM {_quoted(name)}")  # noqa: S608
        except sqlite3.Error:
            self.is_late = True
            return SchemaTable(name, kind, None, tuple(columns))
        return SchemaTable(name, kind, rows, tuple(self._with_hold(name, column, rows) for column in columns))

    def _with_hold(self, table: str, column: SchemaColumn, rows: int) -> SchemaColumn:
        if self.is_late or column.type.endswith("COMPUTED"):
            return column
        try:
            hold = self._hold(_quoted(table), _quoted(column.name), rows)
        except (sqlite3.Error, MemoryError):
            self.is_late = True
            return column
        return SchemaColumn(column.name, column.type, column.refers, hold)

    def _hold(self, table: str, column: str, rows: int) -> ColumnHold:
        spans = ", ".join(_shown(f"{which}({column})") for which in ("min", "max"))
        ((present, low, high),) = self._ask(f"SELECT count({column}), {spans} FROM {table}")  # noqa: S608
        different = f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL LIMIT {DISTINCT + 1}"  # noqa: S608
        ((distinct,),) = self._ask(f"SELECT count(*) FROM ({different})")  # noqa: S608
        some = f"SELECT {_shown('value')} FROM (SELECT {column} AS value FROM ({different}) LIMIT {SAMPLES})"  # noqa: S608
        samples = tuple(_text(row[0]) or "" for row in self._ask(some))
        return ColumnHold(rows - present, distinct, _text(low), _text(high), samples)

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(query).fetchall()


def _shown(value: str) -> str:
    """Return the SQL that shows a value in a few characters."""
    blob = f"'<' || length({value}) || ' bytes>'"
    return f"CASE typeof({value}) WHEN 'blob' THEN {blob} ELSE substr({value}, 1, {LONGEST_SAMPLE}) END"


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
