"""The tool `schema`: the tables of a folder, with the columns of those that a text is about. It opens runs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from anyio import to_thread

from skillstill.facts.index import FactIndex
from skillstill.tools.facts.unseen import unseen_lines, why_unseen
from skillstill.tools.kit.indexing import fresh_index
from skillstill.tools.kit.tool import Line, Result, Tool, tool
from skillstill.types import QuestionText, Span
from skillstill.util.text import shorten
from skillstill.workspace import Workspace

LOCATED = 24  # places by which the tables and columns are chosen
DETAILED = 5  # tables that are shown with their columns: each costs tokens of every run
VALUED = 14  # columns of one that are shown with their values
LISTED = 30  # further ones that are shown by their names, and other tables
FEW = 3  # distinct numbers that are shown themselves, and not by the least and the greatest
VALUE = 22  # characters of a value
MOST = 5_000  # tables, and columns of all, that are looked at
TABLES = "select path, table_name, rows from data_tables order by path, first, table_name"
COLUMNS = (
    "select path, table_name, column_name, type, distinct_values, minimum, maximum, samples, refers from data_columns "
    "order by path, first, table_name"
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a data file. `rows` is None if they were not counted."""

    path: str
    name: str
    rows: int | None

    def is_meant(self, place: str) -> bool:
        """Return whether a located place is this table, or a column of it."""
        return place == self.name or place.startswith(f"{self.name}.")


def schema_tool(references: tuple[str, ...]) -> Tool:
    """Return the tool over what these readers find. The reader of data has to be one of them."""

    async def schema(
        workspace: Workspace,
        text: QuestionText,
    ) -> Result:
        """Show the likeliest tables for a text with their columns and some values, then the names of the others."""
        index = await fresh_index(workspace, references)
        return await to_thread.run_sync(_schema, index, text)

    return tool(schema)


def _schema(index: FactIndex, text: str) -> Result:
    found, columns = index.ask(TABLES, MOST), index.ask(COLUMNS, MOST)
    tables = [Table(*row[:3]) for row in found.rows]
    missed = why_unseen(found)
    if not tables:
        lines = (Line("no table in any file"), *unseen_lines(found))
        return Result(lines, missed or "there is no table to look in", empty=True)
    meant = [place.name for place in index.locate(text, LOCATED) if place.name]

    def rank(table: Table) -> int:
        return next((at for at, place in enumerate(meant) if table.is_meant(place)), len(meant))

    ranked = sorted(tables, key=rank)
    shown, others = ranked[:DETAILED], ranked[DETAILED:]
    files = len({table.path for table in tables})
    head = Line(f"{found.count} tables in {files} files", omits=found.count - len(tables))
    names = Counter(table.name for table in tables)
    told = [table.name if names[table.name] == 1 else f"{table.name} in {table.path}" for table in others]
    named = _named("other tables: ", told)
    detailed = [line for table in shown for line in _detailed(table, columns.rows, meant)]
    return Result((head, *named, *detailed, *unseen_lines(found)), missed)


def _detailed(table: Table, known: Iterable[Sequence[Any]], meant: Sequence[str]) -> Iterator[Line]:
    """Yield a line of the table, then its columns: those that are meant and the first ones with their values."""
    count = "?" if table.rows is None else table.rows
    yield Line(f"{table.path}: {table.name}, {count} rows", (Span(path=table.path),))
    columns = [row[2:9] for row in known if (row[0], row[1]) == (table.path, table.name)]
    wanted = {name for name, *_ in columns if f"{table.name}.{name}" in meant}
    others = [name for name, *_ in columns if name not in wanted]
    shown = wanted | {*others[: max(0, VALUED - len(wanted))]}
    for column in columns:
        if column[0] in shown:
            yield Line(f"  {_column(*column)}", (Span(path=f"{table.path}:{table.name}.{column[0]}"),))
    yield from _named("  also ", [name for name, *_ in columns if name not in shown])


def _column(name: str, kind: str, distinct: int | None, low: str, high: str, samples: str, refers: str) -> str:
    said = f"{name} {kind} -> {refers}" if refers else f"{name} {kind}"
    if kind in {"INTEGER", "REAL"} and low is not None and (distinct or 0) > FEW:
        return f"{said}: {low} to {high}"
    values = " | ".join(shorten(value, VALUE) for value in (samples or "").split(" | "))
    return f"{said}: {values}" if values else said


def _named(title: str, names: Sequence[str]) -> Iterator[Line]:
    if names:
        left = max(0, len(names) - LISTED)
        rest = f" … {left} more" if left else ""
        yield Line(f"{title}{', '.join(names[:LISTED])}{rest}", omits=left)
