"""What the keys in rows refer to, by name: that the `categoryID` 7 is `Produce`."""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skillstill.errors import Refusal
from skillstill.tools.tables.catalogue import Table, quoted_name
from skillstill.tools.tables.database import Column, Database
from skillstill.tools.tables.joins import declared_key, named_key

Names = Mapping[str, Mapping[Any, str]]  # of the keys in columns
OWNERS = 40  # tables that are looked at
SHARED = 3  # columns
CALLED = re.compile(r"name|title", re.IGNORECASE)
TEXT = re.compile(r"text|char|string", re.IGNORECASE)


def possible_owners(table: Table, columns: Mapping[Table, Sequence[str]]) -> Sequence[Table]:
    """Return the tables that keys of a table may refer to: of its own file, or with one of its columns first.

    A table with more of the same columns holds the same for another year, and nothing that keys refer to.
    """
    own = {column.lower() for column in columns[table]}
    shared = {other: own.intersection(map(str.lower, columns[other])) for other in columns if other != table}
    named = [other for other in shared if columns[other][0].lower() in own and len(shared[other]) < SHARED]
    return [*dict.fromkeys([*(other for other in shared if other.path == table.path), *named])][:OWNERS]


def key_names(database: Database, table: Table, rows: Sequence[Mapping[str, Any]]) -> Names:
    """Return the names of what the keys in some rows of a table refer to."""
    return {
        column.name: dict(_named(database, owner, key, [row[column.name] for row in rows]))
        for column in database.columns[table]
        for owner in database.columns
        if (key := _key(column, table, owner, database))
    }


def _key(column: Column, table: Table, owner: Table, database: Database) -> Column | None:
    """Return the column of another table, or of the same, that a column refers to."""
    if column.refers:
        is_meant = owner.path == table.path and column.refers.partition(".")[0].lower() == owner.inner.lower()
        return declared_key(column, database.columns[owner]) if is_meant else None
    return named_key(column, owner, database) if owner != table else None


def _named(database: Database, owner: Table, key: Column, values: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    """Yield the keys that stand in one row of their table alone, each with how that row is called."""
    others = [column for column in database.columns[owner] if column != key]
    called = [column for column in others if CALLED.search(column.name)]
    names = called or [column for column in others if TEXT.search(column.type)]
    if not names:
        return
    query = f"SELECT {quoted_name(names[0].name)} FROM {database.places[owner]} WHERE {quoted_name(key.name)} = ?"  # noqa: S608
    for value in dict.fromkeys(values):
        try:
            found = database.ask(query, [value])
        except (sqlite3.Error, Refusal):
            return
        if found.count == 1 and found.rows[0][0] is not None:
            yield value, str(found.rows[0][0])
