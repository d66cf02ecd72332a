"""Drafts of questions that lead from one table to another, or do not say which table they mean."""
# ruff: noqa: S608 - queries of goals are text; they run on a copy in memory, and only read

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from pydantic import JsonValue
from skillstill_training.checks import Absent, Declined, Members, Value
from skillstill_training.goal import Draft

from .drafting import (
    ABSENT,
    FEW,
    agree,
    hidden,
    limited,
    missing_name,
    part_of,
    result,
    spoken_name,
    twin,
    value_of,
)
from .grammar import Condition, Sampler, Unsuitable, facts, kept, quoted, spoken, where
from .schema import Cell, Column, Row, Table

CANDIDATES = 5  # rows of which one is picked, at most


def join(draw: Sampler) -> Iterator[Draft]:
    child, column, parent = draw.pick(draw.schema.links())
    conditions, rows = _of_parents(draw, child, column, parent)
    query = f"select count(*) from {_joined(child, column, parent)}{where(conditions, f'{parent.sql}.')}"
    agree(draw, query, conditions, [(len(rows),)])
    yield Draft(
        check=Value(gold=f"{len(rows)}"),
        words={"many": child.many, "parents": parent.many, "condition": draw.say(conditions)},
        facts=facts(query, conditions),
    )


def join_aggregate(draw: Sampler) -> Iterator[Draft]:
    child, column, parent = draw.pick([link for link in draw.schema.links() if link[0].measures])
    conditions, rows = _of_parents(draw, child, column, parent)
    measure = draw.measure(child, f"{child.sql}.")
    value = measure.of(rows)
    query = f"select {measure.sql} from {_joined(child, column, parent)}{where(conditions, f'{parent.sql}.')}"
    agree(draw, query, conditions, [(value,)])
    if value == measure.of(child.rows):
        raise Unsuitable
    yield Draft(
        check=result(value),
        words={
            "many": child.many,
            "parents": parent.many,
            "what": measure.words,
            "condition": draw.say(conditions),
        },
        facts=facts(query, conditions, short=measure.short),
    )


def not_exists(draw: Sampler) -> Iterator[Draft]:
    """Conditions only with texts as they are stored: with another spelling, all would seem to have none."""
    child, column, parent = draw.pick([link for link in draw.schema.links() if link[2].names])
    assert parent.key
    name, conditions = draw.pick(parent.names), _exact(draw, child)
    used = {row[column.name] for row in kept(child.rows, conditions)}
    found = sorted(row[name.name] for row in parent.rows if row[parent.key.name] not in used)
    if not 1 <= len(found) <= FEW:
        raise Unsuitable
    query = f"select {name.sql} from {parent.sql} where {parent.key.sql} not in"
    query += f" (select {column.sql} from {child.sql}{where(conditions)})"
    agree(draw, query, conditions, [(one,) for one in found])
    yield Draft(
        check=Members(gold=tuple(found), others=_other_names(draw, found)),
        words={"parents": parent.many, "many": limited(draw, child, conditions)},
        facts=facts(query, conditions),
    )


def _other_names(draw: Sampler, found: Sequence[str]) -> tuple[str, ...]:
    names = {cell for table in draw.schema.tables.values() for column in table.names for cell in column.cells}
    return tuple(sorted(names - {*found}))


def _exact(draw: Sampler, table: Table) -> Sequence[Condition]:
    if draw.rng.random() < 0.2:
        return ()
    return [draw.category(table, loose=False) if draw.rng.random() < 0.3 else draw.bound(table)]


def follow(draw: Sampler) -> Iterator[Draft]:
    child, column, parent = draw.pick([link for link in draw.schema.links() if link[2].names])
    assert parent.key
    row, name, pair = draw.pick(parent.rows), draw.pick(parent.names), twin(draw)
    if name is parent.key:
        raise Unsuitable
    count = column.counts[row[parent.key.name]]
    said = spoken_name(draw, row[name.name])
    words = {"many": child.many, "parent": parent.one, "name": said}
    agree(draw, f"select count(*) from {child.sql} where {column.sql} = {quoted(row[parent.key.name])}", (), [(count,)])
    if count == 0:
        raise Unsuitable
    about = _named(parent, parent.key, name, said, row[name.name])
    about |= {"then": [f"select count(*) from {child.sql} where {column.sql} = {{key}}"]}
    yield Draft(check=Value(gold=f"{count}"), words=words, facts=about, pair=pair)
    if draw.rng.random() < ABSENT:
        other = missing_name(draw, parent, name)
        about = _named(parent, parent.key, name, other, "") | part_of(parent, name, other)
        yield Draft(check=Absent(), words=words | {"name": other}, facts=about, pair=pair)


