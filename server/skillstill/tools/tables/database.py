"""One connection to read tables of several files with: nothing is written, nobody waits long, little memory is used.

SQLite looks for an interruption between the rows of a query, not inside one call of a function. The functions whose one
call could take long are denied, and those that take a part of a second are counted.

Not held back: SQLite parses untrusted files in this process, and views that are nested to its own limit take it half a
second; a file that another process writes meanwhile may be read torn, and what a journal beside it holds is not seen.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from threading import Timer
from time import monotonic
from typing import Any

from anyio import from_thread

from skillstill.errors import Refusal
from skillstill.tools.tables.catalogue import MAX_SCHEMA, STEPS, Table, columns_of, quoted_name, uri
from skillstill.tools.tables.dates import add_dates
from skillstill.tools.tables.delimited import Delimited, delimited
from skillstill.tools.tables.trims import add_trims
from skillstill.workspace import Workspace

SECONDS = 5.0  # of the queries of one call
LOADING = 20.0  # seconds for all that comes before them: 50 MB of CSV take about five
MAX_DELIMITED = 50_000_000  # bytes of the CSV files of one call: they are held in memory
MAX_FILES = 10  # SQLite files of one query: what SQLite is compiled for
MAX_QUERY = 1_000  # characters
MAX_VALUE = 200_000  # bytes: one call of `instr` or `replace`, which cannot be interrupted, then ends within a second
MAX_TEXT = 2_000  # bytes of a text that leave SQLite: more than any result shows
COUNTED = 1_000  # rows that are counted
WIDEST = 100  # columns of a result, which Python holds row by row
HEAP = 512_000_000  # bytes that SQLite may hold in this process, all calls together
DENIED = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"}
ENDLESS = {"printf", "format", "json_patch"}  # one call works for seconds, on what no limit of length holds back
SLOW = {"replace", "instr", "like", "glob", "trim", "ltrim", "rtrim"}  # a tenth of a second on the longest values
MAX_SLOW = 40  # calls of these that a query and its views may write: together they end within some seconds
MAX_TRIMMED = 100  # characters that `trim` may look for: with as many as a value may hold, it takes 12 seconds
SCHEMA_LIMITS = {  # of what is read before there is a query: no text of a file's schema is longer, cells may be
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_DELIMITED,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: MAX_SCHEMA,
}
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_VALUE,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 8 * MAX_QUERY,
    sqlite3.SQLITE_LIMIT_COLUMN: 500,  # of a table too: its namesakes are views of all their columns
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}


class Clock:
    """What time is left. `check` and `watching` are for worker threads, `stop` for the event loop."""

    def __init__(self, seconds: float = LOADING, late: str = "reading the files took too long: use others") -> None:
        self._end = monotonic() + seconds
        self._late = late
        self._connections: list[sqlite3.Connection] = []

    def check(self) -> None:
        """Raise Refusal if no time is left; if the task was cancelled, what says so."""
        from_thread.check_cancelled()
        if monotonic() > self._end:
            raise Refusal(self._late)

    @contextmanager
    def watching(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Let `stop` interrupt this connection, too."""
        self._connections.append(connection)
        try:
            yield
        finally:
            self._connections.remove(connection)

    @contextmanager
    def ending(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Interrupt the connection once no time is left. Raise as `check` if none is left already."""
        self.check()
        timer = Timer(self._end - monotonic(), _interrupt, (connection,))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def stop(self) -> None:
        """Interrupt what the connections do now. Their next look at the clock finds the task cancelled."""
        for connection in [*self._connections]:
            _interrupt(connection)


@dataclass(frozen=True, slots=True)
class Column:
    """A column as it was declared, or found out; `refers` is the `table.column` that a foreign key names."""

    name: str
    type: str
    is_key: bool = False
    refers: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The names of a result's columns and its first rows; `count` of all, at most one more than are counted."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    count: int

    @property
    def is_nothing(self) -> bool:
        """Whether there is no row, or one that only counts what is not there."""
        return self.count <= 1 and all(cell in (None, 0) for row in self.rows for cell in row)


@dataclass(slots=True)
class Database:
    """Some tables and their columns.

    `places`: what a query can call each, whatever else has its name. `reads`: tables and columns, in lower case, that
    were queried.
    """

    connection: sqlite3.Connection
    columns: Mapping[Table, Sequence[Column]]
    places: Mapping[Table, str]
    clock: Clock
    reads: set[tuple[str, str]] = field(default_factory=set)
    slow: int = 0  # calls of slow functions in the present query

    def ask(self, query: str, parameters: Sequence[Any] = (), kept: int = 10) -> Answer:
        """The answer to one SELECT. Raises sqlite3's errors, Refusal where it takes too much."""
        rows: list[tuple[Any, ...]] = []
        count = self.slow = 0
        with _bounded(self.clock), self.clock.ending(self.connection):
            cursor = self.connection.execute(query, parameters)
            if len(cursor.description or ()) > WIDEST:
                raise sqlite3.OperationalError("too many columns in result")  # in SQLite's words
            for row in cursor:
                count += 1
                if count <= kept:
                    rows.append(tuple(f"<{len(cell)} bytes>" if isinstance(cell, bytes) else cell for cell in row))
                if count > COUNTED:
                    break
            return Answer(tuple(name for name, *_ in cursor.description or ()), tuple(rows), count)

    @property
    def names(self) -> dict[Table, tuple[str, ...]]:
        """The columns' names."""
        return {table: tuple(column.name for column in columns) for table, columns in self.columns.items()}

    def forget_but(self, query: str) -> None:
        """Of the columns that were read, only those that the query names count from here on; the tables all do."""
        words = {word.lower() for word in re.findall(r"\w+", query)}
        self.reads = {(table, column if {*re.findall(r"\w+", column)} <= words else "") for table, column in self.reads}

    def guard(self) -> None:
        """From here on only SELECT runs, within limits."""
        set_limits(self.connection, LIMITS)
        self.connection.set_authorizer(self._authorize)
        self.connection.set_progress_handler(self.clock.check, STEPS)

    def _authorize(self, action: int, first: str | None, second: str | None, place: str | None, by: str | None) -> int:
        allowed = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE)
        if action == sqlite3.SQLITE_READ and first and not first.lower().startswith("sqlite_"):
            self.reads.add((first.lower(), (second or "").lower()))
            allowed = True
        elif action == sqlite3.SQLITE_FUNCTION:
            allowed = self._is_allowed((second or "").lower())
        elif action == sqlite3.SQLITE_PRAGMA:
            allowed = first == "data_version" and second is None  # asked by SQLite's own full-text tables
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    def _is_allowed(self, function: str) -> bool:
        self.slow += function in SLOW
        return function not in DENIED | ENDLESS and (function not in SLOW or self.slow <= MAX_SLOW)


