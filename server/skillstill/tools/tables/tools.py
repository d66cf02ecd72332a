"""The tools that answer from SQLite, CSV and TSV files: describe, sql, select."""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Annotated, Any

from pydantic import Field

from skillstill.errors import Refusal
from skillstill.tools.kit.listing import left_out, rows
from skillstill.tools.kit.ripgrep import visible_files
from skillstill.tools.kit.tool import MAX_LINE, ROW, Line, Result, tool
from skillstill.tools.tables.catalogue import Table, TableCatalogue, name_in_query, quoted_name, read_catalogue
from skillstill.tools.tables.database import (
    COUNTED,
    MAX_QUERY,
    Column,
    Database,
    Deadline,
    QueryRows,
    open_database,
)
from skillstill.tools.tables.hints import blob_hints, explain_failure, find_table, near_misses, quoted_text_hints
from skillstill.tools.tables.joins import (
    LookupJoin,
    can_be_widened,
    find_join,
    limit_to_query,
    missing_column,
    widen_query,
)
from skillstill.tools.tables.notation import ask_with_dates
from skillstill.tools.tables.query_grammar import KEYWORDS, free_query_rules, query_rules
from skillstill.tools.tables.schema import named, tables
from skillstill.tools.tables.stoppable import stoppable
from skillstill.types import Copied, Grammar, Span
from skillstill.util.text import clean, shorten
from skillstill.workspace import Workspace

SHOWN = 10  # rows of a result
DETAILED = 12  # tables of an overview that are shown with their columns; of more only the names
NAMED = 60  # tables whose names are shown
COLUMNS = 20  # columns of a table that are shown with their values
DISTINCT = 8  # values of a column that are all shown
SAMPLES = 3  # values of a column that has more
VALUE = 40  # characters of a value among others
LOOKED_AT = 100_000  # rows from which a table's values are taken: a second or two for a wide one
FAILURES = (sqlite3.Error, sqlite3.Warning, ValueError)  # of a query, as SQLite and Python raise them
DATE = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*"  # for GLOB


async def describe(
    workspace: Workspace, table: Annotated[str, Field(max_length=200, description="name of one table"), Copied()] = ""
) -> Result:
    """Show the tables of all SQLite and CSV files; with `table`: its columns, their types and values."""
    files = await visible_files(workspace)
    return await stoppable(_describe, workspace, files, table.strip())


async def sql(
    workspace: Workspace,
    query: Annotated[
        str,
        Field(min_length=1, max_length=MAX_QUERY, description="one SELECT in SQLite's dialect"),
        Copied(but=KEYWORDS),
        Grammar(query_rules),
    ],
) -> Result:
    """Query the tables of all SQLite and CSV files. Shows 10 rows: count, sum and sort in the query.

    year(x), month(x) and day(x) read a date however it is written. Columns of a table that rows refer to need no join.
    """
    if not re.match(r"\s*(?:select|with|values)\b", query, re.IGNORECASE):
        raise Refusal("give one SELECT (or WITH … SELECT): files are only read; to see tables and columns use describe")
    files = await visible_files(workspace)
    return await stoppable(_query, workspace, files, query)


async def select(
    workspace: Workspace,
    query: Annotated[
        str,
        Field(min_length=1, max_length=MAX_QUERY, description="one SELECT in SQLite's dialect"),
        Grammar(free_query_rules),
    ],
) -> Result:
    """Query the tables of all SQLite and CSV files, as `sql` does, with any text and any function of SQLite."""
    return await sql(workspace, query)


def _describe(workspace: Workspace, files: Sequence[str], name: str, loading: Deadline) -> Result:
    catalogue = read_catalogue(workspace, files, loading.check)
    if name:
        return _describe_table(workspace, catalogue, find_table(catalogue, name), loading)
    if not catalogue.tables and not catalogue.remarks:
        none = f"no SQLite, CSV or TSV file among {len(files)} files"
        return Result((Line(none),), "there is no table to look in", empty=True)
    terms: dict[str, tuple[str, ...]] = {}
    if len(catalogue.tables) <= DETAILED:
        lines = [*_table_lines(workspace, catalogue.tables, loading, terms)]
    else:
        lines = [*_name_lines(catalogue.tables)]
    head = f"{len(catalogue.tables)} tables in {len({table.path for table in catalogue.tables})} files"
    is_whole = len(terms) == len(catalogue.tables)
    return Result((Line(head), *lines, *map(Line, catalogue.remarks)), overview=True, terms=terms if is_whole else {})


