"""How fact tables lie in SQLite: compactly in tables of their own, and readably in views of the tables' names."""

import sqlite3
from collections.abc import Iterator, Sequence

from skillstill.facts.table import FactColumn, FactTable

LAYOUT = 5  # raised if any of this changes: an index of another layout is another file
FILES = FactTable(
    "files",
    "the files of the workspace",
    (
        FactColumn("name", about="the last part of its path"),
        FactColumn("folder"),
        FactColumn("suffix", about="such as .py"),
        FactColumn("size", "integer", "bytes"),
        FactColumn("is_test", "integer", "1 for a test"),
    ),
)
BASE = """
    create table _state (left integer);
    insert into _state values (0);
    create table _files (
        id integer primary key, path text unique, name text, folder text, suffix text, is_test integer,
        size integer, mtime integer, ctime integer, inode integer, leaf blob
    );
    create table _folders (path text primary key, hash blob) without rowid;
    create table _words (id integer primary key, text text,
        last text generated always as (substr(text, length(rtrim(text, replace(text, '.', ''))) + 1)) virtual);
    create table _gaps (file integer, fact_table text, fact_column text, reason text,
        primary key (file, fact_table, fact_column, reason)) without rowid;
    create view files as select path, 0 as first, 0 as last, name, folder, suffix, size, is_test
        from _files where name is not null
"""


# _state: how many files the last refresh had no time for
# _words.last: what stands behind the last dot: the text without what is left if all but dots is cut off its right
def statements(tables: Sequence[FactTable]) -> Iterator[str]:
    """Yield what makes an empty index."""
    yield from BASE.split(";")
    for table in tables:
        if table.made_of:
            yield f'create view "{table.name}" as {table.made_of}'
            continue
        yield _stored(table)
        if not table.is_hidden:
            yield _view(table)


def lookups(tables: Sequence[FactTable]) -> Iterator[str]:
    """Yield what makes look-ups fast. It is no part of a snapshot: a scan takes some milliseconds, and room counts."""
    yield "create index if not exists _words_text on _words (text)"
    yield "create index if not exists _words_last on _words (last)"
    for table in tables:
        for column in table.indexed:
            yield f'create index if not exists "_{table.name}_{column}" on "_{table.name}" ("{column}")'


def insertion(table: FactTable) -> str:
    """Return the statement that stores a row: file, number, first, last, and the values as they are stored."""
    places = ", ".join("?" for _ in range(4 + len(_fields(table))))
    return f'insert into "_{table.name}" values ({places})'  # noqa: S608 - names are the readers'


def _stored(table: FactTable) -> str:
    """Return the table of what a view shows. A row has `_more` lines behind its first.

    Rows of a file lie together, so that they are deleted without an index of files.
    """
    fields = "".join(f", {field}" for field in _fields(table))
    return (
        f'create table "_{table.name}" (_file integer, _number integer, _first integer, _more integer{fields},'
        " primary key (_file, _number)) without rowid"
    )


def _fields(table: FactTable) -> list[str]:
    fields: list[str] = []
    for column in table.stored:
        if column.type == "excerpt":
            fields += [f'"{column.name}_at" integer', f'"{column.name}_size" integer']
        else:
            fields.append(f'"{column.name}" {"integer" if column.type == "word" else column.type}')
    return fields


def _view(table: FactTable) -> str:
    words = [column.name for column in table.stored if column.type == "word"]
    joins = "".join(f' left join _words as "w_{name}" on "w_{name}".id = stored."{name}"' for name in words)
    columns = "".join(f", {_shown(column)}" for column in table.columns)
    source = f'"_{table.name}" as stored join _files on _files.id = _file{joins}'
    place = "_files.path, _first as first, _first + _more as last"
    return f'create view "{table.name}" as select {place}{columns} from {source}'  # noqa: S608


def _shown(column: FactColumn) -> str:
    if column.of:
        return f'"w_{column.of}".last as "{column.name}"'
    if column.type == "word":
        return f'"w_{column.name}".text as "{column.name}"'
    if column.type == "excerpt":
        text = f'excerpt(_files.path, _files.size, stored."{column.name}_at", stored."{column.name}_size")'
        text = f'coalesce({text}, stored."{column.spare}")' if column.spare else text
        return f'{text} as "{column.name}"'
    return f'stored."{column.name}" as "{column.name}"'


def is_created(connection: sqlite3.Connection) -> bool:
    """Return whether the database holds an index already."""
    return connection.execute("select 1 from sqlite_master where name = '_state'").fetchone() is not None
