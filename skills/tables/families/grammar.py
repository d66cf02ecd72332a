"""Parts of questions: each in words, in SQL, and in Python over the rows. The Python decides what is right."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from random import Random
from typing import TypeVar

from pydantic import JsonValue

from .schema import Cell, Row, Schema, SchemaColumn, SchemaTable

Choice = TypeVar("Choice")
LOOSE = 0.5  # of the category values that are spelled otherwise than they are stored
EXACT = 0.12  # of the columns that are named exactly
TIE = Decimal("0.0001")  # a sum or mean this close to a rounding boundary is not asked for
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


class Unsuitable(Exception):
    """The drawn parts make no unambiguous question."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A text value of a query: as people say it, and as it is stored ("" if it is stored nowhere)."""

    said: str
    stored: str
    table: str

    @property
    def facts(self) -> JsonValue:
        return {"said": self.said, "stored": self.stored, "table": self.table}


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on rows. `sql` contains {0} in place of its text value; `kind` and `value` fill a phrase."""

    column: SchemaColumn
    kind: str
    value: str
    sql: str
    keeps: Callable[[Row], bool]
    literal: Literal | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """A number computed from rows. `words` is its name in the question, `short` in the answer."""

    words: str
    short: str
    sql: str
    of: Callable[[Sequence[Row]], Decimal]


@dataclass(frozen=True)
class Sampler:
    """Draws parts of questions about one workspace."""

    schema: Schema
    split: str
    rng: Random

    def pick(self, options: Sequence[Choice]) -> Choice:
        """Return a random option. Raise Unsuitable if there is none."""
        if not options:
            raise Unsuitable
        return self.rng.choice(options)

    def table(self, fits: Callable[[SchemaTable], object] = bool) -> SchemaTable:
        return self.pick([table for table in self.schema.tables.values() if fits(table)])

    def column_name(self, column: SchemaColumn) -> str:
        """Return the column as people say it, or its exact name."""
        return column.name if self.rng.random() < EXACT else column.said

    def category(
        self, table: SchemaTable, *, loose: bool | None = None, column: SchemaColumn | None = None
    ) -> Condition:
        """Return the condition that a column has a value; if `loose`, spelled otherwise than it is stored."""
        column = column or self.pick(table.categories)
        value: str = self.pick(sorted(column.counts))
        said = spell_out(value) if (self.rng.random() < LOOSE if loose is None else loose) else value
        if loose and said == value:
            raise Unsuitable
        return _equals_condition(table, column, said, value)

    def unused_category(self, table: SchemaTable, column: SchemaColumn) -> Condition:
        """Return the same kind of condition, with a value that is stored nowhere."""
        value = self.pick([one for one in column.unused if not self.schema.contains(one)])
        return _equals_condition(table, column, spell_out(value) if self.rng.random() < 0.5 else value, "")

    def bound(self, table: SchemaTable) -> Condition:
        """Return the condition that a measure is above or below a number."""
        column = self.pick([one for one in table.measures if len(one.counts) > 5])
        kind, sign, compare = self.pick(BOUNDS)
        value = _round(self.pick(sorted(column.cells)))
        return Condition(
            column, kind, f"{value}", f"{column.sql} {sign} {value}", lambda row: compare(row[column.name], value)
        )

    def when(self, table: SchemaTable) -> Condition:
        """Return the condition that a date is in a year or in a month."""
        column = self.pick(table.dates)
        day = column.day(self.pick(sorted(column.counts)))
        month = day.month if self.rng.random() < 0.5 else 0
        said = f"{MONTHS[month - 1]} {day.year}" if month else f"{day.year}"

        def keeps(row: Row) -> bool:
            there = column.day(row[column.name])
            return there.year == day.year and month in (0, there.month)

        sql = f"year({column.sql}) = {day.year}" + (f" and month({column.sql}) = {month}" if month else "")
        return Condition(column, "during", said, sql, keeps)

    def era(self, table: SchemaTable) -> Condition:
        """Return the condition that a year is before, after or the same as another."""
        column = self.pick([one for one in table.of("year") if one.is_full])
        year: int = self.pick(sorted(column.counts))
        kind, sign, compare = self.pick(ERAS)
        return Condition(
            column, kind, f"{year}", f"{column.sql} {sign} {year}", lambda row: compare(row[column.name], year)
        )

    def conditions(self, table: SchemaTable) -> Sequence[Condition]:
        """Return one or two conditions, on different columns, that some rows meet and others do not."""
        makers = [self.category, self.category, self.bound, self.era]
        first = self.pick(makers)(table)
        chosen = [first]
        if self.rng.random() < 0.4:
            second = self.pick(makers)(table)
            both = {first.literal is None, second.literal is None}
            chosen += [second] if second.column is not first.column and both == {True, False} else []
        return self.require_selective(table, chosen)

    def require_selective(self, table: SchemaTable, conditions: Sequence[Condition]) -> Sequence[Condition]:
        """Return the conditions. Raise Unsuitable if fewer than two rows meet them, or all."""
        if not 2 <= len(matching_rows(table.rows, conditions)) < len(table.rows):
            raise Unsuitable
        return conditions

    def phrase(self, conditions: Sequence[Condition]) -> str:
        """Return the conditions as a phrase that follows the plural of the rows."""
        frame = self.pick(_frames("test" if self.split == "test" else "train"))
        parts = [_phrase(frame[one.kind], self.column_name(one.column), one.value) for one in conditions]
        return fix_articles(f"{frame['lead']}{' and '.join(parts)}{frame.get('end', '')}")

    def measure(self, table: SchemaTable, of: str = "", beside: Sequence[Condition] = ()) -> Measure:
        """Return an average, total, … of a column without a condition; `of` precedes its name in SQL."""
        column = self.pick([one for one in table.measures if one not in [met.column for met in beside]])
        whole = all(isinstance(cell, int) for cell in column.cells)
        said, name = self.column_name(column), f"{of}{column.sql}"
        kind = self.pick(("avg", "avg", "sum", "max", "min"))
        word = self.pick(MEASURE_WORDS[kind])
        short = f"{MEASURE_WORDS[kind][0]} {said}"
        rounded = kind == "avg" or (kind == "sum" and not whole)
        sql = f"round({kind}({name}), 2)" if rounded else f"{kind}({name})"
        words = f"{word} {said}{' (2 decimals)' if rounded else ''}"
        return Measure(words, short, sql, lambda rows: _exact_result(kind, [row[column.name] for row in rows]))


def spell_out(value: str) -> str:
    """Return a stored value as people say it: `in transit` for `IN_TRANSIT`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", value).replace("_", " ").replace("-", " ").lower()


