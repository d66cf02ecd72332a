"""Joins that a query left out: a column that its table lacks, but a table that it refers to has.

Each row refers to at most one row of the other table, so no row is lost and none is counted twice. The query runs as
it was written, behind a WITH that gives its table the missing columns and no others, whose names might mean something
else. Why: see "tables 6: a query that cannot name what is not there" in docs/experiments.md.
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
class LookupJoin:
    """A join of `table` with `owner`, which has the `wanted` column.

    Each row of `table` has in `column` the `key` of at most one row of `owner`.
    """

    table: Table
    column: str
    owner: Table
    key: str
    wanted: str

    @property
    def remark(self) -> str:
        return f"joined {name_in_query(self.owner.name)} by {name_in_query(self.column)}"


def can_be_widened(query: str) -> bool:
    """Return whether a WITH can stand before the query, and one more column changes nothing, as in a natural join."""
    return re.match(r"\s*select\b(?!.*\bnatural\b)", query, re.IGNORECASE | re.DOTALL) is not None


def missing_column(error: Exception) -> str:
    """Return the name of the column that a query's tables lack, or "" if it failed otherwise."""
    match = re.fullmatch(r"no such column: (.+)", str(error))
    return match[1] if match else ""


def find_join(name: str, queried: Sequence[Table], used: Sequence[LookupJoin], database: Database) -> LookupJoin | None:
    """Return the one join that gives the queried tables a column of this name, or None if there is not just one.

    `name` may say which of the queried tables is meant. The database holds them and all that might own the column.
    """
    of, _, column = name.rpartition(".")
    tables = [table for table in queried if not of or table.name.lower() == of.lower()]
    joins = [
        join
        for table in tables
        if not _columns_named(database.columns[table], column)
        for owner in database.columns
        if owner not in queried
        for wanted in _columns_named(database.columns[owner], column)
        for join in _joins_to(table, owner, wanted.name, database)
    ]
    return joins[0] if len(joins) == 1 and joins[0] not in used else None


def widen_query(query: str, joins: Sequence[LookupJoin], database: Database) -> str:
    """Return the query behind a WITH that gives its tables the columns of these joins."""
    tables = dict.fromkeys(join.table for join in joins)
    wide = (_widened_table(table, [join for join in joins if join.table == table], database) for table in tables)
    return f"WITH {', '.join(wide)} {query}"


def limit_to_query(queried: Sequence[Table], joins: Sequence[LookupJoin], database: Database) -> Database:
    """Return the database as the widened query saw it: its tables, and of the others only the joined columns."""
    columns = {table: database.columns[table] for table in queried}
    for join in joins:
        wanted = _columns_named(database.columns[join.owner], join.wanted)
        columns[join.owner] = [*columns.get(join.owner, ()), *wanted]
    return replace(database, columns=columns)


def _widened_table(table: Table, joins: Sequence[LookupJoin], database: Database) -> str:
    name = quoted_name(table.name)
    shown = [f"{name}.*", *(f"{quoted_name(join.owner.name)}.{quoted_name(join.wanted)}" for join in joins)]
    clauses = dict.fromkeys(_join_clause(join, database) for join in joins)
    return f"{name} AS (SELECT {', '.join(shown)} FROM {database.places[table]} AS {name} {' '.join(clauses)})"  # noqa: S608


def _join_clause(join: LookupJoin, database: Database) -> str:
    table, owner = quoted_name(join.table.name), quoted_name(join.owner.name)
    condition = f"{table}.{quoted_name(join.column)} = {owner}.{quoted_name(join.key)}"
    return f"LEFT JOIN {database.places[join.owner]} AS {owner} ON {condition}"


def _joins_to(table: Table, owner: Table, wanted: str, database: Database) -> Iterator[LookupJoin]:
    """Yield the joins by a declared foreign key, by a key of one name, or by `author_id` for the `id` of `author`."""
    if owner.name != owner.inner and owner.path != table.path:
        return  # one of several tables of that name: nobody can tell which is meant
    columns = database.columns[table]
    declared = [
        column
        for column in columns
        if owner.path == table.path and column.refers.partition(".")[0].lower() == owner.inner.lower()
    ]
    for column in declared or [column for column in columns if not column.refers]:
        key = declared_key(column, database.columns[owner]) if declared else named_key(column, owner, database)
        join = key and LookupJoin(table, column.name, owner, key.name, wanted)
        if join and len(declared) <= 1 and _is_unambiguous(join, database):  # of several, no one alone tells the row
            yield join


def declared_key(column: Column, columns: Sequence[Column]) -> Column | None:
    """Return the column that a foreign key names, or the one primary key if it names none."""
    named = column.refers.partition(".")[2]
    keys = _columns_named(columns, named) if named else [candidate for candidate in columns if candidate.is_key]
    return keys[0] if len(keys) == 1 else None


def named_key(column: Column, owner: Table, database: Database) -> Column | None:
    """Return the key that the column refers to by its name, or None."""
    columns = database.columns[owner]
    keys = {candidate.name.lower(): candidate for candidate in columns if candidate.is_key or candidate is columns[0]}
    if re.fullmatch(rf"{re.escape(owner.inner)}_id", column.name, re.IGNORECASE) and "id" in keys:
        return keys["id"]
    tells = TELLING.search(column.name)  # not `id` or `name`: each table has its own
    return keys.get(column.name.lower()) if tells else None


def _is_unambiguous(join: LookupJoin, database: Database) -> bool:
    """Return whether no two rows share the key, nor equal the column both: `7` and `007` do if it is a number."""
    table, owner, key = database.places[join.table], database.places[join.owner], quoted_name(join.key)
    joined = f"{table} AS {quoted_name(join.table.name)} {_join_clause(join, database)}"
    questions = (
        f"SELECT count({key}) = count(DISTINCT {key}) FROM {owner}",  # noqa: S608
        f"SELECT count(*) = (SELECT count(*) FROM {table}) FROM {joined}",  # noqa: S608
    )
    try:
        return all(database.ask(question).rows[0][0] for question in questions)
    except (sqlite3.Error, Refusal):
        return False


def _columns_named(columns: Sequence[Column], name: str) -> list[Column]:
    return [column for column in columns if column.name.lower() == name.lower()]
