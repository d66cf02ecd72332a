"""Drafts of questions about one table."""
# ruff: noqa: S608 - queries of goals are text; they run on a copy in memory, and only read

from collections.abc import Iterator
from decimal import Decimal

from skillstill_training.authoring import Absent, Declined, Draft, Members, Rows, Value

from .draft_parts import (
    ABSENT,
    MAX_LISTED,
    absent_value_draft,
    check_with_sqlite,
    count_draft,
    distractors,
    group_rows,
    has_column_like,
    hidden_words,
    lookup_facts,
    measure_draft,
    missing_name,
    name_part_facts,
    new_pair,
    rows_phrase,
    spoken_name,
    value_check,
)
from .grammar import TIE, Sampler, Unsuitable, format_number, matching_rows, query_facts, spell_out, where_clause


def lookup(draw: Sampler) -> Iterator[Draft]:
    table = draw.table(lambda table: table.names or table.key)
    named = draw.pick([*table.names, *([table.key] if table.key else [])])
    column = draw.pick([one for one in table.of("text", "measure", "category", "date", "year") if one is not named])
    row = draw.pick([row for row in table.rows if row[column.name] is not None])
    key = row[named.name]
    said = spoken_name(draw, key)
    words = {"one": table.one, "column": draw.column_name(column), "name": f"{said}"}
    name, pair = draw.rng.random(), new_pair(draw)
    check = value_check(row[column.name], [one for one in column.counts if one != row[column.name]][:8])
    yield Draft(
        check=check,
        words=words,
        loose=("column",),
        hidden=hidden_words(check.gold),
        facts=lookup_facts(table, named, column, said, key),
        pair=pair,
    )
    if name < ABSENT / 2 and isinstance(key, str):
        other = missing_name(draw, table, named)
        about = lookup_facts(table, named, column, other, "") | name_part_facts(table, named, other)
        yield Draft(check=Absent(), words=words | {"name": other}, loose=("column",), facts=about, pair=pair)
    elif name < ABSENT and table.lacks:
        lacking = draw.pick([word for word in table.lacks if not has_column_like(draw.schema, word)])
        yield Draft(check=Absent(), words=words | {"column": lacking}, facts={"lacks": table.name}, pair=pair)


def filter_count(draw: Sampler) -> Iterator[Draft]:
    table = draw.table()
    yield count_draft(draw, table, draw.conditions(table))


def dates(draw: Sampler) -> Iterator[Draft]:
    table = draw.table(lambda table: table.dates)
    when = draw.when(table)
    other = draw.pick([[], [], [draw.category(table, loose=False)] if table.categories else []])
    yield count_draft(draw, table, draw.require_selective(table, [when, *other]))


def distinct_count(draw: Sampler) -> Iterator[Draft]:
    table = draw.table(lambda table: table.of("category", "text", "refers"))
    conditions = draw.conditions(table)
    column = draw.pick([one for one in table.of("category", "text", "refers") if one.is_full])
    rows = matching_rows(table.rows, conditions)
    count = len({row[column.name] for row in rows})
    if count == len(rows) or column in [one.column for one in conditions] or count < 2:
        raise Unsuitable
    query = f"select count(distinct {column.sql}) from {table.sql}{where_clause(conditions)}"
    check_with_sqlite(draw, query, conditions, [(count,)])
    said = column.said.removesuffix(" id").removesuffix(" code")
    yield Draft(
        check=Value(gold=f"{count}"),
        words={"many": table.many, "condition": draw.phrase(conditions), "column": said},
        loose=("column",),
        facts=query_facts(query, conditions),
    )


def aggregate(draw: Sampler) -> Iterator[Draft]:
    table = draw.table(lambda table: table.measures)
    pair, twins = new_pair(draw), draw.rng.random() < ABSENT
    conditions = draw.conditions(table)
    measure = draw.measure(table, beside=conditions)
    yield measure_draft(draw, table, measure, conditions, pair)
    if twins and len(conditions) == 1 and conditions[0].literal:
        yield from absent_value_draft(draw, table, conditions[0], measure, pair)


def literal(draw: Sampler) -> Iterator[Draft]:
    table = draw.table(lambda table: table.measures and table.categories)
    measure, condition = draw.measure(table), draw.category(table, loose=True)
    pair, twins = new_pair(draw), draw.rng.random() < ABSENT
    conditions = draw.require_selective(table, [condition])
    yield measure_draft(draw, table, measure, conditions, pair)
    if twins:
        yield from absent_value_draft(draw, table, condition, measure, pair)


def share(draw: Sampler) -> Iterator[Draft]:
    table = draw.table(lambda table: len(table.rows) > 20)
    condition = draw.pick([draw.category, draw.bound])(table)
    part, whole = len(matching_rows(table.rows, draw.require_selective(table, [condition]))), len(table.rows)
    value = Decimal(100 * part) / whole
    if abs((value * 10) % 1 - Decimal("0.5")) < TIE:
        raise Unsuitable
    query = f"select round(100.0 * sum({condition.sql}) / count(*), 1) from {table.sql}"
    check_with_sqlite(draw, query, [condition], [(round(value, 1),)])
    yield Draft(
        check=Value(gold=format_number(round(value, 1)), also=(format_number(value), format_number(round(value, 2)))),
        words={"many": table.many, "condition": draw.phrase([condition])},
        facts=query_facts(query, [condition]),
    )


