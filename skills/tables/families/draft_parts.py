"""Parts that drafts share: how they are drawn, the comparison of answers with SQLite, and their common kinds."""
# ruff: noqa: S608 - queries of goals are text; they run on a copy in memory, and only read

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from random import Random

from pydantic import JsonValue
from skillstill_training.authoring import Absent, BuiltWorkspace, Draft, Value

from .grammar import (
    Condition,
    Measure,
    Sampler,
    Unsuitable,
    format_number,
    matching_rows,
    query_facts,
    quote,
    where_clause,
)
from .schema import Cell, Row, Schema, SchemaColumn, SchemaTable

PATIENCE = 400  # unsuitable draws in a row, after which a workspace has no more drafts
MAX_LISTED = 7  # members or rows of an answer, at most
ABSENT = 0.4  # of the drafts of a family that come with an absent twin: 29 % of all
MIN_HIDDEN = 3  # letters of an answer that a prompt must not contain
Make = Callable[[Sampler], Iterable[Draft]]


def draw_drafts(make: Make) -> Callable[[BuiltWorkspace, Random], Iterator[Draft]]:
    """Return the function that draws drafts with `make`, without end if the workspace has suitable tables."""

    def drafts(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
        draw = Sampler(Schema.of(built), built.split, rng)
        fruitless = 0
        while fruitless < PATIENCE:
            try:
                batch = list(make(draw))
            except Unsuitable:
                fruitless += 1
            else:
                fruitless = 0
                yield from batch

    return drafts


def new_pair(draw: Sampler) -> str:
    """Return a new `pair` name for a draft and its absent twin."""
    return f"{draw.rng.randrange(10**9)}"


def check_with_sqlite(
    draw: Sampler, query: str, conditions: Sequence[Condition], rows: Sequence[Sequence[object]]
) -> None:
    """Raise Unsuitable if SQLite computes other rows than ours."""
    values = [quote(one.literal.stored) for one in conditions if one.literal]
    expected, computed = _in_order(draw.schema.ask(query.format(*values))), _in_order(rows)
    if len(expected) != len(computed) or not all(map(_same_row, expected, computed)):
        raise Unsuitable


def count_draft(draw: Sampler, table: SchemaTable, conditions: Sequence[Condition]) -> Draft:
    """Return a draft about the number of rows that meet the conditions."""
    count = len(matching_rows(table.rows, conditions))
    query = f"select count(*) from {table.sql}{where_clause(conditions)}"
    check_with_sqlite(draw, query, conditions, [(count,)])
    return Draft(
        check=Value(gold=f"{count}"),
        words={"many": table.many, "condition": draw.phrase(conditions)},
        facts=query_facts(query, conditions),
    )


def measure_draft(
    draw: Sampler, table: SchemaTable, measure: Measure, conditions: Sequence[Condition], pair: str
) -> Draft:
    """Return a draft about a measure of the rows that meet the conditions."""
    value = measure.of(matching_rows(table.rows, conditions))
    query = f"select {measure.sql} from {table.sql}{where_clause(conditions)}"
    check_with_sqlite(draw, query, conditions, [(value,)])
    if value == measure.of(table.rows):
        raise Unsuitable
    return Draft(
        check=result_check(value),
        words={"many": table.many, "what": measure.words, "condition": draw.phrase(conditions)},
        facts=query_facts(query, conditions, short=measure.short),
        pair=pair,
    )


def rows_phrase(draw: Sampler, table: SchemaTable, conditions: Sequence[Condition]) -> str:
    """Return the plural of the rows, followed by the conditions if there are any."""
    return f"{table.many} {draw.phrase(conditions)}" if conditions else table.many


def distractors(draw: Sampler, column: SchemaColumn, right: Sequence[str]) -> tuple[str, ...]:
    """Return what an answer must not list: the other values of the column, and the categories of all tables."""
    all_columns = (one for table in draw.schema.tables.values() for one in table.categories)
    words = {word for one in all_columns for word in one.counts if len(word) >= MIN_HIDDEN}
    return tuple(sorted(words.union(column.counts, column.unused) - {*right}))


def absent_value_draft(
    draw: Sampler, table: SchemaTable, like: Condition, measure: Measure, pair: str
) -> Iterator[Draft]:
    """Yield the absent twin of `measure_draft`: a value that the column does not contain."""
    condition = draw.unused_category(table, like.column)
    query = f"select {measure.sql} from {table.sql}{where_clause([condition])}"
    yield Draft(
        check=Absent(),
        words={"many": table.many, "what": measure.words, "condition": draw.phrase([condition])},
        facts=query_facts(query, [condition], column=like.column.said),
        pair=pair,
    )


def result_check(value: Decimal) -> Value:
    """Return the check of a computed number, exact or to two decimals."""
    return Value(gold=format_number(value), also=(format_number(round(value, 2)),))


def value_check(cell: Cell, wrong: Iterable[Cell] = ()) -> Value:
    gold = format_number(Decimal(str(cell))) if isinstance(cell, int | float) else f"{cell}"
    return Value(gold=gold, wrong=tuple(f"{one}" for one in wrong))


def lookup_facts(
    table: SchemaTable, named: SchemaColumn, column: SchemaColumn, said: Cell, stored: Cell
) -> dict[str, JsonValue]:
    """Return the facts for one cell of the row of that name."""
    if not isinstance(stored, str):
        query = f"select {column.sql} from {table.sql} where {named.sql} = {stored}"
        return {"query": query, "literals": [], "column": column.said}
    query = f"select {column.sql} from {table.sql} where {named.sql} = {{0}}"
    literals: list[JsonValue] = [{"said": said, "stored": stored, "table": table.name}]
    return {"query": query, "literals": literals, "column": column.said}


def name_part_facts(table: SchemaTable, named: SchemaColumn, name: str) -> dict[str, JsonValue]:
    """Return the query to try if no row has that name: its longest word."""
    word = max(re.findall(r"\w+", name), key=len)
    return {"second": f"select {named.sql} from {table.sql} where {named.sql} like '%{word}%'"}


def spoken_name(draw: Sampler, key: Cell) -> Cell:
    return key.lower() if isinstance(key, str) and draw.rng.random() < 0.2 else key


def missing_name(draw: Sampler, table: SchemaTable, named: SchemaColumn) -> str:
    """Return a name that no row has, made of the beginning of one and the end of another."""
    one, other = draw.pick(named.cells), draw.pick(named.cells)
    if code := re.fullmatch(r"(\w+-)\d+", one):
        return f"{code[1]}{draw.rng.randint(2_000, 9_000)}"
    parts, others = re.split(r"(?<=\s)", one), re.split(r"(?<=\s)", other)
    name = "".join([*parts[:-1], others[-1]])
    if len(parts) < 2 or draw.schema.contains(name) or any(name.lower() in text for text in draw.schema.texts):
        raise Unsuitable
    return name


def has_column_like(schema: Schema, word: str) -> bool:
    """Return whether any table has a column that shares a word with this."""
    words = set(word.split())
    columns = (column for table in schema.tables.values() for column in table.columns.values())
    return any(words & set(column.said.split()) for column in columns)


def hidden_words(*golds: str) -> tuple[str, ...]:
    return tuple(gold for gold in golds if len(gold) >= MIN_HIDDEN and not gold[0].isdigit())


def group_rows(rows: Sequence[Row], column: SchemaColumn) -> Mapping[Cell, Sequence[Row]]:
    groups: dict[Cell, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[column.name]].append(row)
    return groups


def _in_order(rows: Iterable[Sequence[object]]) -> list[Sequence[object]]:
    return sorted(rows, key=lambda row: [cell for cell in row if isinstance(cell, str)])


def _same_row(one: Sequence[object], other: Sequence[object]) -> bool:
    return len(one) == len(other) and all(map(_same_cell, one, other))


def _same_cell(one: object, other: object) -> bool:
    """Return whether they are equal, as numbers to two decimals."""
    if isinstance(one, int | float) and isinstance(other, int | float | Decimal):
        return abs(Decimal(str(one)) - Decimal(str(other))) <= Decimal("0.006")
    return one == other
