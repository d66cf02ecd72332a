"""What all drafts share: how they are drawn, how their gold is held against SQLite's, their common kinds."""
# ruff: noqa: S608 - queries of goals are text; they run on a copy in memory, and only read

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from random import Random

from pydantic import JsonValue
from skillstill_training.authoring import Absent, BuiltWorkspace, Draft, Value

from .grammar import Condition, Measure, Sampler, Unsuitable, facts, kept, number, quoted, where
from .schema import Cell, Row, Schema, SchemaColumn, SchemaTable

PATIENCE = 400  # fruitless draws in a row, after which a workspace has nothing more to give
FEW = 7  # members or rows of an answer, at most
ABSENT = 0.4  # of the drafts of a family with absent ones that come with such a twin: 29 % of all
SMALLEST = 3  # letters of an answer that a prompt must not contain
Make = Callable[[Sampler], Iterable[Draft]]


def drawn(make: Make) -> Callable[[BuiltWorkspace, Random], Iterator[Draft]]:
    """Drafts without end, where the workspace has what they need."""

    def drafts(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
        draw = Sampler(Schema.of(built), built.split, rng)
        fruitless = 0
        while fruitless < PATIENCE:
            try:
                made = list(make(draw))
            except Unsuitable:
                fruitless += 1
            else:
                fruitless = 0
                yield from made

    return drafts


def twin(draw: Sampler) -> str:
    """A name that a draft and its absent twin share."""
    return f"{draw.rng.randrange(10**9)}"


def agree(draw: Sampler, query: str, conditions: Sequence[Condition], rows: Sequence[Sequence[object]]) -> None:
    """Raises Unsuitable where SQLite works out something else than we have."""
    values = [quoted(one.literal.stored) for one in conditions if one.literal]
    said, worked_out = _in_order(draw.schema.ask(query.format(*values))), _in_order(rows)
    if len(said) != len(worked_out) or not all(map(_same_row, said, worked_out)):
        raise Unsuitable


def counting(draw: Sampler, table: SchemaTable, conditions: Sequence[Condition]) -> Draft:
    """How many rows meet the conditions."""
    count = len(kept(table.rows, conditions))
    query = f"select count(*) from {table.sql}{where(conditions)}"
    agree(draw, query, conditions, [(count,)])
    return Draft(
        check=Value(gold=f"{count}"),
        words={"many": table.many, "condition": draw.say(conditions)},
        facts=facts(query, conditions),
    )


def measuring(draw: Sampler, table: SchemaTable, measure: Measure, conditions: Sequence[Condition], pair: str) -> Draft:
    """What is worked out of the rows that meet the conditions."""
    value = measure.of(kept(table.rows, conditions))
    query = f"select {measure.sql} from {table.sql}{where(conditions)}"
    agree(draw, query, conditions, [(value,)])
    if value == measure.of(table.rows):
        raise Unsuitable
    return Draft(
        check=result(value),
        words={"many": table.many, "what": measure.words, "condition": draw.say(conditions)},
        facts=facts(query, conditions, short=measure.short),
        pair=pair,
    )


def limited(draw: Sampler, table: SchemaTable, conditions: Sequence[Condition]) -> str:
    """What the rows are called, with the conditions where there are any."""
    return f"{table.many} {draw.say(conditions)}" if conditions else table.many


def others(draw: Sampler, column: SchemaColumn, found: Sequence[str]) -> tuple[str, ...]:
    """What else might be listed: the other values of the column, and the categories of all tables."""
    all_columns = (one for table in draw.schema.tables.values() for one in table.categories)
    words = {word for one in all_columns for word in one.counts if len(word) >= SMALLEST}
    return tuple(sorted(words.union(column.counts, column.unused) - {*found}))


def never(draw: Sampler, table: SchemaTable, like: Condition, measure: Measure, pair: str) -> Iterator[Draft]:
    """The absent twin of `measuring`: a value that the column never has."""
    condition = draw.unused(table, like.column)
    query = f"select {measure.sql} from {table.sql}{where([condition])}"
    yield Draft(
        check=Absent(),
        words={"many": table.many, "what": measure.words, "condition": draw.say([condition])},
        facts=facts(query, [condition], column=like.column.said),
        pair=pair,
    )


def result(value: Decimal) -> Value:
    """What was worked out, exactly or to two decimals."""
    return Value(gold=number(value), also=(number(round(value, 2)),))


def value_of(cell: Cell, wrong: Iterable[Cell] = ()) -> Value:
    gold = number(Decimal(str(cell))) if isinstance(cell, int | float) else f"{cell}"
    return Value(gold=gold, wrong=tuple(f"{one}" for one in wrong))


def look_up(
    table: SchemaTable, named: SchemaColumn, column: SchemaColumn, said: Cell, stored: Cell
) -> dict[str, JsonValue]:
    """The facts of one cell of the row of that name."""
    if not isinstance(stored, str):
        query = f"select {column.sql} from {table.sql} where {named.sql} = {stored}"
        return {"query": query, "literals": [], "column": column.said}
    query = f"select {column.sql} from {table.sql} where {named.sql} = {{0}}"
    literals: list[JsonValue] = [{"said": said, "stored": stored, "table": table.name}]
    return {"query": query, "literals": literals, "column": column.said}


def part_of(table: SchemaTable, named: SchemaColumn, name: str) -> dict[str, JsonValue]:
    """What to try where nothing has that name: the most telling word of it."""
    word = max(re.findall(r"\w+", name), key=len)
    return {"second": f"select {named.sql} from {table.sql} where {named.sql} like '%{word}%'"}


def spoken_name(draw: Sampler, key: Cell) -> Cell:
    return key.lower() if isinstance(key, str) and draw.rng.random() < 0.2 else key


def missing_name(draw: Sampler, table: SchemaTable, named: SchemaColumn) -> str:
    """A name as the others, which none has: the beginning of one and the end of another."""
    one, other = draw.pick(named.cells), draw.pick(named.cells)
    if code := re.fullmatch(r"(\w+-)\d+", one):
        return f"{code[1]}{draw.rng.randint(2_000, 9_000)}"
    parts, others = re.split(r"(?<=\s)", one), re.split(r"(?<=\s)", other)
    name = "".join([*parts[:-1], others[-1]])
    if len(parts) < 2 or draw.schema.holds(name) or any(name.lower() in text for text in draw.schema.texts):
        raise Unsuitable
    return name


def knows(schema: Schema, word: str) -> bool:
    """Whether any table has a column that shares a word with this."""
    words = set(word.split())
    columns = (column for table in schema.tables.values() for column in table.columns.values())
    return any(words & set(column.said.split()) for column in columns)


def hidden(*golds: str) -> tuple[str, ...]:
    return tuple(gold for gold in golds if len(gold) >= SMALLEST and not gold[0].isdigit())


def grouped(rows: Sequence[Row], column: SchemaColumn) -> Mapping[Cell, Sequence[Row]]:
    groups: dict[Cell, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[column.name]].append(row)
    return groups


def _in_order(rows: Iterable[Sequence[object]]) -> list[Sequence[object]]:
    return sorted(rows, key=lambda row: [cell for cell in row if isinstance(cell, str)])


def _same_row(one: Sequence[object], other: Sequence[object]) -> bool:
    return len(one) == len(other) and all(map(_same_cell, one, other))


def _same_cell(one: object, other: object) -> bool:
    """Equal, or as numbers equal but for what rounding to two decimals leaves out."""
    if isinstance(one, int | float) and isinstance(other, int | float | Decimal):
        return abs(Decimal(str(one)) - Decimal(str(other))) <= Decimal("0.006")
    return one == other
