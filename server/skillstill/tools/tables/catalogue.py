"""The tables that the files of a workspace hold, and the names under which a query finds them."""

import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from skillstill.errors import Refusal
from skillstill.tools.tables.separators import PERHAPS, find_separator
from skillstill.util.text import clean
from skillstill.workspace import Workspace

DATABASES = (".db", ".sqlite", ".sqlite3", ".db3")
DELIMITED = (".csv", ".tsv")
LOOKED_AT = 16_000  # bytes by which a text of another name shows that it is a table
MAX_LOOKED_AT = 1_000  # such texts of one workspace: a second
HIDDEN = 1  # the kind of a virtual table's columns that `SELECT *` leaves out
MAGIC = b"SQLite format 3\0"
MAX_VIEWS = 50  # that are opened in one go
MAX_SCHEMA = 1_000_000  # characters of one statement of a schema
STEPS = 10_000  # instructions of SQLite between two looks at the clock: less than a millisecond
MAX_DATABASE = 500_000_000  # bytes of an SQLite file: a whole pass over it still fits into the time of a query
# What cannot stand for a name without double quotes.
KEYWORD = re.compile(
    "add|all|alter|and|as|autoincrement|between|case|cast|check|collate|commit|constraint|create|cross|"
    "current_date|current_time|current_timestamp|default|deferrable|delete|distinct|drop|else|escape|except|"
    "exists|foreign|from|full|group|having|in|index|inner|insert|intersect|into|is|isnull|join|left|limit|"
    "natural|not|nothing|notnull|null|on|or|order|outer|primary|raise|references|returning|right|select|set|"
    "table|then|to|transaction|union|unique|update|using|values|when|where",
    re.IGNORECASE,
)

# A text in single quotes, or, as its group, what else has quotes of its own: names and comments. SQLite takes single
# quotes behind FROM and JOIN for those of a name.
_TEXT = r"'(?:[^']|'')*+'"
_OTHERS = r'"(?:[^"]|"")*+"|`[^`]*+`|\[[^]]*+\]|--[^\n]*+|/\*.*?\*/'
QUOTED = re.compile(rf"({_OTHERS}|\b(?:from|join)\s*+{_TEXT})|{_TEXT}", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Table:
    """A table by its name in queries (`name`) and in its file (`inner`). Only tables of SQLite files have `columns`.

    `separator` is what sets its fields apart if that was found in its text, and not told by the name of its file.
    `is_delimited`: it is a text, and no table of an SQLite file.
    """

    name: str
    path: str
    inner: str
    columns: tuple[str, ...] = ()
    separator: str = ""
    is_delimited: bool = True


@dataclass(frozen=True, slots=True)
class TableCatalogue:
    """All tables, by path and name. `remarks` say which files cannot be used, or are being changed."""

    tables: tuple[Table, ...]
    remarks: tuple[str, ...]

    def tables_in(self, query: str) -> list[Table]:
        """Return the tables whose names stand in the query outside of its texts."""
        bare = _without_texts(query)
        return [table for table in self.tables if _has_word(bare, table.name)]

    def with_columns(self, columns: Mapping[Table, tuple[str, ...]]) -> "TableCatalogue":
        """Return the catalogue with the columns of CSV files, too."""
        tables = (replace(table, columns=columns.get(table, table.columns)) for table in self.tables)
        return replace(self, tables=tuple(tables))

    def shared_names_in(self, query: str) -> set[str]:
        """Return the names in the query that tables of several files have."""
        shared = {table.inner for table in self.tables} - {table.name for table in self.tables}
        return {name for name in shared if _has_word(_without_texts(query), name)}


def read_catalogue(workspace: Workspace, files: Iterable[str], check: Callable[[], None]) -> TableCatalogue:
    """Return the tables of these files. `check` is called for each file and may raise."""
    tables: list[Table] = []
    remarks: list[str] = []
    looked_at = begun = 0
    for path in files:
        if path.lower().endswith(PERHAPS) and (looked_at := looked_at + 1) <= MAX_LOOKED_AT:
            check()
            tables += _table_of_text(workspace, path)
        known = path.lower().endswith((*DATABASES, *DELIMITED))
        if not known and ((begun := begun + 1) > MAX_LOOKED_AT or not _is_database(workspace.root / path)):
            continue
        check()
        try:
            tables += _tables_of_file(workspace, path, check)
            remarks += _journal_remarks(workspace, path)
        except Refusal as refusal:
            check()  # whose own refusal is no remark on a file
            remarks.append(str(refusal))
        except (OSError, sqlite3.Error) as error:
            check()
            remarks.append(f"{path} cannot be read: {getattr(error, 'strerror', error)}")
    return TableCatalogue(tuple(_name_uniquely(tables)), tuple(remarks))


def uri(real: Path) -> str:
    """Return the file's address for SQLite: read-only and immutable, so that no file is made beside it."""
    return f"file:{quote(os.fsencode(real))}?mode=ro&immutable=1"


def name_in_query(name: str) -> str:
    """Return the name as a query must write it."""
    plain = re.fullmatch(r"[^\W\d]\w*", name) and not KEYWORD.fullmatch(name)
    return name if plain else quoted_name(name)


def quoted_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def as_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _tables_of_file(workspace: Workspace, path: str, check: Callable[[], None]) -> Iterable[Table]:
    real = workspace.resolve(path)
    if path.lower().endswith(DELIMITED):
        own = _identifier(PurePosixPath(path).stem)
        return [Table(own, path, own)]
    if (size := real.stat().st_size) > MAX_DATABASE:
        raise Refusal(f"{path} has {size:,} bytes, at most {MAX_DATABASE:,} are read")
    if size and not _has_magic(real):
        raise Refusal(f"{path} is not an SQLite file")
    with closing(sqlite3.connect(uri(real), uri=True)) as connection:
        connection.text_factory = as_text
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, MAX_SCHEMA)
        connection.set_progress_handler(check, STEPS)
        return [*_tables_of_database(connection, path, check)]


