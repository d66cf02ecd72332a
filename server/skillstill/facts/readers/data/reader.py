"""Tables and columns of data files as facts: what a model needs to write a query."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skillstill.facts.reader import Facts, Gap, Source
from skillstill.facts.readers.data.database import SchemaColumn, SchemaTable, read_database
from skillstill.facts.readers.data.formats import format_of
from skillstill.facts.readers.data.forms import Cell
from skillstill.facts.readers.data.load import load_tables, read_tables
from skillstill.facts.readers.data.sheet import LoadedColumn, LoadedTable, NoSink
from skillstill.facts.table import FactColumn, FactTable, Row

LONGEST_ABOUT = 300
DATA_TABLES = FactTable(
    "data_tables",
    "a table or view in a data file: SQLite, CSV, spreadsheet, Parquet or JSON",
    (
        FactColumn("table_name", "word"),
        FactColumn("kind", "word", values=("table", "view", "virtual table")),
        FactColumn("rows", "integer", "how many, NULL if not counted"),
        FactColumn("columns", "integer", "how many"),
        FactColumn("about", "text", "what was noticed while reading, such as a decimal comma"),
    ),
    ("table_name",),
)
DATA_COLUMNS = FactTable(
    "data_columns",
    "a column of a table in a data file",
    (
        FactColumn("table_name", "word"),
        FactColumn("column_name", "word", "as a query writes it"),
        FactColumn("title", "text", "as the file writes it"),
        FactColumn("type", "word"),
        FactColumn("nulls", "integer", "rows without a value"),
        FactColumn("distinct_values", "integer", "1001 if there are more than 1000"),
        FactColumn("minimum", "text"),
        FactColumn("maximum", "text"),
        FactColumn("samples", "text", "up to three values"),
        FactColumn("refers", "word", "table.column of a foreign key"),
    ),
    ("table_name", "column_name"),
)


@dataclass(frozen=True, slots=True)
class DataReader:
    """Reads data files."""

    name: str = "data"
    version: int = 3
    tables: tuple[FactTable, ...] = (DATA_TABLES, DATA_COLUMNS)

    def takes(self, name: str, head: bytes) -> bool:
        """Return whether the file is a data file."""
        return format_of(name, head) != ""

    def read(self, source: Source) -> Iterator[Facts]:
        """Yield tables and columns. Raise Unreadable."""
        head = source.stream.read(16)
        source.stream.seek(0)
        if format_of("", head) != "sqlite":
            yield from map(_of_loaded, read_tables(source, lambda name, position: NoSink(), set()))
            return
        for found in read_database(source):
            yield Facts(gaps=(found,)) if isinstance(found, Gap) else _of_schema(found)

    def copy(self, source: Source, connection: sqlite3.Connection) -> None:
        """Copy the tables of a file that is no database. Raise Unreadable."""
        load_tables(source, connection)


def _of_loaded(table: LoadedTable) -> Facts:
    line = table.line
    about = "; ".join((table.place, *table.findings) if table.place else table.findings)
    row: Row = (line, line, table.name, table.kind, table.rows, len(table.columns), about[:LONGEST_ABOUT] or None)
    columns = [(line, line, table.name, *_column(column)) for column in table.columns]
    return Facts({DATA_TABLES.name: [row], DATA_COLUMNS.name: columns}, table.gaps)


def _column(column: LoadedColumn) -> Row:
    kind = f"{column.type} ({column.unit})" if column.unit else column.type
    low, high = (None if value is None else str(value) for value in (column.minimum, column.maximum))
    return (column.name, column.title, kind, column.nulls, column.distinct, low, high, _listed(column.samples), None)


def _of_schema(table: SchemaTable) -> Facts:
    row: Row = (0, 0, table.name, table.kind, table.rows, len(table.columns), None)
    columns = [(0, 0, table.name, *_schema_column(column)) for column in table.columns]
    return Facts({DATA_TABLES.name: [row], DATA_COLUMNS.name: columns})


def _schema_column(column: SchemaColumn) -> Row:
    hold = column.hold
    values = (hold.nulls, hold.distinct, hold.minimum, hold.maximum, _listed(hold.samples))
    return (column.name, column.name, column.type or None, *values, column.refers or None)


def _listed(samples: Sequence[Cell]) -> str | None:
    return " | ".join(map(str, samples))[:LONGEST_ABOUT] or None


DATA = DataReader()
