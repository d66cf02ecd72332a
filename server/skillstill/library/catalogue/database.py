"""The catalogue's SQLite file: opened, made if there is none, checked, written to in one transaction."""

import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from skillstill.errors import LibraryError
from skillstill.library.catalogue import index

APPLICATION = 0x534B5354  # "SKST": what makes a file ours
VERSION = 1  # of the tables and of what is packed into them
PATIENCE = 30.0  # seconds that one process waits for another to finish writing
TABLES = """
create table definition (
    id integer primary key, source text not null, path text not null, name text not null, kind text not null,
    sha256 text not null, terms integer not null, findings integer not null, packed blob not null, unique (source, path)
);
create index definition_name on definition (name);
create index definition_sha256 on definition (sha256);
create table folder (source text, path text, sha256 text not null, primary key (source, path)) without rowid;
create table state (generation integer not null);
insert into state values (0);
"""


@contextmanager
def reading(file: Path) -> Iterator[sqlite3.Connection]:
    """Return one state of the file, whoever writes meanwhile; an empty catalogue if there is none.

    Raise LibraryError.
    """
    with _raise_plain(file), _readable(file) as connection:
        connection.execute("begin")
        yield connection


@contextmanager
def writing(file: Path) -> Iterator[sqlite3.Connection]:
    """Return a transaction: others see all that is done in it or nothing. Raise LibraryError."""
    with _raise_plain(file):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.touch(mode=0o600)
        with closing(_open(file)) as connection:
            connection.execute("pragma journal_mode = wal")  # readers go on while one writes
            connection.execute("begin immediate")
            if not _make_file(connection):
                _make(connection)
            yield connection
            connection.execute("update state set generation = generation + 1")
            connection.execute("commit")


def generation(connection: sqlite3.Connection) -> int:
    """Return another number after every change."""
    return int(connection.execute("select generation from state").fetchone()[0])


@contextmanager
def in_memory() -> Iterator[sqlite3.Connection]:
    """Return an empty catalogue without a file."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _make(connection)
        yield connection


@contextmanager
def _readable(file: Path) -> Iterator[sqlite3.Connection]:
    if file.exists():
        with closing(_open(file)) as connection:
            if _make_file(connection):
                yield connection
                return
    with in_memory() as connection:  # no file, or its first writer is at work
        yield connection


def _open(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=PATIENCE, isolation_level=None)
    try:
        connection.execute("pragma synchronous = normal")
        _check(connection, file)
    except BaseException:
        connection.close()
        raise
    return connection


def _make_file(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("pragma user_version").fetchone()[0])


def _make(connection: sqlite3.Connection) -> None:
    for statement in f"{TABLES}{index.TABLES}".split(";\n"):
        connection.execute(statement)
    connection.execute(f"pragma application_id = {APPLICATION}")
    connection.execute(f"pragma user_version = {VERSION}")


def _check(connection: sqlite3.Connection, file: Path) -> None:
    (version,) = connection.execute("pragma user_version").fetchone()
    (application,) = connection.execute("pragma application_id").fetchone()
    empty = not connection.execute("select count(*) from sqlite_master").fetchone()[0]
    if not empty and (application, version) != (APPLICATION, VERSION):
        raise LibraryError(f"{file} is of another version of skillstill; {_anew(file)}")


@contextmanager
def _raise_plain(file: Path) -> Iterator[None]:
    """Return what goes wrong with the file, in one sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:  # locked, full, forbidden
        raise LibraryError(f"{file} cannot be used now ({error}); try again when it can") from error
    except sqlite3.DatabaseError as error:
        raise LibraryError(f"{file} is damaged ({error}); {_anew(file)}") from error
    except OSError as error:
        raise LibraryError(f"{file} cannot be opened: {error.strerror}") from error


def _anew(file: Path) -> str:
    return f"type `rm {shlex.quote(str(file))}*` and import your libraries again"
