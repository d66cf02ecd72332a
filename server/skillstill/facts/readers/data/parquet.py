"""Parquet files as tables. They have types of their own, so nothing is inferred.

`arro3` takes a third of the memory of its rivals and half of their room on disk, but still 33 MB: it is an extra.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from skillstill.facts.reader import Source, Unreadable
from skillstill.facts.readers.data.forms import Cell
from skillstill.facts.readers.data.naming import unique_names
from skillstill.facts.readers.data.sheet import LoadedColumn, LoadedTable, Profile, Sink

MAGIC = b"PAR1"
BATCH = 2_048  # rows
MISSING = "Parquet needs `pip install skillstill[data]`"
KINDS = {
    "Int": "INTEGER",
    "UInt": "INTEGER",
    "Float": "REAL",
    "Decimal": "REAL",
    "Boolean": "BOOLEAN",
    "Date": "DATE",
    "Timestamp": "DATETIME",
    "Binary": "BLOB",
    "LargeBinary": "BLOB",
    "FixedSizeBinary": "BLOB",
}
LARGEST = 2**63 - 1  # whole number of SQLite


def load_parquet(source: Source, name: str, sink: Sink) -> LoadedTable:
    """Read the file into the sink. Raise Unreadable."""
    source.stream.seek(-len(MAGIC), 2)
    if source.stream.read() != MAGIC:
        raise Unreadable("no readable Parquet")
    source.stream.seek(0)
    try:
        from arro3.io import read_parquet  # an extra
    except ImportError:
        raise Unreadable(MISSING) from None
    try:
        return _load(read_parquet(source.stream, batch_size=BATCH), name, sink)
    except (ValueError, OSError, OverflowError) as error:
        raise Unreadable("no readable Parquet") from error
    except BaseException as error:
        if type(error).__name__ in ("PanicException", "ArrowException"):  # Rust's, no Exception to Python
            raise Unreadable("no readable Parquet") from None
        raise


def _load(reader: Any, name: str, sink: Sink) -> LoadedTable:
    fields = [(field.name, _kind(str(field.type))) for field in reader.schema]
    names = unique_names([title for title, _ in fields], ["_row"])
    profiles = [Profile() for _ in fields]
    sink.create([(own, kind) for own, (_, kind) in zip(names, fields, strict=True)])
    rows = 0
    for batch in reader:
        columns = [_cells(column.to_pylist(), kind) for column, (_, kind) in zip(batch.columns, fields, strict=True)]
        places = range(rows + 1, rows + batch.num_rows + 1)
        rows += batch.num_rows
        sink.insert(places, columns)
        for profile, values in zip(profiles, columns, strict=True):
            profile.add(values)
    return LoadedTable(name, "", "table", rows, _columns(names, fields, profiles), "_row")


def _columns(
    names: Sequence[str], fields: Sequence[tuple[str, str]], profiles: Sequence[Profile]
) -> tuple[LoadedColumn, ...]:
    return tuple(
        profile.column(name, title, kind, "")
        for name, (title, kind), profile in zip(names, fields, profiles, strict=True)
    )


def _kind(arrow: str) -> str:
    """Return the type of a column by Arrow's, such as `arro3.core.DataType<Timestamp(ns)>`."""
    match = re.search(r"<([A-Za-z]+)", arrow)
    return KINDS.get(match[1], "TEXT") if match else "TEXT"


def _cells(values: Sequence[Any], kind: str) -> list[Cell]:
    """Return the values as SQLite takes them."""
    convert = CONVERTERS[kind]
    return [None if value is None else convert(value) for value in values]


def _whole(value: int) -> Cell:
    return value if -LARGEST <= value <= LARGEST else float(value)


def _real(value: float | Decimal) -> Cell:
    return None if math.isnan(value) else float(value)


def _day(value: date) -> Cell:
    return value.isoformat()


def _moment(value: datetime) -> Cell:
    return value.isoformat(" ")


def _text(value: Any) -> Cell:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


CONVERTERS: Mapping[str, Callable[[Any], Cell]] = {
    "INTEGER": _whole,
    "REAL": _real,
    "BOOLEAN": int,
    "DATE": _day,
    "DATETIME": _moment,
    "BLOB": bytes,
    "TEXT": _text,
}
