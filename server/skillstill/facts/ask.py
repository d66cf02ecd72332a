"""Ask an index: one SELECT, bounded in time, rows and memory, whose result says what it could not see."""

import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

from skillstill.errors import Refusal
from skillstill.facts.data_tables import DataTables
from skillstill.facts.excerpts import Excerpts
from skillstill.facts.places import with_places
from skillstill.facts.reader import Reader
from skillstill.facts.refreshing import root_hash
from skillstill.facts.schema import FILES
from skillstill.facts.unseen import GapFinder, Unseen
from skillstill.util.text import one_line

SECONDS = 5.0
DATA_TABLES = "data_tables"  # the table that names the tables of data files
STEPS = 20_000  # of SQLite's machine between two looks at the clock: some milliseconds
KEPT = 50  # rows that are returned
COUNTED = 100_000  # rows that are counted
MAX_QUERY = 2_000  # characters
MAX_VALUE = 200_000  # bytes of a value: one call of a function, which cannot be interrupted, then ends within a second
HEAP = 512_000_000  # bytes that SQLite may hold in this process
WIDEST = 100  # columns of a result
# Functions that neither work nor allocate without bound, and tell nothing of the machine.
FUNCTIONS = frozenset(
    re.findall(
        r"\w+",
        "abs avg ceil ceiling coalesce count cume_dist date datetime dense_rank excerpt first_value floor glob"
        " group_concat ifnull iif instr json_array_length json_each json_extract julianday lag last_value lead length"
        " like lower ltrim max min nth_value ntile nullif percent_rank rank replace round row_number rtrim sign"
        " strftime substr substring sum time total trim typeof unicode unixepoch upper",
    )
)
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_VALUE,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 2 * MAX_QUERY,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 500,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}