@contextmanager
def opened(
    workspace: Workspace, tables: Sequence[Table], ambiguous: Iterable[str], loading: Clock
) -> Iterator[Database]:
    """A database of these tables, guarded. A query finds no table under the ambiguous names. Raises Refusal."""
    with closing(_connected()) as connection, loading.watching(connection):
        columns, places = filled(connection, workspace, tables, ambiguous, loading)
        clock = Clock(SECONDS, f"the query took longer than {SECONDS:.0f} seconds: join or compare fewer rows")
        add_dates(connection)
        add_trims(connection, MAX_TRIMMED)
        database = Database(connection, columns, places, clock)
        database.guard()
        yield database


def _connected() -> sqlite3.Connection:
    # Interrupted from other threads, used by one at a time.
    connection = sqlite3.connect("file::memory:", uri=True, isolation_level=None)
    set_limits(connection, SCHEMA_LIMITS)
    return connection


def survey(workspace: Workspace, table: Table, loading: Clock) -> Delimited:
    """What a CSV file holds. Raises Refusal."""
    return delimited(workspace.read(table.path, MAX_DELIMITED), table.path, loading.check)


def set_limits(connection: sqlite3.Connection, limits: Mapping[int, int]) -> None:
    for limit, value in limits.items():
        connection.setlimit(limit, value)


def _interrupt(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.ProgrammingError):  # it is closed already
        connection.interrupt()


@contextmanager
def _bounded(clock: Clock) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError:
        clock.check()  # its exception in the progress handler has only interrupted SQLite
        raise
    except MemoryError:
        raise Refusal("that needs too much memory: ask for fewer or shorter rows") from None