def matching_rows(rows: Sequence[Row], conditions: Sequence[Condition]) -> Sequence[Row]:
    return [row for row in rows if all(one.keeps(row) for one in conditions)]


def where_clause(conditions: Sequence[Condition], of: str = "") -> str:
    """Return the clause with a space before it; `of` precedes the columns."""
    return f" where {' and '.join(f'{of}{one.sql}' for one in conditions)}" if conditions else ""


def query_facts(query: str, conditions: Sequence[Condition] = (), **more: JsonValue) -> dict[str, JsonValue]:
    """Return the facts for a plan: the query with {0} in place of its text value, and that value."""
    literals = [one.literal.facts for one in conditions if one.literal]
    return {"query": query, "literals": literals, **more}


def quote(cell: Cell) -> str:
    """Return the value as it is written in a query."""
    return "'" + cell.replace("'", "''") + "'" if isinstance(cell, str) else str(cell)


def format_number(value: Decimal) -> str:
    """Return the number without an exponent or trailing zeros."""
    text = f"{value:.6f}"
    return text.rstrip("0").rstrip(".")


def fix_articles(text: str) -> str:
    return re.sub(r"\ba (?=[aeio]|hour|u(?!ni|se))", "an ", text, flags=re.IGNORECASE)


def _equals_condition(table: SchemaTable, column: SchemaColumn, said: str, stored: str) -> Condition:
    literal = Literal(said, stored, table.name)
    return Condition(column, "equals", said, f"{column.sql} = {{0}}", lambda row: row[column.name] == stored, literal)


def _phrase(frame: str, column: str, value: str) -> str:
    several = column.endswith("s") and not column.endswith("ss")
    return (frame.replace("a {column}", "{column}") if several else frame).format(column=column, value=value)


def _exact_result(kind: str, cells: Sequence[Cell]) -> Decimal:
    exact = [Decimal(str(cell)) for cell in cells]
    if kind in ("max", "min"):
        return max(exact) if kind == "max" else min(exact)
    value = sum(exact, Decimal(0)) / (len(exact) if kind == "avg" else 1)
    turns = abs((value * 100) % 1 - Decimal("0.5")) < TIE
    if turns and kind == "avg":
        raise Unsuitable
    return value


def _round(value: float) -> float:
    """Return a number that people would name, with two leading digits, less exact than a stored value."""
    if abs(value) < 10:
        return round(value, 1)
    scale: int = 10 ** (len(str(int(abs(value)))) - 2)
    return int(value / scale) * scale


@cache
def _frames(split: str) -> Sequence[Mapping[str, str]]:
    frames: list[dict[str, str]] = tomllib.loads((Path(__file__).parent / "phrases.toml").read_text("utf-8"))[split]
    return frames


BOUNDS: Sequence[tuple[str, str, Callable[[float, float], bool]]] = (
    ("above", ">", lambda cell, bound: cell > bound),
    ("below", "<", lambda cell, bound: cell < bound),
    ("at_least", ">=", lambda cell, bound: cell >= bound),
    ("at_most", "<=", lambda cell, bound: cell <= bound),
)
ERAS: Sequence[tuple[str, str, Callable[[int, int], bool]]] = (
    ("after", ">", lambda cell, year: cell > year),
    ("before", "<", lambda cell, year: cell < year),
    ("during", "=", lambda cell, year: cell == year),
)
MEASURE_WORDS = {
    "avg": ("average", "mean", "avg"),
    "sum": ("total", "summed up", "combined"),
    "max": ("highest", "maximum", "largest"),
    "min": ("lowest", "minimum", "smallest"),
}
