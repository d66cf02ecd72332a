"""The tools that a run about data begins with: tables, before the question, and named, behind it."""

from collections.abc import Sequence

from skillstill.tools.kit.ripgrep import visible_files
from skillstill.tools.kit.tool import MAX_RESULT, Line, Result
from skillstill.tools.tables.catalogue import TableCatalogue, read_catalogue
from skillstill.tools.tables.database import Deadline
from skillstill.tools.tables.known_values import KNOWN_VALUES
from skillstill.tools.tables.schema_lines import (
    ROOM,
    likely_tables,
    named_lines,
    read_schema,
    table_lines,
    terms_of,
)
from skillstill.tools.tables.stoppable import stoppable
from skillstill.tools.tables.values import TableValues
from skillstill.types import QuestionText
from skillstill.workspace import Workspace


async def tables(workspace: Workspace) -> Result:
    """Show all tables of SQLite and CSV files with their columns, what keys refer to, and some values."""
    return await stoppable(_tables, workspace, await visible_files(workspace), "")


async def named(
    workspace: Workspace,
    text: QuestionText,
) -> Result:
    """Show in which columns the values stand that a text names, and the likeliest tables if there are many."""
    return await stoppable(_named, workspace, await visible_files(workspace), text)


def _tables(workspace: Workspace, files: Sequence[str], _: str, loading: Deadline) -> Result:
    catalogue, values = _known(workspace, files, loading)
    if not catalogue.tables:
        return Result((Line("no table in any file"), *map(Line, catalogue.remarks)), "there is no table", empty=True)
    schema = read_schema(values, catalogue.tables)
    lines = (*schema.lines, *map(Line, catalogue.remarks))
    return Result(lines, overview=True, terms=schema.terms, room=2 * ROOM)


def _named(workspace: Workspace, files: Sequence[str], text: str, loading: Deadline) -> Result:
    catalogue, values = _known(workspace, files, loading)
    lines = named_lines(text, values)
    if read_schema(values, catalogue.tables).is_whole:
        return Result(tuple(lines) or (Line("no value of a column is named"),), guess=True)
    likely = likely_tables(text, values)
    told = [line for table in likely for line in table_lines(table, values)]
    return Result((*lines, *told), guess=True, terms=terms_of(likely, values), room=2 * MAX_RESULT)


def _known(workspace: Workspace, files: Sequence[str], loading: Deadline) -> tuple[TableCatalogue, TableValues]:
    return read_catalogue(workspace, files, loading.check), KNOWN_VALUES.of(workspace, files, loading)
