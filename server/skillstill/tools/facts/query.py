"""The tool `query`: one SELECT over the facts of a workspace. Its tables are those of the skill's readers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

from anyio import to_thread
from pydantic import Field

from skillstill.facts.ask import COUNTED, MAX_QUERY, FactRows, Place
from skillstill.facts.index import FactIndex
from skillstill.facts.schema import FILES
from skillstill.facts.table import FactTable
from skillstill.facts.worker import load_readers
from skillstill.tools.facts.grammar import fact_query_rules
from skillstill.tools.facts.unseen import unseen_lines, why_unseen
from skillstill.tools.kit.indexing import fresh_index
from skillstill.tools.kit.tool import MAX_LINE, Line, Result, Tool, tool
from skillstill.tools.tables.query_grammar import KEYWORDS
from skillstill.types import Copied, Grammar, Span
from skillstill.util.text import one_line, shorten
from skillstill.workspace import Workspace

SHOWN = 12  # rows of a result
CELL = 120  # characters that each value of a row may have
ROOM = 1_500  # characters of all rows: a result has 1,800


def query_tool(references: tuple[str, ...]) -> Tool:
    """Return the tool over the tables of these readers."""
    found = (table for reader in load_readers(references) for table in reader.tables)
    tables = (FILES, *(table for table in found if not table.is_hidden))

    async def query(
        workspace: Workspace,
        sql: Annotated[
            str,
            Field(min_length=1, max_length=MAX_QUERY, description="one SELECT in SQLite's dialect"),
            Copied(but=KEYWORDS),
            Grammar(partial(fact_query_rules, tables)),
        ],
    ) -> Result:
        index = await fresh_index(workspace, references)
        return await to_thread.run_sync(_asked, index, sql)

    query.__doc__ = _description(tables)
    return tool(query)


def _asked(index: FactIndex, sql: str) -> Result:
    found = index.ask(sql, SHOWN)
    lines = (Line(_head(found)), *_rows(found), *unseen_lines(found))
    return Result(lines, missed=why_unseen(found), empty=not found.rows, is_folded=True)


def _head(found: FactRows) -> str:
    count = f"more than {COUNTED:,}" if found.count > COUNTED else f"{found.count:,}"
    return f"{count} row{'s' * (found.count != 1)}: {' | '.join(found.columns)}"


def _rows(found: FactRows) -> Iterator[Line]:
    room = min(MAX_LINE, ROOM // max(1, len(found.rows)))
    for row, place in zip(found.rows, found.places, strict=True):
        start = f"{place.path}:{place.first}: " if place else ""
        text = " | ".join(_cells(row, room - len(start) - len(" | ") * len(row)))
        yield replace(_row(text, place), cells=tuple(row))
    if left := found.count - len(found.rows):
        yield Line(f"… {left:,} more rows: count them, or ask for fewer", omits=left)


def _cells(row: Sequence[object], room: int) -> Sequence[str]:
    """Return the values, cut to what a row has room for: short ones leave theirs to long ones."""
    texts = ["" if value is None else one_line(str(value), MAX_LINE) for value in row]
    shortest = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    for left, at in zip(range(len(texts), 0, -1), shortest, strict=True):
        texts[at] = shorten(texts[at], max(CELL, room // left))
        room -= len(texts[at])
    return texts


def _row(text: str, place: Place | None) -> Line:
    if place is None:
        return Line(text, is_row=True)
    span = Span(path=place.path, first=place.first, last=place.last)
    if not place.first:
        return Line(f"{place.path}: {text}", (span,), is_row=True)
    return replace(Line.at(place.path, place.first, text), spans=(span,), is_row=True)


def _description(tables: Sequence[FactTable]) -> str:
    named = "; ".join(f"{table.name}({', '.join(column.name for column in table.columns)})" for table in tables)
    return (
        f"Ask the facts of the workspace with one SELECT. Shows {SHOWN} rows: count and sort in the query. Each table"
        f" also has path, first and last, the lines that show a row. Tables: {named}."
    )