def _table_lines(
    workspace: Workspace, tables: Sequence[Table], loading: Deadline, terms: dict[str, tuple[str, ...]]
) -> Iterator[Line]:
    """Yield a line for each table. Add those whose columns are all shown to `terms`, by their names in a query."""
    for path in dict.fromkeys(table.path for table in tables):
        here = [table for table in tables if table.path == path]
        alone = f"{path}: " if len(here) == 1 else "  "
        if len(here) > 1:
            yield Line(f"{path}:", (Span(path=path),))
        for table, count, columns in _counted_tables(workspace, here, loading):
            head = f"{alone}{name_in_query(table.name)}, {count} rows"
            names = tuple(map(name_in_query, columns))
            text = f"{head}: {', '.join(names)}" if names else head
            if names and len(text) <= ROW:
                terms[name_in_query(table.name)] = names
            yield Line(shorten(text, ROW), (Span(path=path),))


def _name_lines(tables: Sequence[Table]) -> Iterator[Line]:
    for path in dict.fromkeys(table.path for table in tables[:NAMED]):
        yield Line(f"{path}:", (Span(path=path),))
        yield from rows(
            [(name_in_query(table.name), Span(path=path)) for table in tables[:NAMED] if table.path == path], "  "
        )
    yield from left_out([table.path for table in tables[NAMED:]])


def _counted_tables(
    workspace: Workspace, tables: Sequence[Table], loading: Deadline
) -> Iterator[tuple[Table, str, Sequence[str]]]:
    """Yield each of a file's tables with its number of rows (`?` if that is unknown) and its columns."""
    try:
        with open_database(workspace, tables, (), loading) as database:
            for table in tables:
                names = database.names[table] if table.is_delimited else table.columns
                yield table, _count(database, table), names
    except Refusal:
        yield from ((table, "?", table.columns) for table in tables)


def _count(database: Database, table: Table) -> str:
    try:
        return str(database.ask(f"SELECT count(*) FROM {quoted_name(table.name)}").rows[0][0])  # noqa: S608
    except (Refusal, sqlite3.Error):
        return "?"


def _describe_table(workspace: Workspace, catalogue: TableCatalogue, table: Table, loading: Deadline) -> Result:
    with open_database(workspace, [table], (), loading) as database:
        count = _count(database, table)
        columns = database.columns[table]
        if not columns:
            raise Refusal(f"{name_in_query(table.name)} in {table.path} rests on what is not there: use other tables")
        head = f"{name_in_query(table.name)} in {table.path}: {count} rows"
        if count.isdigit() and int(count) > LOOKED_AT:
            head += f"; values of the first {LOOKED_AT}"
        body = [Line(_column_line(database, table, column)) for column in columns[:COLUMNS]]
        rest = rows([(name_in_query(column.name), Span(path=table.path)) for column in columns[COLUMNS:]], "also ")
        return Result(
            (Line(head, (Span(path=table.path),)), *body, *rest, *_remarks(catalogue, [table.path])), overview=True
        )


def _column_line(database: Database, table: Table, column: Column) -> str:
    target = f" -> {column.refers}" if column.refers else ""
    kind = f"{name_in_query(column.name)} {column.type}".rstrip()
    name = quoted_name(column.name)
    source = f"(SELECT {name} AS v FROM {quoted_name(table.name)} LIMIT {LOOKED_AT})"  # noqa: S608
    try:
        return shorten(f"{kind}{_value_summary(database, source, target, is_key=column.is_key)}", ROW)
    except sqlite3.Error as error:
        return f"{kind}{target}: {error}"
    except Refusal:  # no time is left
        return f"{kind}{target}"


def _value_summary(database: Database, source: str, target: str, *, is_key: bool) -> str:
    about = f"SELECT count(DISTINCT v), sum(v IS NULL), min(v), max(v), sum(v NOT GLOB ?) FROM {source}"  # noqa: S608
    distinct, empty, low, high, undated = database.ask(about, (DATE,)).rows[0]
    dated = isinstance(low, str) and undated == 0
    head = f"{' dates' if dated else ''}{' key' if is_key else ''}{target}: {distinct} distinct"
    head += f", {empty} NULL" if empty else ""
    if not distinct:
        return head
    if dated or (isinstance(low, int | float) and isinstance(high, int | float)):
        return f"{head}, {_literal(low)}..{_literal(high)}"
    few = distinct <= DISTINCT
    shown = f"ORDER BY count(*) DESC, v LIMIT {DISTINCT if few else SAMPLES}"
    values = database.ask(f"SELECT v FROM {source} WHERE v IS NOT NULL GROUP BY v {shown}").rows  # noqa: S608
    return f"{head}{': ' if few else ', such as '}{', '.join(_literal(value) for (value,) in values)}"