def group(draw: Sampler) -> Iterator[Draft]:
    table = draw.table(lambda table: table.categories)
    column = draw.pick(table.categories)
    counted = not table.measures or draw.rng.random() < 0.5
    measure = None if counted else draw.measure(table)
    words = draw.pick(["count", "number of entries"]) if measure is None else measure.words
    parts = group_rows(table.rows, column)
    rows = [(name, Decimal(len(part)) if measure is None else measure.of(part)) for name, part in parts.items()]
    what = "count(*)" if measure is None else measure.sql
    query = f"select {column.sql}, {what} from {table.sql} group by {column.sql}"
    check_with_sqlite(draw, query, (), sorted(rows))
    yield Draft(
        check=Rows(gold=tuple((name, format_number(round(value, 2))) for name, value in rows)),
        words={"many": table.many, "what": words, "column": draw.column_name(column)},
        loose=("column",),
        facts=query_facts(query),
    )


def top_k(draw: Sampler) -> Iterator[Draft]:
    table = draw.table(lambda table: (table.names or table.key) and table.measures)
    name, column = draw.pick(table.names or [one for one in [table.key] if one]), draw.pick(table.measures)
    conditions = draw.conditions(table) if draw.rng.random() < 0.4 else ()
    most, count = draw.rng.random() < 0.6, draw.rng.randint(2, 5)
    order = sorted(matching_rows(table.rows, conditions), key=lambda row: row[column.name], reverse=most)
    cells = [row[column.name] for row in order[: count + 1]]
    if len(set(cells)) <= count or column in [one.column for one in conditions]:  # a tie, or too few
        raise Unsuitable
    query = f"select {name.sql}, {column.sql} from {table.sql}{where_clause(conditions)} order by {column.sql}"
    query += f"{' desc' if most else ''} limit {count}"
    gold = [(row[name.name], row[column.name]) for row in order[:count]]
    check_with_sqlite(draw, query, conditions, gold)
    yield Draft(
        check=Rows(gold=tuple((f"{one}", format_number(Decimal(str(cell)))) for one, cell in gold), ordered=True),
        words={
            "many": rows_phrase(draw, table, conditions),
            "count": f"{count}",
            "order": "highest" if most else "lowest",
            "column": draw.column_name(column),
        },
        loose=("column",),
        facts=query_facts(query, conditions),
    )


def distinct(draw: Sampler) -> Iterator[Draft]:
    table = draw.table(lambda table: table.categories)
    column, conditions = draw.pick(table.categories), draw.conditions(table)
    values = sorted({row[column.name] for row in matching_rows(table.rows, conditions)})
    if column in [one.column for one in conditions] or not 1 < len(values) <= MAX_LISTED:
        raise Unsuitable
    query = f"select distinct {column.sql} from {table.sql}{where_clause(conditions)}"
    check_with_sqlite(draw, query, conditions, [(one,) for one in values])
    yield Draft(
        check=Members(gold=tuple(values), others=distractors(draw, column, values)),
        words={"many": table.many, "condition": draw.phrase(conditions), "column": draw.column_name(column)},
        loose=("column",),
        hidden=hidden_words(*values),
        facts=query_facts(query, conditions),
    )


def having(draw: Sampler) -> Iterator[Draft]:
    table = draw.table(lambda table: table.categories)
    column = draw.pick(table.categories)
    conditions = draw.conditions(table) if draw.rng.random() < 0.5 else ()
    sizes = {name: len(part) for name, part in group_rows(matching_rows(table.rows, conditions), column).items()}
    bound = draw.pick(sorted(sizes.values())) - draw.rng.randint(0, 2)
    names = sorted(name for name, size in sizes.items() if size > bound)
    if not 0 < len(names) < len(sizes) or bound < 2 or column in [one.column for one in conditions]:
        raise Unsuitable
    query = f"select {column.sql} from {table.sql}{where_clause(conditions)}"
    query += f" group by {column.sql} having count(*) > {bound}"
    check_with_sqlite(draw, query, conditions, [(one,) for one in names])
    yield Draft(
        check=Members(gold=tuple(names), others=distractors(draw, column, names)),
        words={"many": rows_phrase(draw, table, conditions), "column": draw.column_name(column), "bound": f"{bound}"},
        loose=("column",),
        facts=query_facts(query, conditions),
    )


def superlative(draw: Sampler) -> Iterator[Draft]:
    table = draw.table(lambda table: table.categories and table.measures)
    column, measure = draw.pick(table.categories), draw.pick(table.measures)
    kind, most = draw.pick(["avg", "avg", "sum"]), draw.rng.random() < 0.6
    parts = group_rows(table.rows, column)
    cells = {name: [Decimal(str(row[measure.name])) for row in part] for name, part in parts.items()}
    values = {name: sum(part, Decimal(0)) / (len(part) if kind == "avg" else 1) for name, part in cells.items()}
    first, second, *_ = sorted(values, key=lambda name: values[name], reverse=most)
    if abs(values[first] - values[second]) < TIE:
        raise Unsuitable
    query = f"select {column.sql} from {table.sql} group by {column.sql} order by {kind}({measure.sql})"
    query += f"{' desc' if most else ''} limit 1"
    check_with_sqlite(draw, query, (), [(first,)])
    order = f"{'highest' if most else 'lowest'} {'average' if kind == 'avg' else 'total'}"
    yield Draft(
        check=Value(gold=first, also=(spell_out(first),), wrong=tuple(sorted({*values} - {first}))),
        words={
            "many": table.many,
            "column": draw.column_name(column),
            "order": order,
            "measure": draw.column_name(measure),
        },
        loose=("column", "measure"),
        hidden=hidden_words(first),
        facts=query_facts(query),
    )


def offscope(draw: Sampler) -> Iterator[Draft]:
    table = draw.table()
    column = draw.pick(table.of("measure", "category", "date", "year", "text", "label"))
    yield Draft(
        check=Declined(),
        words={"many": table.many, "one": table.one, "column": draw.column_name(column)},
        loose=("column",),
    )