def filled(
    connection: sqlite3.Connection,
    workspace: Workspace,
    tables: Sequence[Table],
    ambiguous: Iterable[str],
    clock: Clock,
) -> tuple[Mapping[Table, Sequence[Column]], Mapping[Table, str]]:
    """Put the tables behind the connection. Return the columns of each, and what it is called there."""
    try:
        with _bounded(clock):
            clock.check()
            connection.text_factory = _as_text
            connection.set_progress_handler(clock.check, STEPS)
            for setting in ("trusted_schema = OFF", "temp_store = MEMORY", f"hard_heap_limit = {HEAP}"):
                connection.execute(f"PRAGMA {setting}").close()
            places = _attached(connection, workspace, tables) | _loaded(connection, workspace, tables, clock)
            _give_names(connection, places, ambiguous)
            columns = {table: _columns(connection, place, table, clock) for table, place in places.items()}
            return columns, {table: f"{place}.{quoted_name(_inner(table))}" for table, place in places.items()}
    except sqlite3.Error as error:
        names = ", ".join(table.name for table in tables)
        raise Refusal(f"{names} cannot be read: {error}") from error


def _attached(connection: sqlite3.Connection, workspace: Workspace, tables: Sequence[Table]) -> dict[Table, str]:
    paths = [*dict.fromkeys(table.path for table in tables if not table.is_delimited)]
    if len(paths) > MAX_FILES:
        raise Refusal(f"these tables are in {len(paths)} SQLite files, at most {MAX_FILES} are read: name fewer tables")
    for number, path in enumerate(paths):
        connection.execute(f"ATTACH ? AS file{number}", (uri(workspace.resolve(path)),))
    return {table: f"file{paths.index(table.path)}" for table in tables if not table.is_delimited}


def _loaded(
    connection: sqlite3.Connection, workspace: Workspace, tables: Sequence[Table], loading: Clock
) -> dict[Table, str]:
    texts = [table for table in tables if table.is_delimited]
    size = sum(workspace.resolve(table.path).stat().st_size for table in texts)
    if size > MAX_DELIMITED:
        raise Refusal(f"these CSV files have {size:,} bytes, at most {MAX_DELIMITED:,} are read: name fewer tables")
    for table in texts:
        _load(connection, table, survey(workspace, table, loading))
    return dict.fromkeys(texts, "main")


def _load(connection: sqlite3.Connection, table: Table, text: Delimited) -> None:
    if not text.names:
        raise Refusal(f"{table.path} is empty: use another table")
    place = f"main.{quoted_name(table.name)}"
    kinds = ", ".join(f"{quoted_name(name)} {kind}" for name, kind in zip(text.names, text.types, strict=True))
    connection.execute(f"CREATE TABLE {place} ({kinds})")
    connection.execute("BEGIN")
    marks = ", ".join("?" * len(text.names))
    connection.executemany(f"INSERT INTO {place} VALUES ({marks})", text.rows())  # noqa: S608
    connection.execute("COMMIT")


def _give_names(connection: sqlite3.Connection, places: Mapping[Table, str], ambiguous: Iterable[str]) -> None:
    for table, place in places.items():
        if table.name != table.inner and not table.is_delimited:
            body = f"SELECT * FROM {place}.{quoted_name(table.inner)}"  # noqa: S608
            connection.execute(f"CREATE TEMP VIEW {quoted_name(table.name)} AS {body}")
    # A view of itself: an error for who reads it, before SQLite takes the table of any file.
    for name in {quoted_name(name.lower()) for name in ambiguous}:
        connection.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM temp.{name}")  # noqa: S608


def _columns(connection: sqlite3.Connection, place: str, table: Table, clock: Clock) -> list[Column]:
    """None where it rests on what is not there, as a view of a table that is gone."""
    name = _inner(table)
    foreign = connection.execute(f"PRAGMA {place}.foreign_key_list({quoted_name(name)})")
    refers = {row[3]: f"{row[2]}.{row[4]}" if row[4] else row[2] for row in foreign}
    try:
        own = columns_of(connection, place, name)
    except sqlite3.OperationalError:
        clock.check()  # its exception in the progress handler has only interrupted SQLite
        return []
    return [Column(row[1], row[2], row[5] > 0, refers.get(row[1], "")) for row in own]


def _inner(table: Table) -> str:
    return table.name if table.is_delimited else table.inner


def _as_text(data: bytes) -> str:
    return data[:MAX_TEXT].decode("utf-8", "replace")
