"""One connection that reads the tables of several files: it writes nothing, and its time and memory are limited.

SQLite looks for an interruption between the rows of a query, not inside one call of a function. So functions whose one
call could take long are denied, and calls that take a part of a second are counted.

What this does not hold back: SQLite parses untrusted files in this process. Views that are nested to its own limit take
it half a second. A file that another process writes meanwhile may be read torn, and its journal is not seen.
"""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from threading import Timer
from time import monotonic
from typing import Any

from anyio import from_thread

from skillstill.errors import Refusal
from skillstill.tools.tables.catalogue import MAX_SCHEMA, STEPS, Table, columns_of, quoted_name, uri
from skillstill.tools.tables.csv_cache import MAX_DELIMITED, CsvCache, load
from skillstill.tools.tables.dates import DateNotation, add_dates
from skillstill.util.collations import add_collations
from skillstill.workspace import Workspace

SECONDS = 5.0  # of the queries of one call
LOADING = 30.0  # seconds for all that comes before them: 50 MB of CSV take some eighteen of a busy core
MAX_FILES = 10  # databases of one query: what SQLite is compiled for
MAX_QUERY = 1_000  # characters
MAX_VALUE = 200_000  # bytes: one call of `instr` or `replace`, which cannot be interrupted, then ends within a second
MAX_TEXT = 2_000  # bytes of a text that leave SQLite: more than any result shows
COUNTED = 1_000  # rows that are counted
WIDEST = 100  # columns of a result, which Python holds row by row
HEAP = 512_000_000  # bytes that SQLite may hold in this process, all calls together
DENIED = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"}
ENDLESS = {"printf", "format", "json_patch"}  # one call works for seconds, on what no limit of length holds back
TRIMS: Mapping[str, Callable[[str, str], str]] = {"trim": str.strip, "ltrim": str.lstrip, "rtrim": str.rstrip}
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
CSV_CACHE = CsvCache()  # of all calls of this process


