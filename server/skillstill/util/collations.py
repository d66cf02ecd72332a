"""Orders of texts that a program brings to its own database, such as Anki's `unicase`.

SQLite reads no index, and no table kept in its key's order, if it does not know the order of a column. The usual reason
to bring one is to ignore case in all letters, so an unknown one is taken for that.
"""

import re
import sqlite3
from collections.abc import Iterator

BUILT_IN = {"binary", "nocase", "rtrim"}
MOST = 20  # of a file
LONGEST = 100  # characters of a name; bounds keep the time linear, for the text is not trusted
NAMED = re.compile(
    rf"\bcollate\s{{1,20}}(?:\"([^\"]{{1,{LONGEST}}})\"|'([^']{{1,{LONGEST}}})'|`([^`]{{1,{LONGEST}}})`"
    rf"|\[([^\]]{{1,{LONGEST}}})\]|(\w{{1,{LONGEST}}}))",
    re.IGNORECASE,
)


def add_collations(connection: sqlite3.Connection, schema: str = "main") -> None:
    """Let the connection read columns of an attached file in orders that SQLite does not know. Raise sqlite3.Error."""
    told = connection.execute(f"SELECT cast(sql AS blob) FROM {schema}.sqlite_master WHERE sql LIKE '%collate%'")  # noqa: S608
    texts = [sql.decode("utf-8", "replace") for (sql,) in told.fetchall() if isinstance(sql, bytes)]
    for name in sorted({name for text in texts for name in _names(text)} - BUILT_IN)[:MOST]:
        connection.create_collation(name, _compare)


def _names(sql: str) -> Iterator[str]:
    for found in NAMED.finditer(sql):
        yield next(filter(None, found.groups())).lower()


def _compare(first: str, second: str) -> int:
    one, other = first.casefold(), second.casefold()
    return (one > other) - (one < other)