def _query(workspace: Workspace, files: Sequence[str], query: str, loading: Deadline) -> Result:
    catalogue = read_catalogue(workspace, files, loading.check)
    with open_database(workspace, catalogue.tables_in(query), catalogue.shared_names_in(query), loading) as database:
        try:
            return _query_result(catalogue, database, query, ask_with_dates(database, query, SHOWN))
        except FAILURES as error:
            failed, refusal = error, explain_failure(error, catalogue, database)
            if not (missing_column(error) and can_be_widened(query) and len(catalogue.tables) <= DETAILED):
                raise refusal from error
    with ExitStack() as stack:
        try:
            wider = stack.enter_context(
                open_database(workspace, catalogue.tables, catalogue.shared_names_in(query), loading)
            )
        except Refusal:  # of tables that the query does not name
            raise refusal from None
        return _query_widened(catalogue, wider, query, database, failed)


def _query_widened(
    catalogue: TableCatalogue, database: Database, query: str, alone: Database, error: Exception
) -> Result:
    """Return the rows of a query whose tables lacked a column, once those that they refer to are joined."""
    queried, joins = catalogue.tables_in(query), list[LookupJoin]()
    while join := find_join(missing_column(error), queried, joins, database):
        joins.append(join)
        try:
            answer = ask_with_dates(database, widen_query(query, joins, database), SHOWN)
        except FAILURES as another:
            error = another
        else:
            database.keep_reads_in(query)
            remarks = [*map(Line, dict.fromkeys(join.remark for join in joins))]
            return _query_result(catalogue, limit_to_query(queried, joins, database), query, answer, remarks)
    raise explain_failure(error, catalogue.with_columns(database.names), alone) from error


def _query_result(
    catalogue: TableCatalogue, database: Database, query: str, answer: QueryRows, joined_lines: Sequence[Line] = ()
) -> Result:
    read = {name for name, _ in database.reads}
    tables = (table for table in database.columns if {table.name.lower(), table.inner.lower()} & read)
    paths = [*dict.fromkeys(table.path for table in tables)]
    count = f"more than {COUNTED}" if answer.count > COUNTED else str(answer.count)
    names = f": {' | '.join(answer.columns)}" if answer.count else ""
    head = Line(shorten(f"{count} rows{names}", MAX_LINE), tuple(Span(path=path) for path in paths))
    rest = min(answer.count, COUNTED) - SHOWN
    width = MAX_LINE if answer.count == 1 else ROW
    body = [Line(_row(row, width), is_row=rest <= 0, cells=tuple(row)) for row in answer.rows]
    left = f"more than {rest}" if answer.count > COUNTED else str(rest)
    more = [Line(f"… {left} more rows", omits=rest)] if rest > 0 else []
    hints = (*quoted_text_hints(database, query, answer), *near_misses(database, query, answer))
    read_as = [Line(database.dates.remark)] if database.dates.remark else []
    unclear, settled = (read_as, []) if database.dates.unclear else ([], read_as)
    doubts = [*unclear, *blob_hints(database, query), *_remarks(catalogue, paths)]
    missed = doubts[0].text if doubts and answer.is_nothing else ""
    return Result((head, *body, *more, *joined_lines, *hints, *settled, *doubts), missed, empty=answer.is_nothing)


def _row(row: Sequence[Any], width: int) -> str:
    return shorten(" | ".join(shorten(_cell(cell), max(VALUE, width // len(row))) for cell in row), width)


def _cell(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float):  # 12 digits hide what binary fractions add, but not the cents of a large sum
        return f"{value:.12g}" if abs(value) < 1e10 else repr(value)
    return re.sub(r"[\n\t]+", " ", clean(str(value)))


def _literal(value: Any) -> str:
    """Return the value as a query must write it."""
    text = shorten(_cell(value), VALUE)
    return "'" + text.replace("'", "''") + "'" if isinstance(value, str) else text


def _remarks(catalogue: TableCatalogue, paths: Iterable[str]) -> list[Line]:
    return [Line(remark) for remark in catalogue.remarks if remark.startswith(tuple(f"{path} " for path in paths))]


TOOLS = (tool(describe), tool(sql), tool(tables), tool(named), tool(select))
