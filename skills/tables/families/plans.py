"""Plans: query in the words of the question, correct the spelling of values, answer."""

import re
from collections.abc import Generator, Mapping, Sequence

from pydantic import TypeAdapter
from skillstill_training.authoring import Goal, OracleContext, Plan, SeenResult, ToolCall, call

from .grammar import quote

Search = Generator[ToolCall, SeenResult, list[SeenResult]]
CANNOT = "escalate: the tables can only be read and queried."
TEXTS = TypeAdapter(dict[str, str])
LITERALS = TypeAdapter(list[dict[str, str]])


def measure_answer(goal: Goal, context: OracleContext) -> Plan:
    trail = yield from run_query(goal, context)
    if not _literals(goal) or _literals(goal)[0]["stored"]:
        return f"The {goal.facts['short']} is {value(trail[-1])} ({trail[-1].id})."
    return absent_value_answer(goal, trail)


def count_answer(goal: Goal, context: OracleContext) -> Plan:
    *_, seen = yield from run_query(goal, context)
    return f"There are {value(seen)} {goal.words['many']} ({seen.id})."


def percent_answer(goal: Goal, context: OracleContext) -> Plan:
    *_, seen = yield from run_query(goal, context)
    return f"It is {value(seen)} % ({seen.id})."


def distinct_count_answer(goal: Goal, context: OracleContext) -> Plan:
    *_, seen = yield from run_query(goal, context)
    return f"There are {value(seen)} different ones ({seen.id})."


def list_answer(goal: Goal, context: OracleContext) -> Plan:
    *_, seen = yield from run_query(goal, context)
    return f"They are {', '.join(rows(seen))} ({seen.id})."


def rows_answer(goal: Goal, context: OracleContext) -> Plan:
    *_, seen = yield from run_query(goal, context)
    return "\n".join([f"Rows ({seen.id}):", *rows(seen)])


def best_answer(goal: Goal, context: OracleContext) -> Plan:
    *_, seen = yield from run_query(goal, context)
    return f"It is {value(seen)} ({seen.id})."


def lookup_answer(goal: Goal, context: OracleContext) -> Plan:
    if "lacks" in goal.facts:
        seen = context.opening
        return f"There is no {goal.words['column']} in {goal.facts['lacks']} ({seen.id})."
    *trail, seen = yield from run_query(goal, context)
    if not rows(seen):
        return (yield from search_name_part(goal, [*trail, seen], f"{goal.words['one']} {goal.words['name']}"))
    return f"The {goal.facts['column']} is {value(seen)} ({seen.id})."


def follow_answer(goal: Goal, context: OracleContext) -> Plan:
    *trail, seen = yield from run_query(goal, context)
    if not rows(seen):
        return (yield from search_name_part(goal, [*trail, seen], f"{goal.words['parent']} {goal.words['name']}"))
    seen = yield from follow_keys(goal, value(seen))
    return f"There are {value(seen)} {goal.words['many']} ({seen.id})."


def owner_answer(goal: Goal, context: OracleContext) -> Plan:
    *_, seen = yield from run_query(goal, context)
    if "none" in goal.facts:
        return f"There is no {goal.words['one']} {goal.words['key']} ({seen.id} found nothing)."
    seen = yield from follow_keys(goal, value(seen))
    return f"The {goal.facts['column']} is {value(seen)} ({seen.id})."


def which_table_answer(goal: Goal, context: OracleContext) -> Plan:
    """Query each table with such a column, in the order of the overview, until one has such a row."""
    overview = context.opening
    each: Mapping[str, str] = TEXTS.validate_python(goal.facts["each"])
    context.met(len(each))
    tried: list[str] = []
    for table in sorted(each, key=lambda table: _place(overview, table)):
        seen = yield call("sql", query=f"{each[table]}{quote(goal.words['name'])}")
        if rows(seen):
            return f"The {goal.facts['column']} is {value(seen)} ({seen.id})."
        tried.append(seen.id)
    return f"There is no {goal.words['name']} ({', '.join(tried)} found nothing)."


