"""The tables of a folder as somebody who writes queries reads them: their columns, what keys refer to, some values."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from skillstill.facts.locate.question import last_question
from skillstill.facts.locate.stems import stems_in
from skillstill.tools.kit.tool import MAX_LINE, Line
from skillstill.tools.tables.catalogue import Table, name_in_query
from skillstill.tools.tables.named_rows import Condition, find_conditions
from skillstill.tools.tables.values import ColumnValues, TableValues
from skillstill.types import Span, Terms
from skillstill.util.text import clean, shorten

ROOM = 5_400  # characters: 1,800 tokens, which are read once for all questions about a folder
DETAILED = 3  # tables that are shown for one question if not all have room
MOST = 100  # tables whose columns a grammar knows
SHOWN = 2  # values of a column that has many
VALUE = 24  # characters of one
NAMED = 6  # values that a question names
ALIKE = 3  # spellings of one


@dataclass(frozen=True, slots=True)
class Schema:
    """`lines` tell all tables. `is_whole`: with all their columns and values. `terms` are tables with their columns."""

    lines: Sequence[Line]
    terms: Terms
    is_whole: bool


def read_schema(values: TableValues, every: Collection[Table]) -> Schema:
    """Return all that has room of every table, also of those whose values were not read."""
    tables = sorted(values.columns, key=lambda table: table.path)
    unread = [_unread(table) for table in every if table not in values.columns]
    whole = [line for table in tables for line in table_lines(table, values)]
    if _has_room([*whole, *unread]):
        return Schema([*whole, *unread], terms_of(tables, values), is_whole=True)
    names = [_names_line(table, values) for table in tables]
    if _has_room([*names, *unread]) and all(len(line.text) < MAX_LINE for line in names):
        return Schema([*names, *unread], terms_of(tables, values), is_whole=False)
    return Schema([_head(table, values) for table in tables] + unread, {}, is_whole=False)


def terms_of(tables: Sequence[Table], values: TableValues) -> Terms:
    """Return the tables and their columns as a query writes them, none if they are too many for a grammar."""
    if len(tables) > MOST:
        return {}
    return {name_in_query(table.name): tuple(map(name_in_query, values.columns[table])) for table in tables}


def table_lines(table: Table, values: TableValues) -> Iterator[Line]:
    """Yield a table's name and number of rows, then each of its columns with some of its values."""
    yield _head(table, values)
    for column in values.columns[table]:
        refers = f" -> {found}" if (found := values.refers_to(table, column)) else ""
        yield Line(f" {name_in_query(column)}{refers}{_told(values.summaries.get((table, column)))}")


def likely_tables(question: str, values: TableValues) -> Sequence[Table]:
    """Return the tables that a question is likeliest about: their names and columns, and values that it names."""
    asked, conditions = frozenset(stems_in(last_question(question))), find_conditions(question, values)

    def score(table: Table) -> float:
        common = len(asked & values.stems[table]) + len(asked.intersection(stems_in(table.inner)))
        return common + sum(each.worth for each in conditions.get(table, ()))

    return sorted(values.columns, key=lambda table: -score(table))[:DETAILED]


def named_lines(question: str, values: TableValues) -> Sequence[Line]:
    """Return the values that a question names, as conditions of a query, those first that tell most."""
    found = [(table, one) for table, several in find_conditions(question, values).items() for one in several]
    ranked = sorted(found, key=lambda each: -each[1].worth)[:NAMED]
    return [Line(_condition(table, one), (Span(path=table.path),)) for table, one in ranked]


def _condition(table: Table, condition: Condition) -> str:
    told = " | ".join(_literal(value) for value in condition.values[:ALIKE])
    return f"{name_in_query(table.name)}.{name_in_query(condition.column)}: {told}"


def _unread(table: Table) -> Line:
    columns = f": {', '.join(map(name_in_query, table.columns))}" if table.columns else ""
    return Line(f"{name_in_query(table.name)} in {table.path}{columns}", (Span(path=table.path),))


def _has_room(lines: Sequence[Line]) -> bool:
    return sum(len(line.text) + 1 for line in lines) <= ROOM


def _head(table: Table, values: TableValues) -> Line:
    return Line(f"{name_in_query(table.name)}, {values.rows[table]} rows", (Span(path=table.path),))


def _names_line(table: Table, values: TableValues) -> Line:
    head = _head(table, values)
    return Line(f"{head.text}: {', '.join(map(name_in_query, values.columns[table]))}", head.spans)


def _told(column: ColumnValues | None) -> str:
    if column is None or not column.common:
        return ""
    if column.is_range:
        return f" {_literal(column.least)}..{_literal(column.greatest)}"
    shown = column.common if column.is_whole else column.common[:SHOWN]
    more = "" if column.is_whole else f" (of {column.distinct})"
    return f" {' | '.join(map(_literal, shown))}{more}"


def _literal(value: object) -> str:
    if isinstance(value, bytes):
        return "x''"
    text = shorten(clean(str(value)).replace("\n", " "), VALUE)
    return "'" + text.replace("'", "''") + "'" if isinstance(value, str) else text
