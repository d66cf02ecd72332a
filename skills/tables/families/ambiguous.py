"""Drafts of questions that do not say which table, or which of several namesakes, they mean."""
# ruff: noqa: S608 - queries of goals are text; they run on a copy in memory, and only read

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue
from skillstill_training.authoring import Absent, Draft, Value

from .drafting import ABSENT, hidden, missing_name, twin, value_of
from .grammar import Literal, Sampler, Unsuitable, spoken
from .schema import Row, SchemaColumn, SchemaTable

CANDIDATES = 5  # rows of which one is picked, at most


def which_table(draw: Sampler) -> Iterator[Draft]:
    said, tables = draw.pick([(said, tables) for said, tables in _shared(draw).items() if len(tables) > 1])
    table, column, name = draw.pick(tables)
    row, pair = draw.pick([row for row in table.rows if row[column.name] is not None]), twin(draw)
    key = row[name.name]
    if sum(one.counts[key] for _, _, one in tables) > 1:
        raise Unsuitable
    each: dict[str, JsonValue] = {
        one.name: f"select {what.sql} from {one.sql} where {label.sql} = " for one, what, label in tables
    }
    words = {"column": said, "name": key}
    check = value_of(row[column.name], [cell for cell in column.counts if cell != row[column.name]][:8])
    facts: dict[str, JsonValue] = {"each": each, "right": table.name, "column": said}
    yield Draft(check=check, words=words, loose=("column",), hidden=hidden(check.gold), facts=facts, pair=pair)
    if draw.rng.random() < ABSENT:
        other = missing_name(draw, table, name)
        words, facts = words | {"name": other}, facts | {"right": ""}
        yield Draft(check=Absent(), words=words, loose=("column",), facts=facts, pair=pair)


def pick(draw: Sampler) -> Iterator[Draft]:
    """Several rows share a part of their names; another column tells which one is meant, a third is asked for."""
    table = draw.table()
    rows, row, name, clue, part = _crowd(draw, table)
    wanted = draw.pick([one for one in table.of("text", "date", "measure", "year") if one.full])
    check = value_of(row[wanted.name], [one[wanted.name] for one in rows if one is not row])
    if row[wanted.name] in [one[wanted.name] for one in rows if one is not row]:
        raise Unsuitable
    pair = twin(draw)
    words = {"one": table.one, "part": part, "clue": _spoken_value(draw, row[clue.name]), "column": draw.call(wanted)}
    words |= {"by": draw.call(clue)}
    about: dict[str, JsonValue] = {"query": _right_one(wanted, name, clue, table, part), "candidates": len(rows)}
    about |= {"column": wanted.said, "by": clue.said}
    found = about | {"literals": [Literal(words["clue"], row[clue.name], table.name).facts]}
    yield Draft(check=check, words=words, loose=("column",), hidden=hidden(check.gold), facts=found, pair=pair)
    yield from _nobody(draw, table, rows, clue, words, about, pair)


def pick_count(draw: Sampler) -> Iterator[Draft]:
    """The like; what is asked is how many rows of another table belong to the right one."""
    child, column, table = draw.pick(draw.schema.links())
    rows, row, name, clue, part = _crowd(draw, table)
    assert table.key
    count, others = column.counts[row[table.key.name]], [column.counts[one[table.key.name]] for one in rows]
    if others.count(count) > 1 or not count:
        raise Unsuitable
    then: list[JsonValue] = [f"select count(*) from {child.sql} where {column.sql} = {{key}}"]
    pair = twin(draw)
    words = {"one": table.one, "part": part, "clue": _spoken_value(draw, row[clue.name]), "many": child.many}
    words |= {"by": draw.call(clue)}
    about: dict[str, JsonValue] = {"query": _right_one(table.key, name, clue, table, part), "candidates": len(rows)}
    about |= {"then": then, "by": clue.said}
    wrong = tuple(f"{one}" for one in others if one != count and one > 0)
    found = about | {"literals": [Literal(words["clue"], row[clue.name], table.name).facts]}
    yield Draft(check=Value(gold=f"{count}", wrong=wrong), words=words, facts=found, pair=pair)
    yield from _nobody(draw, table, rows, clue, words, about, pair)


def _spoken_value(draw: Sampler, value: str) -> str:
    return spoken(value) if draw.rng.random() < 0.4 else value


def _shared(draw: Sampler) -> Mapping[str, list[tuple[SchemaTable, SchemaColumn, SchemaColumn]]]:
    """What rows of several tables have, by what it is called: the table, the column, that of the names."""
    found: dict[str, list[tuple[SchemaTable, SchemaColumn, SchemaColumn]]] = {}
    for table in draw.schema.tables.values():
        for name in table.names:
            for column in table.of("text", "measure", "category", "year", "date"):
                found.setdefault(column.said, []).append((table, column, name))
    return found


def _crowd(draw: Sampler, table: SchemaTable) -> tuple[Sequence[Row], Row, SchemaColumn, SchemaColumn, str]:
    """Rows that share a word of their names, the right one of them, and a column that tells it from the others."""
    name, clue = draw.pick(table.names), draw.pick(table.categories)
    words = Counter(word for cell in name.cells for word in cell.split() if len(word) > 3 and word.isalpha())
    part = draw.pick([word for word, count in words.items() if 2 <= count <= CANDIDATES])
    rows = [row for row in table.rows if part.lower() in row[name.name].lower()]
    row = draw.pick(rows)
    alike = [one for one in rows if one[clue.name] == row[clue.name]]
    if not 2 <= len(rows) <= CANDIDATES or len(alike) > 1:
        raise Unsuitable
    return rows, row, name, clue, part


def _right_one(wanted: SchemaColumn, name: SchemaColumn, clue: SchemaColumn, table: SchemaTable, part: str) -> str:
    """A query for the row of that name that is of the right kind."""
    return f"select {wanted.sql} from {table.sql} where {name.sql} like '%{part}%' and {clue.sql} = {{0}}"


def _nobody(
    draw: Sampler,
    table: SchemaTable,
    rows: Sequence[Row],
    clue: SchemaColumn,
    words: dict[str, str],
    about: dict[str, JsonValue],
    pair: str,
) -> Iterator[Draft]:
    """The absent twin: none of the rows has the value that would tell the right one."""
    if draw.rng.random() < ABSENT:
        value = draw.pick(sorted({*clue.counts} - {row[clue.name] for row in rows}))
        said = words | {"clue": _spoken_value(draw, value)}
        loose = ("column",) if "column" in words else ()
        facts = about | {"literals": [Literal(said["clue"], value, table.name).facts]}
        yield Draft(check=Absent(), words=said, loose=loose, facts=facts, pair=pair)
