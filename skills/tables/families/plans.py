"""How each kind of question is answered: look what there is, query in the words of the question, mend, answer."""

import re
from collections.abc import Generator, Mapping, Sequence

from pydantic import TypeAdapter
from skillstill_training.authoring import Goal, OracleContext, Plan, SeenResult, ToolCall, call

from .grammar import quoted

Search = Generator[ToolCall, SeenResult, list[SeenResult]]
CANNOT = "escalate: the tables can only be read and queried."
TEXTS = TypeAdapter(dict[str, str])
LITERALS = TypeAdapter(list[dict[str, str]])


def valued(goal: Goal, context: OracleContext) -> Plan:
    trail = yield from found(goal, context)
    if not _literals(goal) or _literals(goal)[0]["stored"]:
        return f"The {goal.facts['short']} is {value(trail[-1])} ({trail[-1].id})."
    return never(goal, trail)


def counted(goal: Goal, context: OracleContext) -> Plan:
    *_, seen = yield from found(goal, context)
    return f"There are {value(seen)} {goal.words['many']} ({seen.id})."


def percent(goal: Goal, context: OracleContext) -> Plan:
    *_, seen = yield from found(goal, context)
    return f"It is {value(seen)} % ({seen.id})."


def different(goal: Goal, context: OracleContext) -> Plan:
    *_, seen = yield from found(goal, context)
    return f"There are {value(seen)} different ones ({seen.id})."


def listed(goal: Goal, context: OracleContext) -> Plan:
    *_, seen = yield from found(goal, context)
    return f"They are {', '.join(rows(seen))} ({seen.id})."


def tabled(goal: Goal, context: OracleContext) -> Plan:
    *_, seen = yield from found(goal, context)
    return "\n".join([f"Rows ({seen.id}):", *rows(seen)])


def best(goal: Goal, context: OracleContext) -> Plan:
    *_, seen = yield from found(goal, context)
    return f"It is {value(seen)} ({seen.id})."


def looked_up(goal: Goal, context: OracleContext) -> Plan:
    if "lacks" in goal.facts:
        seen = context.opening
        return f"There is no {goal.words['column']} in {goal.facts['lacks']} ({seen.id})."
    *trail, seen = yield from found(goal, context)
    if not rows(seen):
        return (yield from nobody(goal, [*trail, seen], f"{goal.words['one']} {goal.words['name']}"))
    return f"The {goal.facts['column']} is {value(seen)} ({seen.id})."


def followed(goal: Goal, context: OracleContext) -> Plan:
    *trail, seen = yield from found(goal, context)
    if not rows(seen):
        return (yield from nobody(goal, [*trail, seen], f"{goal.words['parent']} {goal.words['name']}"))
    seen = yield from onward(goal, value(seen))
    return f"There are {value(seen)} {goal.words['many']} ({seen.id})."


def owned(goal: Goal, context: OracleContext) -> Plan:
    *_, seen = yield from found(goal, context)
    if "none" in goal.facts:
        return f"There is no {goal.words['one']} {goal.words['key']} ({seen.id} found nothing)."
    seen = yield from onward(goal, value(seen))
    return f"The {goal.facts['column']} is {value(seen)} ({seen.id})."


def sought(goal: Goal, context: OracleContext) -> Plan:
    """Each table that has such a column, in the order of the overview, until one has such a row."""
    overview = context.opening
    each: Mapping[str, str] = TEXTS.validate_python(goal.facts["each"])
    context.met(len(each))
    tried: list[str] = []
    for table in sorted(each, key=lambda table: _place(overview, table)):
        seen = yield call("sql", query=f"{each[table]}{quoted(goal.words['name'])}")
        if rows(seen):
            return f"The {goal.facts['column']} is {value(seen)} ({seen.id})."
        tried.append(seen.id)
    return f"There is no {goal.words['name']} ({', '.join(tried)} found nothing)."


