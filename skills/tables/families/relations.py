"""Drafts of questions about rows that refer to another table."""
# ruff: noqa: S608 - queries of goals are text; they run on a copy in memory, and only read

from collections.abc import Iterator, Sequence

from pydantic import JsonValue
from skillstill_training.authoring import Absent, Draft, Members, Value

from .draft_parts import (
    ABSENT,
    MAX_LISTED,
    check_with_sqlite,
    hidden_words,
    missing_name,
    name_part_facts,
    new_pair,
    result_check,
    rows_phrase,
    spoken_name,
    value_check,
)
from .grammar import Condition, Literal, Sampler, Unsuitable, matching_rows, query_facts, quote, where_clause
from .schema import Cell, Link, Row, SchemaColumn, SchemaTable


def join(draw: Sampler) -> Iterator[Draft]:
    link = draw.pick(draw.schema.links())
    conditions, rows = _rows_of_parents(draw, link)
    query = _join_query(draw, "count(*)", link, conditions, len(rows))
    yield Draft(
        check=Value(gold=f"{len(rows)}"),
        words={"many": link.child.many, "parents": link.parent.many, "condition": draw.phrase(conditions)},
        facts=query_facts(query, conditions),
    )


def join_aggregate(draw: Sampler) -> Iterator[Draft]:
    link = child, column, parent = draw.pick([link for link in draw.schema.links() if link.child.measures])
    conditions, rows = _rows_of_parents(draw, link)
    measure = draw.measure(child)
    value = measure.of(rows)
    if value == measure.of(child.rows) or {*child.columns} & {*parent.columns} - {column.name}:
        raise Unsuitable
    query = _join_query(draw, measure.sql, link, conditions, value)
    yield Draft(
        check=result_check(value),
        words={
            "many": child.many,
            "parents": parent.many,
            "what": measure.words,
            "condition": draw.phrase(conditions),
        },
        facts=query_facts(query, conditions, short=measure.short),
    )


def not_exists(draw: Sampler) -> Iterator[Draft]:
    """Return conditions with texts as they are stored: with another spelling, no row would match them."""
    child, column, parent = draw.pick([link for link in draw.schema.links() if link.parent.names])
    assert parent.key
    name, conditions = draw.pick(parent.names), _exact_conditions(draw, child)
    used = {row[column.name] for row in matching_rows(child.rows, conditions)}
    names = sorted(row[name.name] for row in parent.rows if row[parent.key.name] not in used)
    if not 1 <= len(names) <= MAX_LISTED:
        raise Unsuitable
    query = f"select {name.sql} from {parent.sql} where {parent.key.sql} not in"
    query += f" (select {column.sql} from {child.sql}{where_clause(conditions)})"
    check_with_sqlite(draw, query, conditions, [(one,) for one in names])
    yield Draft(
        check=Members(gold=tuple(names), others=_other_names(draw, names)),
        words={"parents": parent.many, "many": rows_phrase(draw, child, conditions)},
        facts=query_facts(query, conditions),
    )


def _other_names(draw: Sampler, right: Sequence[str]) -> tuple[str, ...]:
    names = {cell for table in draw.schema.tables.values() for column in table.names for cell in column.cells}
    return tuple(sorted(names - {*right}))


def _exact_conditions(draw: Sampler, table: SchemaTable) -> Sequence[Condition]:
    if draw.rng.random() < 0.2:
        return ()
    return [draw.category(table, loose=False) if draw.rng.random() < 0.3 else draw.bound(table)]


def follow(draw: Sampler) -> Iterator[Draft]:
    child, column, parent = draw.pick([link for link in draw.schema.links() if link.parent.names])
    assert parent.key
    row, name, pair = draw.pick(parent.rows), draw.pick(parent.names), new_pair(draw)
    if name is parent.key:
        raise Unsuitable
    count = column.counts[row[parent.key.name]]
    said = spoken_name(draw, row[name.name])
    words = {"many": child.many, "parent": parent.one, "name": said}
    check_with_sqlite(
        draw, f"select count(*) from {child.sql} where {column.sql} = {quote(row[parent.key.name])}", (), [(count,)]
    )
    if count == 0:
        raise Unsuitable
    about = _key_facts(parent, parent.key, name, said, row[name.name])
    about |= {"then": [f"select count(*) from {child.sql} where {column.sql} = {{key}}"]}
    yield Draft(check=Value(gold=f"{count}"), words=words, facts=about, pair=pair)
    if draw.rng.random() < ABSENT:
        other = missing_name(draw, parent, name)
        about = _key_facts(parent, parent.key, name, other, "") | name_part_facts(parent, name, other)
        yield Draft(check=Absent(), words=words | {"name": other}, facts=about, pair=pair)


