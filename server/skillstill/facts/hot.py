"""An index as it is asked: in memory, or in a file of its own without a name if it is too large for that."""

import os
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path

from skillstill.facts.schema import is_created, lookups, statements
from skillstill.facts.table import FactTable

MEMORY = 150_000_000  # bytes of an index that is held in memory
CACHE = -64_000  # kilobytes of a larger one that are


def create_hot(tables: Sequence[FactTable]) -> sqlite3.Connection:
    """Return an empty index. It goes to a temporary file as it outgrows the cache."""
    connection = _connect("")
    for statement in statements(tables):
        connection.execute(statement)
    connection.commit()
    return connection


def load_hot(image: bytes, folder: Path) -> sqlite3.Connection | None:
    """Return the index of a snapshot; None if it is none. A large one takes room in the folder while it is open."""
    if len(image) > MEMORY:
        connection = _load_file(image, folder)
    else:
        connection = _connect(":memory:")
        connection.deserialize(image)
    try:
        if is_created(connection):
            return connection
    except sqlite3.DatabaseError:
        pass
    connection.close()
    return None


def image_of(connection: sqlite3.Connection, tables: Sequence[FactTable]) -> bytes:
    """Return the snapshot of an index: without what makes look-ups fast, and without gaps between its pages."""
    found = connection.execute("select name from sqlite_master where type = 'index' and sql is not null")
    names = [name for (name,) in found.fetchall()]
    for name in names:
        connection.execute(f'drop index "{name}"')
    connection.commit()
    connection.execute("vacuum")
    image = connection.serialize()
    if names:
        warm(connection, tables)
    return image


def warm(connection: sqlite3.Connection, tables: Sequence[FactTable]) -> None:
    """Make look-ups fast, for who asks more than once."""
    for statement in lookups(tables):
        connection.execute(statement)
    connection.commit()


def size_of(connection: sqlite3.Connection) -> int:
    """Return how many bytes an index takes."""
    found = connection.execute("select page_count * page_size from pragma_page_count(), pragma_page_size()")
    return int(found.fetchone()[0])


def _connect(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, check_same_thread=False, uri=True)
    connection.execute(f"pragma cache_size = {CACHE}")
    connection.execute("pragma journal_mode = memory")
    connection.execute("pragma temp_store = memory")
    connection.execute("pragma synchronous = off")  # the store is what survives a crash
    return connection


def _load_file(image: bytes, folder: Path) -> sqlite3.Connection:
    descriptor, name = tempfile.mkstemp(dir=folder, suffix=".hot")
    with os.fdopen(descriptor, "wb") as file:
        file.write(image)
    connection = _connect(name)
    connection.execute("select count(*) from sqlite_master").fetchone()  # it is open now, and may lose its name
    Path(name).unlink()
    return connection
