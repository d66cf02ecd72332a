"""CSV and TSV texts as tables of SQLite, as the reader of facts finds them, with titles as they are written.

Numbers lose thousands, currency and unit, and what stands for no value is none. Dates stay texts: a query compares what
it sees in the file, and `month` and `day` know their notation.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath

from skillstill.errors import Refusal
from skillstill.facts.reader import Source, Unreadable
from skillstill.facts.readers.data.delimited import read_delimited
from skillstill.facts.readers.data.encoding import scan_text
from skillstill.facts.readers.data.forms import Cell, FileHabits, Form, TextForm, infer_form
from skillstill.facts.readers.data.naming import free_name
from skillstill.facts.readers.data.numbers import NumberForm
from skillstill.facts.readers.data.sheet import Conventions, type_sheet
from skillstill.tools.tables.catalogue import Table, quoted_name
from skillstill.tools.tables.separators import BLANKS, split_fields
from skillstill.util.text import clean

MAX_COLUMNS = 500
NUMBERS = ("INTEGER", "REAL")
BEGINNING = 8_192  # bytes by which a binary file is told
WIDE = ("utf-16", "utf-32")  # texts that hold NUL bytes
UNIT = "\x1f"  # ASCII's own separator of fields


def load_delimited(
    connection: sqlite3.Connection, schema: str, table: Table, data: bytes, check: Callable[[], None]
) -> None:
    """Make a table of a CSV file's content. `check` is called now and then and may raise. Raise Refusal."""
    if b"\0" in data[:BEGINNING] and not scan_text(BytesIO(data)).encoding.startswith(WIDE):
        raise Refusal(f"{table.path!r} is binary: read text files only")
    if len(table.separator) > 1 or table.separator == BLANKS:
        text = data.decode(scan_text(BytesIO(data)).encoding, "replace")
        data = _with_units(text, table.separator).encode("utf-8-sig")
    source = Source(PurePosixPath(table.path).name, len(data), BytesIO(data))
    place = f"{schema}.{quoted_name(table.name)}"
    connection.execute("BEGIN")
    try:
        sheet = read_delimited(source, table.name)
        _check_width(len(sheet.titles) - 1)  # one is for cells that are too many
        type_sheet(sheet, table.name, _TableSink(connection, place, check), AS_WRITTEN)
    except Unreadable as error:
        reason = "is empty: use another table" if str(error) == "empty" else f"is no readable CSV: {error}"
        raise Refusal(f"{table.path} {reason}") from error
    connection.execute("COMMIT")


@dataclass(frozen=True, slots=True)
class _TableSink:
    """The rows of one table, without the lines where they stand."""

    connection: sqlite3.Connection
    place: str
    check: Callable[[], None]

    def create(self, columns: Sequence[tuple[str, str]]) -> None:
        _check_width(len(columns))
        declared = ", ".join(f"{quoted_name(name)} {kind}" for name, kind in columns)
        self.connection.execute(f"DROP TABLE IF EXISTS {self.place}")
        self.connection.execute(f"CREATE TABLE {self.place} ({declared})")

    def insert(self, places: Sequence[int], columns: Sequence[Sequence[Cell]]) -> None:
        self.check()
        marks = ", ".join("?" * len(columns))
        self.connection.executemany(f"INSERT INTO {self.place} VALUES ({marks})", zip(*columns, strict=True))  # noqa: S608


def _check_width(columns: int) -> None:
    if columns > MAX_COLUMNS:
        raise Refusal(f"it has {columns} columns, at most {MAX_COLUMNS} are read")


def _with_units(text: str, separator: str) -> str:
    """Return the text with one character between the fields of a line."""
    return "\n".join(UNIT.join(split_fields(line, separator)) for line in text.splitlines())


def _titles(titles: Sequence[str], _: Sequence[str]) -> Sequence[str]:
    """Return the titles as they are written, no two alike in any case."""
    taken: dict[str, str] = {}  # names by their small letters
    for place, title in enumerate(titles, start=1):
        name = free_name(" ".join(clean(title).split()) or f"c{place}", taken.keys())
        taken[name.lower()] = name
    return [*taken.values()]


def _infer(bag: Mapping[str, float], habits: FileHabits | None = None) -> Form:
    """Return the form of numbers if most values are some; days of eight digits are numbers, too."""
    form = infer_form(bag, habits)
    if form.kind in NUMBERS or isinstance(form, TextForm):
        return form
    return NumberForm(is_whole=True) if getattr(form, "order", "") == "compact" else TextForm()


AS_WRITTEN = Conventions(names=_titles, infer=_infer)
