"""The tables of a workspace, read once from its files and without the tools: goals are computed from them."""

import csv
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from skillstill_training.authoring import BuiltWorkspace
from skillstill_training.authoring.reading import add_dates, name_in_query

Cell = Any  # of a row: a number, a text, or None
Row = Mapping[str, Cell]
MAX_CATEGORIES = 8  # values of a column: `describe` shows all of that many
DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d %b %Y")


@dataclass(frozen=True)
class SchemaColumn:
    """A column. `kind`: key, refers, label, text, category, measure, year or date. `unused`: plausible other values."""

    name: str
    kind: str
    said: str
    cells: Sequence[Cell]
    refers: tuple[str, str] | None = None
    unused: tuple[str, ...] = ()

    @property
    def sql(self) -> str:
        return name_in_query(self.name)

    @cached_property
    def counts(self) -> Counter[Cell]:
        return Counter(cell for cell in self.cells if cell is not None)

    @cached_property
    def is_full(self) -> bool:
        """Return whether no cell is empty, so that it does not matter whether empty ones count."""
        return None not in self.cells

    @cached_property
    def form(self) -> str:
        """Return the format of its dates; empty if they have none in common."""
        return next((form for form in DATES if all(_parses(cell, form) for cell in self.counts)), "")

    def day(self, cell: str) -> date:
        return datetime.strptime(cell, self.form).date()


@dataclass(frozen=True)
class SchemaTable:
    """A table. Its rows are called `one` and `many`; `lacks` lists plausible columns that no table has."""

    name: str
    one: str
    many: str
    columns: Mapping[str, SchemaColumn]
    rows: Sequence[Row]
    key: SchemaColumn | None = None
    label: SchemaColumn | None = None
    lacks: tuple[str, ...] = ()

    @property
    def sql(self) -> str:
        return name_in_query(self.name)

    def of(self, *kinds: str) -> Sequence[SchemaColumn]:
        return [column for column in self.columns.values() if column.kind in kinds]

    @property
    def categories(self) -> Sequence[SchemaColumn]:
        return [one for one in self.of("category") if one.is_full and 2 <= len(one.counts) <= MAX_CATEGORIES]

    @property
    def measures(self) -> Sequence[SchemaColumn]:
        return [one for one in self.of("measure") if one.is_full]

    @property
    def dates(self) -> Sequence[SchemaColumn]:
        return [one for one in self.of("date") if one.is_full and one.form]

    @property
    def names(self) -> Sequence[SchemaColumn]:
        """Return the column of names, if every row has a different one."""
        return [self.label] if self.label and self.label.is_full and max(self.label.counts.values()) == 1 else []


class Link(NamedTuple):
    """A table, its column that refers to another table, and that table."""

    child: SchemaTable
    column: SchemaColumn
    parent: SchemaTable


@dataclass(frozen=True)
class Schema:
    tables: Mapping[str, SchemaTable]
    texts: frozenset[str] = field(repr=False)  # all stored texts, in lower case
    connection: sqlite3.Connection = field(repr=False)

    @classmethod
    def of(cls, built: BuiltWorkspace) -> "Schema":
        return _read(built.root, json.dumps(built.notes["tables"]))

    def ask(self, query: str) -> list[tuple[Cell, ...]]:
        """Return the rows of a query in SQLite, with the types of the files."""
        return self.connection.execute(query).fetchall()

    def contains(self, text: str) -> bool:
        """Return whether any cell is that text, in any case."""
        return text.lower() in self.texts

    def links(self) -> Sequence[Link]:
        return [
            Link(child, column, self.tables[column.refers[0]])
            for child in self.tables.values()
            for column in child.of("refers")
            if column.refers and column.is_full
        ]


@lru_cache(maxsize=64)
def _read(root: Path, noted: str) -> Schema:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    add_dates(connection)
    notes: dict[str, Any] = json.loads(noted)
    tables = {name: _table(name, note, _rows(root / note["path"], name), connection) for name, note in notes.items()}
    texts = {cell.lower() for table in tables.values() for row in table.rows for cell in row.values() if _is_text(cell)}
    return Schema(tables, frozenset(texts), connection)


def _table(name: str, note: Mapping[str, Any], rows: Sequence[Row], connection: sqlite3.Connection) -> SchemaTable:
    columns = {
        column: SchemaColumn(
            name=column,
            kind=about["kind"],
            said=about["said"],
            cells=[row[column] for row in rows],
            refers=tuple(about["refers"]) if "refers" in about else None,
            unused=tuple(about.get("unused", ())),
        )
        for column, about in note["columns"].items()
    }
    names = ", ".join(column.sql for column in columns.values())
    connection.execute(f"CREATE TABLE {name_in_query(name)} ({names})")
    marks = ", ".join("?" * len(columns))
    values = [tuple(row[column] for column in columns) for row in rows]
    connection.executemany(f"INSERT INTO {name_in_query(name)} VALUES ({marks})", values)  # noqa: S608
    key, label = columns.get(note["key"]), columns.get(note["label"])
    return SchemaTable(name, note["one"], note["many"], columns, rows, key, label, tuple(note["lacks"]))


def _rows(file: Path, name: str) -> Sequence[Row]:
    if file.suffix in (".csv", ".tsv"):
        return _typed_rows(file)
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        cursor = connection.execute(f"SELECT * FROM {name_in_query(name)}")  # noqa: S608
        heads = [head for head, *_ in cursor.description]
        return [dict(zip(heads, row, strict=True)) for row in cursor]


def _typed_rows(file: Path) -> Sequence[Row]:
    """Return the rows of a text file. A column contains numbers if each of its cells is one."""
    with file.open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text, delimiter="\t" if file.suffix == ".tsv" else ","))
    read = {column: _reader(row[column] for row in rows) for column in rows[0]}
    return [{column: read[column](cell) if cell else None for column, cell in row.items()} for row in rows]


def _reader(cells: Iterable[str]) -> Callable[[str], Cell]:
    filled = [cell for cell in cells if cell]
    if filled and all(re.fullmatch(r"-?(0|[1-9]\d*)", cell) for cell in filled):
        return int
    if filled and all(re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", cell) for cell in filled):
        return float
    return str


def _parses(cell: Cell, form: str) -> bool:
    try:
        return bool(datetime.strptime(cell, form))
    except (TypeError, ValueError):
        return False


def _is_text(cell: Cell) -> bool:
    return isinstance(cell, str)