PLACE = 3  # columns of a place
Found = tuple[tuple[str, ...], Sequence[tuple[Any, ...]], int]  # columns, first rows, number of rows


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of a file: 1-based, both ends included. (0, 0) is the file as a whole."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class FactRows:
    """The first rows of a result, with the place of each if a row stands for one row of a table.

    count    of all rows, counted to COUNTED + 1 at most
    unseen   why the result may lack something, the most files first
    reads    the tables that were read
    root     the hash of the state that it is true for
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    places: tuple[Place | None, ...]
    count: int
    unseen: tuple[Unseen, ...]
    reads: frozenset[str]
    root: bytes


class FactAsker:
    """Asks an index that nobody refreshes meanwhile."""

    def __init__(self, connection: sqlite3.Connection, root: Path, readers: Sequence[Reader], data: DataTables) -> None:
        tables = (FILES, *(table for reader in readers for table in reader.tables if not table.is_hidden))
        self._connection, self._tables = connection, {table.name: table for table in tables}
        self._gaps = GapFinder(connection, root, readers, self._tables)
        self._excerpts, self._data = Excerpts(root), data
        self._reads: set[str] = set()
        connection.create_function("excerpt", 4, self._excerpts)
        connection.execute("select 1 from json_each('[]')").close()  # made now: making it reads what is not allowed

    def ask(self, query: str, kept: int = KEPT) -> FactRows:
        """Return the rows of one SELECT. Raise Refusal, in words for a model, if it is none, wrong, or too much."""
        if len(query) > MAX_QUERY:
            raise Refusal(f"the query has {len(query):,} characters, at most {MAX_QUERY:,} are read: ask for less")
        try:
            if DATA_TABLES in self._tables:
                self._data.attach(self._connection, query)
            with self._guarded():
                placed = self._placed(query, kept)
                columns, rows, count = placed or self._rows(query, kept)
        except sqlite3.Error as error:
            raise Refusal(self._told(error, query)) from error
        except MemoryError:
            raise Refusal("that needs too much memory: ask for fewer or shorter rows") from None
        own = len(columns) - PLACE if placed else len(columns)
        return FactRows(
            columns=columns[:own],
            rows=tuple(row[:own] for row in rows),
            places=tuple(_place(*row[own:]) if row[own:] else None for row in rows),
            count=count,
            unseen=tuple(self._unseen(query)),
            reads=frozenset(self._reads),
            root=root_hash(self._connection),
        )

    def _placed(self, query: str, kept: int) -> Found | None:
        """Return what the query finds with the place of each row; None if its rows have none."""
        placed = with_places(query)
        if placed is None:
            return None
        try:
            return self._rows(placed, kept)
        except sqlite3.OperationalError:  # its first table is one of its own making: or the query is wrong anyway
            return None

    def _rows(self, query: str, kept: int) -> Found:
        self._reads.clear()
        self._excerpts.close()
        rows: list[tuple[Any, ...]] = []
        count = 0
        with closing(self._connection.execute(query)) as cursor:
            if cursor.description is None:
                raise sqlite3.OperationalError("it is no SELECT")
            columns = tuple(name for name, *_ in cursor.description)
            if len(columns) > WIDEST:
                raise sqlite3.OperationalError("too many columns in result")  # in SQLite's words
            for count, row in enumerate(cursor, 1):
                if count <= kept:
                    rows.append(tuple(f"<{len(cell)} bytes>" if isinstance(cell, bytes) else cell for cell in row))
                if count > COUNTED:
                    break
        return columns, rows, count

    def _unseen(self, query: str) -> Iterator[Unseen]:
        """Yield why the result may lack something: the gaps that touch it, and files that changed or wait."""
        yield from self._gaps.find(query, self._reads)
        (left,) = self._connection.execute("select left from _state").fetchone()
        if left:
            yield Unseen("not read yet", left)
        if changed := self._excerpts.changed:
            yield Unseen("changed since they were read", len(changed))

    def _told(self, error: sqlite3.Error, query: str) -> str:
        """Return what is wrong with a query, with the names that it might have meant."""
        text = str(error)
        if text == "interrupted":
            return f"the query took longer than {SECONDS:.0f} seconds: join or compare fewer rows"
        named = [table for name, table in self._tables.items() if name in {*re.findall(r"\w+", query.lower())}]
        if text.startswith("no such table"):
            text += f"; the tables are {', '.join(self._tables)}"
        elif text.startswith("no such column") and named:
            text += "".join(
                f"; {table.name} has {', '.join(column.name for column in table.columns)}" for table in named
            )
        return one_line(f"the query cannot be run: {text}", 600)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Allow nothing but SELECT over the fact tables, within the limits."""
        connection = self._connection
        end = time.monotonic() + SECONDS
        timer = Timer(SECONDS, _interrupt, (connection,))
        timer.daemon = True
        before = {limit: connection.setlimit(limit, value) for limit, value in LIMITS.items()}
        connection.execute(f"pragma hard_heap_limit = {HEAP}").close()
        connection.set_progress_handler(lambda: time.monotonic() > end, STEPS)
        connection.set_authorizer(self._authorize)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            connection.set_authorizer(None)
            connection.set_progress_handler(None, 0)
            for limit, value in before.items():
                connection.setlimit(limit, value)

    def _authorize(self, action: int, first: str | None, second: str | None, place: str | None, by: str | None) -> int:
        """Allow what a view of ours reads, and remember the view."""
        allowed = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE)
        if action == sqlite3.SQLITE_READ:
            is_internal = (first or "").startswith("sqlite_") or (place == "main" and (first or "").startswith("_"))
            allowed = by in self._tables or not second or not is_internal  # no column: its rows are counted
            self._reads |= {name for name in (by, first) if name in self._tables}
            if place not in ("main", "temp", None):
                self._reads.add(DATA_TABLES)
        elif action == sqlite3.SQLITE_FUNCTION:
            allowed = (second or "").lower() in FUNCTIONS
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _place(path: object, first: object, last: object) -> Place | None:
    """Return the place of a row; None if it is that of no row, as behind a left join."""
    if isinstance(path, str) and isinstance(first, int) and isinstance(last, int):
        return Place(path, first, last)
    return None


def _interrupt(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.ProgrammingError):  # it is closed already
        connection.interrupt()