def pick_answer(goal: Goal, context: OracleContext) -> Plan:
    """Query the row with that word in its name and the right clue."""
    trail = yield from run_query(goal, context)
    context.met(int(str(goal.facts["candidates"])))
    if not rows(trail[-1]):
        words, tried = goal.words, ", ".join(seen.id for seen in trail)
        return f"There is no {words['one']} {words['part']} with {goal.facts['by']} {words['clue']} ({tried})."
    if "then" not in goal.facts:
        return f"The {goal.facts['column']} is {value(trail[-1])} ({trail[-1].id})."
    seen = yield from follow_keys(goal, value(trail[-1]))
    return f"There are {value(seen)} {goal.words['many']} ({seen.id})."


def decline(goal: Goal, context: OracleContext) -> Plan:
    yield from ()
    return CANNOT


def run_query(goal: Goal, context: OracleContext) -> Search:
    """Run the goal's query, again if a text is stored otherwise. Return all results, the final one last."""
    query, literals = str(goal.facts["query"]), _literals(goal)
    looked = _table_of(query) if context.detour("look") else ""
    if looked:
        yield call("describe", table=looked)
    texts = [one["stored"] or one["said"] if one["table"] == looked else one["said"] for one in literals]
    trail = [(yield call("sql", query=fill_query(query, texts)))]
    for text, one in zip(texts, literals, strict=True):
        if text != one["stored"] and "second" not in goal.facts:
            trail += yield from retry_with_stored(query, one, trail[-1], looked)
    return trail


def retry_with_stored(query: str, literal: Mapping[str, str], seen: SeenResult, looked: str) -> Search:
    """Run the query again with the text as it is stored, which the result or the table's values show."""
    stored, trail = literal["stored"], []
    if (not stored or f"{stored!r}" not in seen.text) and literal["table"] != looked:
        trail.append((yield call("describe", table=literal["table"])))
        if stored not in trail[-1].text:
            raise ValueError(f"{stored!r} is not among the values that are shown")
    if stored:
        trail.append((yield call("sql", query=fill_query(query, [stored]))))
    return trail


def search_name_part(goal: Goal, trail: Sequence[SeenResult], who: str) -> Plan:
    """Search for a part of the name, then answer that there is none."""
    seen = yield call("sql", query=str(goal.facts["second"]))
    return f"There is no {who} ({trail[-1].id}, {seen.id})."


def follow_keys(goal: Goal, key: str) -> Generator[ToolCall, SeenResult, SeenResult]:
    """Follow a key to its row, or to the rows that refer to it."""
    queries = goal.facts["then"]
    assert isinstance(queries, list)
    for query in queries:
        seen = yield call("sql", query=str(query).format(key=key if re.fullmatch(r"-?\d+", key) else quote(key)))
        key = value(seen)
    return seen


def absent_value_answer(goal: Goal, trail: Sequence[SeenResult]) -> str:
    said = _literals(goal)[0]["said"]
    return f"There is no {goal.facts['column']} {said} ({', '.join(seen.id for seen in trail)})."


def rows(seen: SeenResult) -> Sequence[str]:
    """Return the rows of a result. Raise ValueError if it is an error or does not show all."""
    count = int(seen.lines[0].split()[0])
    shown = seen.lines[1 : count + 1]
    if len(shown) < count or any(line.startswith("…") for line in shown):
        raise ValueError(f"not all rows are shown: {seen.lines[0]}")
    return shown


def value(seen: SeenResult) -> str:
    (row,) = rows(seen)
    return row


def fill_query(query: str, texts: Sequence[str]) -> str:
    return query.format(*map(quote, texts))


def _table_of(query: str) -> str:
    return str(re.findall(r"\bfrom (\w+)", query)[0])


def _place(overview: SeenResult, table: str) -> int:
    match = re.search(rf"(?:^|: |  ){re.escape(table)}, \d+ rows", overview.text, re.MULTILINE)
    if match is None:
        raise ValueError(f"the overview does not show {table}")
    return match.start()


def _literals(goal: Goal) -> Sequence[Mapping[str, str]]:
    return LITERALS.validate_python(goal.facts["literals"])
