"""Results as a run shows them to a model."""

from skillstill.run.record import Record
from skillstill.tools import Line, Result
from skillstill.types import Message


def shown(receipt: str, *lines: Line | str) -> Message:
    """Return the tool turn that shows a result of these lines."""
    return turn_of(receipt, Result(tuple(Line(line) if isinstance(line, str) else line for line in lines)))


def turn_of(receipt: str, result: Result) -> Message:
    record = Record("", "")
    record.show(receipt, result)
    return record.messages[-1]


def rows(receipt: str, head: str, *texts: str) -> Message:
    """Return the tool turn that shows all rows of a query."""
    return shown(receipt, head, *(Line(text, is_row=True) for text in texts))


def overview(**tables: str) -> Message:
    """Return the tool turn that shows all tables, by name, with all their columns."""
    terms = {name: tuple(columns.split(", ")) for name, columns in tables.items()}
    lines = (Line(f"{name}.csv: {name}, 3 rows: {columns}") for name, columns in tables.items())
    record = Record("", "")
    record.show("r1", Result((Line(f"{len(tables)} tables in {len(tables)} files"), *lines), terms=terms))
    return record.messages[-1]