def owner(draw: Sampler) -> Iterator[Draft]:
    child, column, parent = draw.pick([link for link in draw.schema.links() if link.child.key])
    assert child.key
    key, row = draw.pick(list(zip(child.key.cells, column.cells, strict=True)))
    then, gold, others, wanted, owner = _path_to_cell(draw, parent, row)
    pair = new_pair(draw)
    words = {"one": child.one, "key": f"{key}", "parent": owner.one, "column": draw.column_name(wanted)}
    first = f"select {column.sql} from {child.sql} where {child.key.sql} = "
    yield Draft(
        check=value_check(gold, [one for one in others if one != gold][:8]),
        words=words,
        loose=("column",),
        hidden=hidden_words(f"{gold}"),
        facts={"query": f"{first}{quote(key)}", "literals": [], "then": then, "column": wanted.said},
        pair=pair,
    )
    if draw.rng.random() < ABSENT:
        missing = missing_name(draw, child, child.key) if isinstance(key, str) else max(child.key.cells) + key
        facts: dict[str, JsonValue] = {"query": f"{first}{quote(missing)}", "literals": [], "none": True}
        yield Draft(check=Absent(), words=words | {"key": f"{missing}"}, loose=("column",), facts=facts, pair=pair)


def _rows_of_parents(draw: Sampler, link: Link) -> tuple[Sequence[Condition], Sequence[Row]]:
    """Return conditions on the parents, and the children of the parents that meet them."""
    child, column, parent = link
    conditions = draw.conditions(parent)
    assert parent.key
    keys = {row[parent.key.name] for row in parent.rows if all(one.keeps(row) for one in conditions)}
    rows = [row for row in child.rows if row[column.name] in keys]
    if not 1 < len(rows) < len(child.rows):
        raise Unsuitable
    return conditions, rows


def _join_query(draw: Sampler, what: str, link: Link, conditions: Sequence[Condition], gold: Cell) -> str:
    """Return the query for `what` of the rows that belong to rows of another table, with a join if it needs one."""
    joined = f"select {what} from {_join_clause(link)}{where_clause(conditions, f'{link.parent.sql}.')}"
    check_with_sqlite(draw, joined, conditions, [(gold,)])
    if _is_join_implied(draw, link, conditions):
        return f"select {what} from {link.child.sql}{where_clause(conditions)}"
    return joined


def _join_clause(link: Link) -> str:
    child, column, parent = link
    assert parent.key
    if column.name == parent.key.name:
        return f"{child.sql} join {parent.sql} using ({column.sql})"
    return f"{child.sql} join {parent.sql} on {child.sql}.{column.sql} = {parent.sql}.{parent.key.sql}"


def _is_join_implied(draw: Sampler, link: Link, conditions: Sequence[Condition]) -> bool:
    """Return whether the columns alone show the tool which table to join, and how."""
    others = [table for table in draw.schema.tables.values() if table is not link.parent]
    taken = {name for table in others for name in table.columns}
    assert link.parent.key
    return link.column.name == link.parent.key.name and not taken & {one.column.name for one in conditions}


def _key_facts(
    table: SchemaTable, key: SchemaColumn, name: SchemaColumn, said: str, stored: str
) -> dict[str, JsonValue]:
    """Return the facts for the key of the row of that name."""
    query = f"select {key.sql} from {table.sql} where {name.sql} = {{0}}"
    return {"query": query, "literals": [Literal(said, stored, table.name).facts]}


def _path_to_cell(
    draw: Sampler, parent: SchemaTable, key: Cell
) -> tuple[list[JsonValue], Cell, Sequence[Cell], SchemaColumn, SchemaTable]:
    """Return the queries from a key to a cell of its row, or of the row that this row belongs to.

    The other values are the cell, the other values of its column, the column and its table.
    """
    assert parent.key
    row = next(row for row in parent.rows if row[parent.key.name] == key)
    first = f" from {parent.sql} where {parent.key.sql} = {{key}}"
    further = [one for one in parent.of("refers") if one.refers and one.is_full]
    if further and draw.rng.random() < 0.5:
        column = draw.pick(further)
        assert column.refers
        queries, *rest = _path_to_cell(draw, draw.schema.tables[column.refers[0]], row[column.name])
        return [f"select {column.sql}{first}", *queries], *rest
    wanted = draw.pick(
        [one for one in parent.of("label", "category", "text", "measure", "year", "date") if one.is_full]
    )
    others = [cell for cell in wanted.counts if wanted.kind != "measure"]
    return [f"select {wanted.sql}{first}"], row[wanted.name], others, wanted, parent