def picked(goal: Goal, context: OracleContext) -> Plan:
    """Of all rows of that name the one of the right kind, if there is one."""
    trail = yield from found(goal, context)
    context.met(int(str(goal.facts["candidates"])))
    if not rows(trail[-1]):
        words, tried = goal.words, ", ".join(seen.id for seen in trail)
        return f"There is no {words['one']} {words['part']} with {goal.facts['by']} {words['clue']} ({tried})."
    if "then" not in goal.facts:
        return f"The {goal.facts['column']} is {value(trail[-1])} ({trail[-1].id})."
    seen = yield from onward(goal, value(trail[-1]))
    return f"There are {value(seen)} {goal.words['many']} ({seen.id})."


def declined(goal: Goal, context: OracleContext) -> Plan:
    yield from ()
    return CANNOT


def found(goal: Goal, context: OracleContext) -> Search:
    """What the goal's query shows, at the end of all that led to it: a text that is stored otherwise is mended."""
    query, literals = str(goal.facts["query"]), _literals(goal)
    looked = _table_of(query) if context.detour("look") else ""
    if looked:
        yield call("describe", table=looked)
    known = [one["stored"] or one["said"] if one["table"] == looked else one["said"] for one in literals]
    trail = [(yield call("sql", query=filled(query, known)))]
    for text, one in zip(known, literals, strict=True):
        if text != one["stored"] and "second" not in goal.facts:
            trail += yield from mended(query, one, trail[-1], looked)
    return trail


def mended(query: str, literal: Mapping[str, str], seen: SeenResult, looked: str) -> Search:
    """The query again with the text as it is stored, which the result has told already, or the table's values tell."""
    stored, trail = literal["stored"], []
    if (not stored or f"{stored!r}" not in seen.text) and literal["table"] != looked:
        trail.append((yield call("describe", table=literal["table"])))
        if stored not in trail[-1].text:
            raise ValueError(f"{stored!r} is not among the values that are shown")
    if stored:
        trail.append((yield call("sql", query=filled(query, [stored]))))
    return trail


def nobody(goal: Goal, trail: Sequence[SeenResult], who: str) -> Plan:
    """Nothing of that name: a part of it is tried, and the answer is a no."""
    seen = yield call("sql", query=str(goal.facts["second"]))
    return f"There is no {who} ({trail[-1].id}, {seen.id})."


def onward(goal: Goal, key: str) -> Generator[ToolCall, SeenResult, SeenResult]:
    """From a key to what its row, or the rows that refer to it, show."""
    queries = goal.facts["then"]
    assert isinstance(queries, list)
    for query in queries:
        seen = yield call("sql", query=str(query).format(key=key if re.fullmatch(r"-?\d+", key) else quoted(key)))
        key = value(seen)
    return seen


def never(goal: Goal, trail: Sequence[SeenResult]) -> str:
    said = _literals(goal)[0]["said"]
    return f"There is no {goal.facts['column']} {said} ({', '.join(seen.id for seen in trail)})."


def rows(seen: SeenResult) -> Sequence[str]:
    """The rows of a result; raises ValueError where it is an error, or shows not all."""
    count = int(seen.lines[0].split()[0])
    shown = seen.lines[1 : count + 1]
    if len(shown) < count or any(line.startswith("…") for line in shown):
        raise ValueError(f"not all rows are shown: {seen.lines[0]}")
    return shown


def value(seen: SeenResult) -> str:
    (row,) = rows(seen)
    return row


def filled(query: str, texts: Sequence[str]) -> str:
    return query.format(*map(quoted, texts))


def _table_of(query: str) -> str:
    return str(re.findall(r"\bfrom (\w+)", query)[0])


def _place(overview: SeenResult, table: str) -> int:
    found = re.search(rf"(?:^|: |  ){re.escape(table)}, \d+ rows", overview.text, re.MULTILINE)
    if found is None:
        raise ValueError(f"the overview does not show {table}")
    return found.start()


def _literals(goal: Goal) -> Sequence[Mapping[str, str]]:
    return LITERALS.validate_python(goal.facts["literals"])
