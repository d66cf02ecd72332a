"""Drafts of questions that leave open which table, or which of several similar names, they mean."""
# ruff: noqa: S608 - queries of goals are text; they run on a copy in memory, and only read

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue
from skillstill_training.authoring import Absent, Draft, Value

from .draft_parts import ABSENT, hidden_words, missing_name, new_pair, value_check
from .grammar import Literal, Sampler, Unsuitable, spell_out
from .schema import Row, SchemaColumn, SchemaTable

CANDIDATES = 5  # rows with a similar name, at most


def which_table(draw: Sampler) -> Iterator[Draft]:
    said, tables = draw.pick([(said, tables) for said, tables in _shared_columns(draw).items() if len(tables) > 1])
    table, column, name = draw.pick(tables)
    row, pair = draw.pick([row for row in table.rows if row[column.name] is not None]), new_pair(draw)
    key = row[name.name]
    if sum(one.counts[key] for _, _, one in tables) > 1:
        raise Unsuitable
    each: dict[str, JsonValue] = {
        one.name: f"select {what.sql} from {one.sql} where {label.sql} = " for one, what, label in tables
    }
    words = {"column": said, "name": key}
    check = value_check(row[column.name], [cell for cell in column.counts if cell != row[column.name]][:8])
    facts: dict[str, JsonValue] = {"each": each, "right": table.name, "column": said}
    yield Draft(check=check, words=words, loose=("column",), hidden=hidden_words(check.gold), facts=facts, pair=pair)
    if draw.rng.random() < ABSENT:
        other = missing_name(draw, table, name)
        words, facts = words | {"name": other}, facts | {"right": ""}
        yield Draft(check=Absent(), words=words, loose=("column",), facts=facts, pair=pair)


def pick(draw: Sampler) -> Iterator[Draft]:
    """Yield drafts about one of several rows with similar names: a second column identifies it, a third is asked."""
    table = draw.table()
    rows, row, name, clue, part = _namesakes(draw, table)
    wanted = draw.pick([one for one in table.of("text", "date", "measure", "year") if one.is_full])
    check = value_check(row[wanted.name], [one[wanted.name] for one in rows if one is not row])
    if row[wanted.name] in [one[wanted.name] for one in rows if one is not row]:
        raise Unsuitable
    pair = new_pair(draw)
    words = {
        "one": table.one,
        "part": part,
        "clue": _spoken_value(draw, row[clue.name]),
        "column": draw.column_name(wanted),
    }
    words |= {"by": draw.column_name(clue)}
    about: dict[str, JsonValue] = {"query": _pick_query(wanted, name, clue, table, part), "candidates": len(rows)}
    about |= {"column": wanted.said, "by": clue.said}
    facts = about | {"literals": [Literal(words["clue"], row[clue.name], table.name).facts]}
    yield Draft(check=check, words=words, loose=("column",), hidden=hidden_words(check.gold), facts=facts, pair=pair)
    yield from _absent_pick(draw, table, rows, clue, words, about, pair)


def pick_count(draw: Sampler) -> Iterator[Draft]:
    """Yield drafts about how many rows of another table belong to one of several rows with similar names."""
    child, column, table = draw.pick(draw.schema.links())
    rows, row, name, clue, part = _namesakes(draw, table)
    assert table.key
    count, others = column.counts[row[table.key.name]], [column.counts[one[table.key.name]] for one in rows]
    if others.count(count) > 1 or not count:
        raise Unsuitable
    then: list[JsonValue] = [f"select count(*) from {child.sql} where {column.sql} = {{key}}"]
    pair = new_pair(draw)
    words = {"one": table.one, "part": part, "clue": _spoken_value(draw, row[clue.name]), "many": child.many}
    words |= {"by": draw.column_name(clue)}
    about: dict[str, JsonValue] = {"query": _pick_query(table.key, name, clue, table, part), "candidates": len(rows)}
    about |= {"then": then, "by": clue.said}
    wrong = tuple(f"{one}" for one in others if one != count and one > 0)
    facts = about | {"literals": [Literal(words["clue"], row[clue.name], table.name).facts]}
    yield Draft(check=Value(gold=f"{count}", wrong=wrong), words=words, facts=facts, pair=pair)
    yield from _absent_pick(draw, table, rows, clue, words, about, pair)


def _spoken_value(draw: Sampler, value: str) -> str:
    return spell_out(value) if draw.rng.random() < 0.4 else value


def _shared_columns(draw: Sampler) -> Mapping[str, list[tuple[SchemaTable, SchemaColumn, SchemaColumn]]]:
    """Return, for each spoken name of a column, the tables that have it: table, column, and column of names."""
    shared: dict[str, list[tuple[SchemaTable, SchemaColumn, SchemaColumn]]] = {}
    for table in draw.schema.tables.values():
        for name in table.names:
            for column in table.of("text", "measure", "category", "year", "date"):
                shared.setdefault(column.said, []).append((table, column, name))
    return shared


def _namesakes(draw: Sampler, table: SchemaTable) -> tuple[Sequence[Row], Row, SchemaColumn, SchemaColumn, str]:
    """Return rows with a common word in their names, the right one, the columns of name and clue, and the word."""
    name, clue = draw.pick(table.names), draw.pick(table.categories)
    words = Counter(word for cell in name.cells for word in cell.split() if len(word) > 3 and word.isalpha())
    part = draw.pick([word for word, count in words.items() if 2 <= count <= CANDIDATES])
    rows = [row for row in table.rows if part.lower() in row[name.name].lower()]
    row = draw.pick(rows)
    alike = [one for one in rows if one[clue.name] == row[clue.name]]
    if not 2 <= len(rows) <= CANDIDATES or len(alike) > 1:
        raise Unsuitable
    return rows, row, name, clue, part


def _pick_query(wanted: SchemaColumn, name: SchemaColumn, clue: SchemaColumn, table: SchemaTable, part: str) -> str:
    """Return the query for the row with that word in its name and the right clue."""
    return f"select {wanted.sql} from {table.sql} where {name.sql} like '%{part}%' and {clue.sql} = {{0}}"


def _absent_pick(
    draw: Sampler,
    table: SchemaTable,
    rows: Sequence[Row],
    clue: SchemaColumn,
    words: dict[str, str],
    about: dict[str, JsonValue],
    pair: str,
) -> Iterator[Draft]:
    """Yield, at the rate ABSENT, the absent twin: none of the rows has the value of the clue."""
    if draw.rng.random() < ABSENT:
        value = draw.pick(sorted({*clue.counts} - {row[clue.name] for row in rows}))
        new_words = words | {"clue": _spoken_value(draw, value)}
        loose = ("column",) if "column" in words else ()
        facts = about | {"literals": [Literal(new_words["clue"], value, table.name).facts]}
        yield Draft(check=Absent(), words=new_words, loose=loose, facts=facts, pair=pair)