def _table_of_text(workspace: Workspace, path: str) -> Iterator[Table]:
    """Yield the table that a text plainly is. What cannot be read is none."""
    try:
        head = _read_head(workspace.resolve(path), LOOKED_AT)
    except (OSError, Refusal):
        return
    if b"\0" not in head and (separator := find_separator(as_text(head))):
        own = _identifier(PurePosixPath(path).stem)
        yield Table(own, path, own, separator=separator)


def _tables_of_database(connection: sqlite3.Connection, path: str, check: Callable[[], None]) -> Iterator[Table]:
    if connection.execute("PRAGMA encoding").fetchone()[0] != "UTF-8":
        raise Refusal(f"{path} stores its text as UTF-16: it cannot be queried")
    connection.execute("PRAGMA trusted_schema = OFF")
    schema = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
    names = [name for (name,) in schema if isinstance(name, str)]
    shadows = _shadow_tables(connection)
    for name in names:
        if name.startswith("sqlite_") or name in shadows:
            continue  # SQLite's own, and what an index for full text keeps behind its table
        check()  # views of views take SQLite up to half a second each
        try:
            columns = tuple(row[1] for row in columns_of(connection, "main", name))
        except sqlite3.Error:  # a view of something that is gone
            columns = ()
        yield Table(name, path, name, columns, is_delimited=False)


def _shadow_tables(connection: sqlite3.Connection) -> set[str]:
    """Return the tables in which virtual tables keep their rows; none if there are more than MAX_VIEWS views.

    SQLite opens all views to list the tables, in one go that cannot be interrupted.
    """
    of_schema = "SELECT sum(sql LIKE 'CREATE VIRTUAL %'), sum(type = 'view') FROM sqlite_master"
    virtual, views = connection.execute(of_schema).fetchone()
    if not virtual or views > MAX_VIEWS:
        return set()
    return {row[1] for row in connection.execute("PRAGMA main.table_list") if row[2] == "shadow"}


def columns_of(connection: sqlite3.Connection, place: str, name: str) -> list[tuple[Any, ...]]:
    """Return the rows of `PRAGMA table_info`, computed columns included. Raise what sqlite3 raises."""
    rows = connection.execute(f"PRAGMA {place}.table_xinfo({quoted_name(name)})")
    return [row for row in rows if row[6] != HIDDEN]


def _is_database(file: Path) -> bool:
    """Return whether a file of any name is an SQLite file: programs give theirs names of their own, `.anki2`."""
    try:
        return _has_magic(file)
    except OSError:
        return False


def _has_magic(real: Path) -> bool:
    return _read_head(real, len(MAGIC)) == MAGIC


def _read_head(real: Path, size: int) -> bytes:
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(size)


def _journal_remarks(workspace: Workspace, path: str) -> Iterable[str]:
    for journal in (f"{path}-wal", f"{path}-journal"):
        beside = workspace.root / journal
        if not path.lower().endswith(DELIMITED) and beside.is_file() and beside.stat().st_size:
            yield f"{path} is being changed: what {PurePosixPath(journal).name} holds is not seen"


def _name_uniquely(tables: Sequence[Table]) -> list[Table]:
    """Return the tables with names that differ in any case: a table's own name if no other table has it.

    A table that was found by its text takes no name from the others.
    """
    own = Counter(table.inner.lower() for table in tables)
    told = Counter(table.inner.lower() for table in tables if not table.separator)
    taken = set(own)
    named: dict[Table, str] = {}
    for table in sorted(tables, key=lambda table: bool(table.separator)):
        name = table.inner
        if (own if table.separator else told)[name.lower()] > 1:
            name = _free_name(_identifier(_full_name(table)), taken)
            taken.add(name.lower())
        named[table] = name
    return [replace(table, name=named[table]) for table in tables]


def _full_name(table: Table) -> str:
    return PurePosixPath(table.path).name if table.separator else f"{_qualifier(table)}_{table.inner}"


def _qualifier(table: Table) -> str:
    """Return what tells a table from its namesakes: its file, or its folder if the file is the table."""
    place = PurePosixPath(table.path)
    return place.parent.name or place.suffix[1:] if table.is_delimited else place.stem


def _free_name(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 2
    while name.lower() in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def _identifier(text: str) -> str:
    """Return the text as a name that needs no quotes unless it is a keyword."""
    name = re.sub(r"\W+", "_", clean(text)).strip("_") or "data"
    return f"t_{name}" if re.match(r"\d|sqlite_", name, re.IGNORECASE) else name


def _without_texts(query: str) -> str:
    return QUOTED.sub(lambda match: match[1] or "''", query)


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text.replace('""', '"'), re.IGNORECASE) is not None