def owner(draw: Sampler) -> Iterator[Draft]:
    child, column, parent = draw.pick([link for link in draw.schema.links() if link[0].key])
    assert child.key
    key, row = draw.pick(list(zip(child.key.cells, column.cells, strict=True)))
    then, gold, others, wanted, owner = _step(draw, parent, row)
    pair = twin(draw)
    words = {"one": child.one, "key": f"{key}", "parent": owner.one, "column": draw.call(wanted)}
    first = f"select {column.sql} from {child.sql} where {child.key.sql} = "
    yield Draft(
        check=value_of(gold, [one for one in others if one != gold][:8]),
        words=words,
        loose=("column",),
        hidden=hidden(f"{gold}"),
        facts={"query": f"{first}{quoted(key)}", "literals": [], "then": then, "column": wanted.said},
        pair=pair,
    )
    if draw.rng.random() < ABSENT:
        missing = missing_name(draw, child, child.key) if isinstance(key, str) else max(child.key.cells) + key
        facts: dict[str, JsonValue] = {"query": f"{first}{quoted(missing)}", "literals": [], "none": True}
        yield Draft(check=Absent(), words=words | {"key": f"{missing}"}, loose=("column",), facts=facts, pair=pair)


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
    words = {"one": table.one, "part": part, "clue": spoken_value(draw, row[clue.name]), "column": draw.call(wanted)}
    words |= {"by": draw.call(clue)}
    about: dict[str, JsonValue] = {"column": wanted.said, "by": clue.said, "literals": []}
    fitting = partial(_fitting_first, wanted, name, clue, table, part)
    found = about | {"query": fitting(words["clue"])}
    yield Draft(check=check, words=words, loose=("column",), hidden=hidden(check.gold), facts=found, pair=pair)
    yield from _nobody(draw, rows, clue, words, about, fitting, pair)


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
    words = {"one": table.one, "part": part, "clue": spoken_value(draw, row[clue.name]), "many": child.many}
    words |= {"by": draw.call(clue)}
    about: dict[str, JsonValue] = {"then": then, "by": clue.said, "literals": []}
    fitting = partial(_fitting_first, table.key, name, clue, table, part)
    wrong = tuple(f"{one}" for one in others if one != count and one > 0)
    found = about | {"query": fitting(words["clue"])}
    yield Draft(check=Value(gold=f"{count}", wrong=wrong), words=words, facts=found, pair=pair)
    yield from _nobody(draw, rows, clue, words, about, fitting, pair)


def offscope(draw: Sampler) -> Iterator[Draft]:
    table = draw.table()
    column = draw.pick(table.of("measure", "category", "date", "year", "text", "label"))
    yield Draft(
        check=Declined(),
        words={"many": table.many, "one": table.one, "column": draw.call(column)},
        loose=("column",),
    )


def spoken_value(draw: Sampler, value: str) -> str:
    return spoken(value) if draw.rng.random() < 0.4 else value


def _of_parents(
    draw: Sampler, child: Table, column: Column, parent: Table
) -> tuple[Sequence[Condition], Sequence[Row]]:
    """Conditions on the parents, and the children of those that meet them."""
    conditions = draw.conditions(parent)
    assert parent.key
    keys = {row[parent.key.name] for row in parent.rows if all(one.keeps(row) for one in conditions)}
    rows = [row for row in child.rows if row[column.name] in keys]
    if not 1 < len(rows) < len(child.rows):
        raise Unsuitable
    return conditions, rows


def _joined(child: Table, column: Column, parent: Table) -> str:
    assert parent.key
    if column.name == parent.key.name:
        return f"{child.sql} join {parent.sql} using ({column.sql})"
    return f"{child.sql} join {parent.sql} on {child.sql}.{column.sql} = {parent.sql}.{parent.key.sql}"


def _named(table: Table, key: Column, name: Column, said: str, stored: str) -> dict[str, JsonValue]:
    """The facts of the key of the row of that name."""
    literals: list[JsonValue] = [{"said": said, "stored": stored, "table": table.name}]
    return {"query": f"select {key.sql} from {table.sql} where {name.sql} = {{0}}", "literals": literals}


def _step(draw: Sampler, parent: Table, key: Cell) -> tuple[list[JsonValue], Cell, Sequence[Cell], Column, Table]:
    """The queries from a key to a cell of its row, or of the row that this one belongs to in its turn."""
    assert parent.key
    row = next(row for row in parent.rows if row[parent.key.name] == key)
    first = f" from {parent.sql} where {parent.key.sql} = {{key}}"
    further = [one for one in parent.of("refers") if one.refers and one.full]
    if further and draw.rng.random() < 0.5:
        column = draw.pick(further)
        assert column.refers
        queries, *rest = _step(draw, draw.schema.tables[column.refers[0]], row[column.name])
        return [f"select {column.sql}{first}", *queries], *rest
    wanted = draw.pick([one for one in parent.of("label", "category", "text", "measure", "year", "date") if one.full])
    others = [cell for cell in wanted.counts if wanted.kind != "measure"]
    return [f"select {wanted.sql}{first}"], row[wanted.name], others, wanted, parent


def _shared(draw: Sampler) -> Mapping[str, list[tuple[Table, Column, Column]]]:
    """What rows of several tables have, by what it is called: the table, the column, that of the names."""
    found: dict[str, list[tuple[Table, Column, Column]]] = {}
    for table in draw.schema.tables.values():
        for name in table.names:
            for column in table.of("text", "measure", "category", "year", "date"):
                found.setdefault(column.said, []).append((table, column, name))
    return found


def _crowd(draw: Sampler, table: Table) -> tuple[Sequence[Row], Row, Column, Column, str]:
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


def _fitting_first(wanted: Column, name: Column, clue: Column, table: Table, part: str, said: str) -> str:
    """A query for the rows of that name, those of the right kind first: a 1 tells them, however it is spelt."""
    fits = f"{clue.sql} like {quoted('%'.join(['', *said.split(), '']))}"
    return f"select {wanted.sql}, {name.sql}, {fits} from {table.sql} where {name.sql} like '%{part}%' order by 3 desc"


def _nobody(
    draw: Sampler,
    rows: Sequence[Row],
    clue: Column,
    words: dict[str, str],
    about: dict[str, JsonValue],
    fitting: Callable[[str], str],
    pair: str,
) -> Iterator[Draft]:
    """The absent twin: none of the rows has the value that would tell the right one."""
    if draw.rng.random() < ABSENT:
        value = draw.pick(sorted({*clue.counts} - {row[clue.name] for row in rows}))
        said = words | {"clue": spoken_value(draw, value)}
        loose = ("column",) if "column" in words else ()
        yield Draft(check=Absent(), words=said, loose=loose, facts=about | {"query": fitting(said["clue"])}, pair=pair)
