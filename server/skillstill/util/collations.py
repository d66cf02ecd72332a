"""Orders of texts that a program brings to its own database, such as Anki's `unicase`.

SQLite reads no index, and no table kept in its key's order, if it does not know the order of a column. The usual reason
to bring one is to ignore case in all letters, so an unknown one is taken for that.
"""

import re
import sqlite3
from collections.abc import Iterator

BUILT_IN = {"binary", "nocase", "rtrim"}
MOST = 20  # of a file
NAMED = re.compile(r"\bcollate\s+(?:\"([^\"]+)\"|'([^']+)'|`([^`]+)`|\[([^\]]+)\]|(\w+))", re.IGNORECASE)


def add_collations(connection: sqlite3.Connection, schema: str = "main") -> None:
    """Let the connection read columns of an attached file in orders that SQLite does not know. Raise sqlite3.Error."""
    told = connection.execute(f"SELECT sql FROM {schema}.sqlite_master WHERE sql LIKE '%collate%'")  # noqa: S608
    names = {name for (sql,) in told if isinstance(sql, str) for name in _names(sql)}
    for name in sorted(names - BUILT_IN)[:MOST]:
        connection.create_collation(name, _compare)


def _names(sql: str) -> Iterator[str]:
    for found in NAMED.finditer(sql):
        yield next(filter(None, found.groups())).lower()


def _compare(first: str, second: str) -> int:
    one, other = first.casefold(), second.casefold()
    return (one > other) - (one < other)
