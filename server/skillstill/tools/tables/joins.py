"""A column that a table has not, but the one that it refers to has: joined without being asked.

Most questions about a row's status, city or class are such, and a small model writes the condition and forgets the
join. Each row refers to at most one row of the other table, so no row is lost and none is counted twice: the query
means what it says. It runs as it was written, behind a WITH that gives its table the columns which it lacked, and no
others: under their names the query may mean something else.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from skillstill.errors import Refusal
from skillstill.tools.tables.catalogue import Table, name_in_query, quoted_name
from skillstill.tools.tables.database import Column, Database

TELLING = re.compile(r"[^\W_](?:_|(?<=[a-z])(?=[A-Z]))[^\W_]")  # a name of two words or more


@dataclass(frozen=True, slots=True)
class Reference:
    """Each row of `table` has in `column` the `key` of at most one row of `owner`, which has what is `wanted`."""

    table: Table
    column: str
    owner: Table
    key: str
    wanted: str

    @property
    def told(self) -> str:
        return f"joined {name_in_query(self.owner.name)} by {name_in_query(self.column)}"


def joinable(query: str) -> bool:
    """Whether a WITH can stand before it, and one more column changes nothing (a natural join would go by it)."""
    return re.match(r"\s*select\b(?!.*\bnatural\b)", query, re.IGNORECASE | re.DOTALL) is not None


def lacking(error: Exception) -> str:
    """The name of the column that a query's tables do not have; empty where it failed otherwise."""
    found = re.fullmatch(r"no such column: (.+)", str(error))
    return found[1] if found else ""


def reference(name: str, queried: Sequence[Table], known: Sequence[Reference], database: Database) -> Reference | None:
    """The one way from the queried tables to a column of this name, which they lack; None where there is not just one.

    `name` may say which of the queried tables is meant. The database holds them and all that might own the column.
    """
    of, _, column = name.rpartition(".")
    tables = [table for table in queried if not of or table.name.lower() == of.lower()]
    found = [
        one
        for table in tables
        if not _named(database.columns[table], column)
        for owner in database.columns
        if owner not in queried
        for wanted in _named(database.columns[owner], column)
        for one in _references(table, owner, wanted.name, database)
    ]
    return found[0] if len(found) == 1 and found[0] not in known else None


def widened(query: str, references: Sequence[Reference], database: Database) -> str:
    """The query, for tables that have the columns of those that they refer to."""
    tables = dict.fromkeys(one.table for one in references)
    wide = (_wide(table, [one for one in references if one.table == table], database) for table in tables)
    return f"WITH {', '.join(wide)} {query}"


def as_queried(queried: Sequence[Table], references: Sequence[Reference], database: Database) -> Database:
    """The database as the widened query saw it: its tables, and of the others only what was joined."""
    columns = {table: database.columns[table] for table in queried}
    for one in references:
        columns[one.owner] = [*columns.get(one.owner, ()), *_named(database.columns[one.owner], one.wanted)]
    return replace(database, columns=columns)


def _wide(table: Table, references: Sequence[Reference], database: Database) -> str:
    name = quoted_name(table.name)
    shown = [f"{name}.*", *(f"{quoted_name(one.owner.name)}.{quoted_name(one.wanted)}" for one in references)]
    joins = dict.fromkeys(_join(one, database) for one in references)
    return f"{name} AS (SELECT {', '.join(shown)} FROM {database.places[table]} AS {name} {' '.join(joins)})"  # noqa: S608


def _join(one: Reference, database: Database) -> str:
    table, owner = quoted_name(one.table.name), quoted_name(one.owner.name)
    condition = f"{table}.{quoted_name(one.column)} = {owner}.{quoted_name(one.key)}"
    return f"LEFT JOIN {database.places[one.owner]} AS {owner} ON {condition}"


def _references(table: Table, owner: Table, wanted: str, database: Database) -> Iterator[Reference]:
    """By a declared foreign key, by a key of one name, or by `author_id` for the `id` of `author`."""
    if owner.name != owner.inner and owner.path != table.path:
        return  # one of several tables of that name: nobody can tell which is meant
    columns = database.columns[table]
    declared = [column for column in columns if _target(column) == owner.inner.lower() and owner.path == table.path]
    for column in declared or [column for column in columns if not column.refers]:
        key = _declared_key(column, database.columns[owner]) if declared else _key(column, owner, database)
        one = key and Reference(table, column.name, owner, key.name, wanted)
        if one and len(declared) <= 1 and _is_single(one, database):  # of several, no one alone tells the row
            yield one


def _target(column: Column) -> str:
    return column.refers.partition(".")[0].lower()


def _declared_key(column: Column, columns: Sequence[Column]) -> Column | None:
    """What a foreign key names, or else the one primary key."""
    named = column.refers.partition(".")[2]
    keys = _named(columns, named) if named else [one for one in columns if one.is_key]
    return keys[0] if len(keys) == 1 else None


def _key(column: Column, owner: Table, database: Database) -> Column | None:
    """What the column refers to, as it is called."""
    columns = database.columns[owner]
    keys = {one.name.lower(): one for one in columns if one.is_key or one is columns[0]}
    if re.fullmatch(rf"{re.escape(owner.inner)}_id", column.name, re.IGNORECASE) and "id" in keys:
        return keys["id"]
    tells = TELLING.search(column.name)  # not `id` or `name`: each table has its own
    return keys.get(column.name.lower()) if tells else None


def _is_single(one: Reference, database: Database) -> bool:
    """Whether no two rows share the key, nor are the same to the column: `7` and `007` are to a number."""
    table, owner, key = database.places[one.table], database.places[one.owner], quoted_name(one.key)
    joined = f"{table} AS {quoted_name(one.table.name)} {_join(one, database)}"
    questions = (
        f"SELECT count({key}) = count(DISTINCT {key}) FROM {owner}",  # noqa: S608
        f"SELECT count(*) = (SELECT count(*) FROM {table}) FROM {joined}",  # noqa: S608
    )
    try:
        return all(database.ask(question).rows[0][0] for question in questions)
    except (sqlite3.Error, Refusal):
        return False


def _named(columns: Sequence[Column], name: str) -> list[Column]:
    return [column for column in columns if column.name.lower() == name.lower()]