class Deadline:
    """The time that is left. `check` and `interruptible` are for worker threads, `stop` for the event loop."""

    def __init__(self, seconds: float = LOADING, late: str = "reading the files took too long: use others") -> None:
        self._end = monotonic() + seconds
        self._late = late
        self._connections: list[sqlite3.Connection] = []

    def check(self) -> None:
        """Raise Refusal if no time is left; if the task was cancelled, what says so."""
        from_thread.check_cancelled()
        if self.is_over:
            raise Refusal(self._late)

    @property
    def is_over(self) -> bool:
        return monotonic() > self._end

    @contextmanager
    def interruptible(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Let `stop` interrupt this connection while the context lasts."""
        self._connections.append(connection)
        try:
            yield
        finally:
            self._connections.remove(connection)

    @contextmanager
    def enforced(self, connection: sqlite3.Connection) -> Iterator[None]:
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
    """A column with its declared or inferred type. `refers` is the `table.column` that its foreign key names."""

    name: str
    type: str
    is_key: bool = False
    refers: str = ""


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The columns and first rows of a result, and the number of all rows, counted to COUNTED + 1 at most."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    count: int

    @property
    def is_nothing(self) -> bool:
        """Return whether there is no row, or only a count of nothing."""
        return self.count <= 1 and all(cell in (None, 0) for row in self.rows for cell in row)


@dataclass(slots=True)
class Database:
    """Some tables and their columns, behind one connection.

    `places` are names that a query can use for each table, whatever else has its name. `reads` are the tables and
    columns that were queried, in lower case. `dates` is what `month` and `day` go by.
    """

    connection: sqlite3.Connection
    columns: Mapping[Table, Sequence[Column]]
    places: Mapping[Table, str]
    deadline: Deadline
    dates: DateNotation
    reads: set[tuple[str, str]] = field(default_factory=set)
    slow: int = 0  # calls of slow functions in the present query

    def ask(self, query: str, parameters: Sequence[Any] = (), kept: int = 10) -> QueryRows:
        """Return the rows of one SELECT. Raise what sqlite3 raises, and Refusal if it takes too long or too much."""
        rows: list[tuple[Any, ...]] = []
        count = self.slow = 0
        with _as_refusals(self.deadline), self.deadline.enforced(self.connection):
            cursor = self.connection.execute(query, parameters)
            if len(cursor.description or ()) > WIDEST:
                raise sqlite3.OperationalError("too many columns in result")  # in SQLite's words
            for row in cursor:
                count += 1
                if count <= kept:
                    rows.append(without_bytes(row))
                if count > COUNTED:
                    break
            return QueryRows(tuple(name for name, *_ in cursor.description or ()), tuple(rows), count)

    def every(self, query: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield all rows of a SELECT of our own, however wide. Raise as `ask` does."""
        self.slow = 0
        with _as_refusals(self.deadline), self.deadline.enforced(self.connection):
            yield from self.connection.execute(query, parameters)

    @property
    def names(self) -> dict[Table, tuple[str, ...]]:
        """Return the names of each table's columns."""
        return {table: tuple(column.name for column in columns) for table, columns in self.columns.items()}

    @property
    def read_columns(self) -> list[tuple[Table, str]]:
        """Return the columns that were queried, each with its table."""
        return [
            (table, column)
            for table, columns in self.names.items()
            for column in columns
            if {(table.name.lower(), column.lower()), (table.inner.lower(), column.lower())} & self.reads
        ]

    def keep_reads_in(self, query: str) -> None:
        """Forget the columns that were read but are not named in the query. Their tables stay."""
        words = {word.lower() for word in re.findall(r"\w+", query)}
        self.reads = {(table, column if {*re.findall(r"\w+", column)} <= words else "") for table, column in self.reads}

    def guard(self) -> None:
        """Allow only SELECT from here on, within the limits."""
        set_limits(self.connection, LIMITS)
        self.connection.set_authorizer(self._authorize)
        self.connection.set_progress_handler(self.deadline.check, STEPS)

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
def open_database(
    workspace: Workspace, tables: Sequence[Table], ambiguous: Iterable[str], loading: Deadline
) -> Iterator[Database]:
    """Open a guarded database of these tables, in which ambiguous names fail. Raise Refusal if one cannot be read."""
    with closing(_connect()) as connection, loading.interruptible(connection):
        columns, places = attach_tables(connection, workspace, tables, ambiguous, loading)
        deadline = Deadline(SECONDS, f"the query took longer than {SECONDS:.0f} seconds: join or compare fewer rows")
        dates = add_dates(connection)
        _limit_trims(connection)
        _make_json_tables(connection)
        database = Database(connection, columns, places, deadline, dates)
        database.guard()
        yield database


def without_bytes(row: Sequence[Any]) -> tuple[Any, ...]:
    """Return the row with the size of each blob in its place."""
    return tuple(f"<{len(cell)} bytes>" if isinstance(cell, bytes) else cell for cell in row)


def _make_json_tables(connection: sqlite3.Connection) -> None:
    """Let SQLite make the tables behind `json_each` and `json_tree`, which it does at first use and as if it wrote."""
    for name in ("json_each", "json_tree"):
        connection.execute(f"SELECT 1 FROM {name}('[]')").close()  # noqa: S608


def _limit_trims(connection: sqlite3.Connection) -> None:
    """Replace `trim`, `ltrim` and `rtrim` by functions that look for at most MAX_TRIMMED characters.

    SQLite's own compare each character of the text with each of those, in one call that cannot be interrupted.
    """
    for name, strip in TRIMS.items():
        connection.create_function(name, 2, _limited_trim(strip), deterministic=True)


def _limited_trim(strip: Callable[[str, str], str]) -> Callable[[object, object], str | None]:
    def trim(value: object, characters: object) -> str | None:
        if value is None or characters is None:
            return None
        wanted = _cast_to_text(characters)
        if len(wanted) > MAX_TRIMMED:
            raise ValueError(f"at most {MAX_TRIMMED} characters can be trimmed")
        return strip(_cast_to_text(value), wanted)

    return trim


def _cast_to_text(value: object) -> str:
    """Return the value as SQLite casts it to text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float):
        text = f"{value:.15g}"
        return text if set(text) & set(".en") else f"{text}.0"
    return str(value)


def _connect() -> sqlite3.Connection:
    # Interrupted from other threads, used by one at a time.
    connection = sqlite3.connect("file::memory:", uri=True, isolation_level=None)
    set_limits(connection, SCHEMA_LIMITS)
    return connection


def set_limits(connection: sqlite3.Connection, limits: Mapping[int, int]) -> None:
    for limit, value in limits.items():
        connection.setlimit(limit, value)


def _interrupt(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.ProgrammingError):  # it is closed already
        connection.interrupt()


@contextmanager
def _as_refusals(deadline: Deadline) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError:
        deadline.check()  # its exception in the progress handler has only interrupted SQLite
        raise
    except MemoryError:
        raise Refusal("that needs too much memory: ask for fewer or shorter rows") from None


def attach_tables(
    connection: sqlite3.Connection,
    workspace: Workspace,
    tables: Sequence[Table],
    ambiguous: Iterable[str],
    deadline: Deadline,
) -> tuple[Mapping[Table, Sequence[Column]], Mapping[Table, str]]:
    """Put the tables behind the connection. Return the columns and the full name of each."""
    try:
        with _as_refusals(deadline):
            deadline.check()
            connection.text_factory = _as_text
            connection.set_progress_handler(deadline.check, STEPS)
            for setup in ("trusted_schema = OFF", "temp_store = MEMORY", f"hard_heap_limit = {HEAP}"):
                connection.execute(f"PRAGMA {setup}").close()
            places = _places(connection, workspace, tables, deadline)
            _create_names(connection, places, ambiguous)
            columns = {table: _columns(connection, place, table, deadline) for table, place in places.items()}
            return columns, {table: f"{place}.{quoted_name(_inner(table))}" for table, place in places.items()}
    except sqlite3.Error as error:
        names = ", ".join(table.name for table in tables)
        raise Refusal(f"{names} cannot be read: {error}") from error


def _places(
    connection: sqlite3.Connection, workspace: Workspace, tables: Sequence[Table], deadline: Deadline
) -> dict[Table, str]:
    """Attach what holds the tables; CSV files first, for SQLite looks for a bare name in this order."""
    paths = [*dict.fromkeys(table.path for table in tables if not table.is_delimited)]
    if len(paths) > MAX_FILES:
        raise Refusal(f"these tables are in {len(paths)} SQLite files, at most {MAX_FILES} are read: name fewer tables")
    places = _load_delimited(connection, workspace, tables, MAX_FILES - len(paths), deadline)
    for number, path in enumerate(paths):
        connection.execute(f"ATTACH ? AS file{number}", (uri(workspace.resolve(path)),))
        add_collations(connection, f"file{number}")
    return {table: f"file{paths.index(table.path)}" for table in tables if not table.is_delimited} | places


def _load_delimited(
    connection: sqlite3.Connection, workspace: Workspace, tables: Sequence[Table], room: int, loading: Deadline
) -> dict[Table, str]:
    """Put each CSV file into a database of its own; those for which there is no room share the main one."""
    texts = [table for table in tables if table.is_delimited]
    size = sum(workspace.resolve(table.path).stat().st_size for table in texts)
    if size > MAX_DELIMITED:
        raise Refusal(f"these CSV files have {size:,} bytes, at most {MAX_DELIMITED:,} are read: name fewer tables")
    for number, table in enumerate(texts[:room]):
        connection.execute(f"ATTACH ':memory:' AS text{number}")
        CSV_CACHE.fill(connection, f"text{number}", workspace, table, loading.check)
    for table in texts[room:]:
        load(connection, "main", workspace, table, loading.check)
    return {table: f"text{number}" if number < room else "main" for number, table in enumerate(texts)}


def _create_names(connection: sqlite3.Connection, places: Mapping[Table, str], ambiguous: Iterable[str]) -> None:
    for table, place in places.items():
        if table.name != table.inner and not table.is_delimited:
            body = f"SELECT * FROM {place}.{quoted_name(table.inner)}"  # noqa: S608
            connection.execute(f"CREATE TEMP VIEW {quoted_name(table.name)} AS {body}")
    # A view of itself fails when it is read, before SQLite takes the table of any file.
    for name in {quoted_name(name.lower()) for name in ambiguous}:
        connection.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM temp.{name}")  # noqa: S608


def _columns(connection: sqlite3.Connection, place: str, table: Table, deadline: Deadline) -> list[Column]:
    """Return a table's columns; none if it is a view of what is gone."""
    name = _inner(table)
    foreign = connection.execute(f"PRAGMA {place}.foreign_key_list({quoted_name(name)})")
    refers = {row[3]: f"{row[2]}.{row[4]}" if row[4] else row[2] for row in foreign}
    try:
        own = columns_of(connection, place, name)
    except sqlite3.OperationalError:
        deadline.check()  # its exception in the progress handler has only interrupted SQLite
        return []
    return [Column(row[1], row[2], row[5] > 0, refers.get(row[1], "")) for row in own]


def _inner(table: Table) -> str:
    return table.name if table.is_delimited else table.inner


def _as_text(data: bytes) -> str:
    return data[:MAX_TEXT].decode("utf-8", "replace")
