"""Plans of questions that take one call, with further calls if a name is not found."""

from typing import Any

from skillstill_training.authoring import Goal, OracleContext, Plan, SeenResult, ToolCall, call

from .result_rows import absence_answer, first_place, found_nothing, has_row, is_shown, row_at, row_of


def first(goal: Goal, context: OracleContext) -> Plan:
    seen = yield _component_call(goal)
    if not has_row(seen, _component(goal)):
        return absence_answer([seen])
    return f"It is at {first_place(row_of(seen, _component(goal)))}."


def component_count(goal: Goal, context: OracleContext) -> Plan:
    seen = yield _component_call(goal)
    if not has_row(seen, _component(goal)):
        return absence_answer([seen])
    return row_of(seen, _component(goal))


def last(goal: Goal, context: OracleContext) -> Plan:
    component = goal.words["component"]
    seen = [(yield call("entries", pattern=component, **_level(goal), last=True))]
    place = str(goal.facts.get("place", ""))
    if found_nothing(seen[-1]):
        return absence_answer(seen)
    if not is_shown(seen[-1], place):  # only entries of others that mention it
        seen.append((yield call("tally", by="component", **_level(goal))))
        if not place:
            return _absence_of_component(goal, seen)
        seen.append((yield call("entries", pattern=_component(goal), **_level(goal), last=True)))
    return row_at(seen[-1], place)


def level_count(goal: Goal, context: OracleContext) -> Plan:
    seen = yield call("tally", by="level", **_level(goal), **_scope(goal))
    if not goal.facts["count"]:
        return absence_answer([seen])
    return row_of(seen, str(goal.facts["level"])) if goal.facts["level"] else seen.lines[1]


def earliest(goal: Goal, context: OracleContext) -> Plan:
    seen = yield call("entries", **_level(goal), **_scope(goal))
    return absence_answer([seen]) if found_nothing(seen) else row_at(seen, str(goal.facts["place"]))


def latest(goal: Goal, context: OracleContext) -> Plan:
    seen = yield call("entries", **_level(goal), **_scope(goal), last=True)
    return absence_answer([seen]) if found_nothing(seen) else row_at(seen, str(goal.facts["place"]))


def kinds(goal: Goal, context: OracleContext) -> Plan:
    seen = yield call("tally", by="message", **_level(goal), **_scope(goal))
    if found_nothing(seen):
        return absence_answer([seen])
    places = goal.facts["places"]
    assert isinstance(places, list)
    rows = [line for line in seen.lines[1:] if "×" in line]
    if sorted(map(first_place, rows)) != places:
        raise LookupError("its kinds are others")
    return "\n".join(rows)


def noisiest(goal: Goal, context: OracleContext) -> Plan:
    seen = yield call("tally", by="component", **_level(goal), **_scope(goal))
    return row_of(seen, str(goal.facts["component"]))


def top_error(goal: Goal, context: OracleContext) -> Plan:
    seen = yield call("tally", by="message", **_level(goal), **_scope(goal))
    return seen.lines[1]


def burst(goal: Goal, context: OracleContext) -> Plan:
    seen = yield call("tally", by="minute", **_level(goal), **_scope(goal))
    return next(line for line in seen.lines if line.startswith(f"most in {goal.facts['minute']}: "))


def request(goal: Goal, context: OracleContext) -> Plan:
    seen = yield call("tally", by="component", pattern=goal.words["request"])
    if found_nothing(seen):
        return absence_answer([seen])
    names = goal.facts["components"]
    assert isinstance(names, list)
    return "\n".join(sorted((row_of(seen, str(name)) for name in names), key=seen.text.index))


def _component_call(goal: Goal) -> ToolCall:
    """Return the call that counts a component's entries. The tool finds a name in any spelling."""
    return call("tally", by="component", **_level(goal), pattern=goal.words["component"])


def _component(goal: Goal) -> str:
    return str(goal.facts.get("component", goal.words["component"]))


def _absence_of_component(goal: Goal, seen: list[SeenResult]) -> str:
    """Answer that there is none. Raise LookupError if the last result shows one."""
    if has_row(seen[-1], _component(goal)):
        raise LookupError("it is there")
    return absence_answer(seen)


def _level(goal: Goal) -> dict[str, Any]:
    level = str(goal.facts.get("level", "")).lower()
    return {"level": level} if level else {}


def _scope(goal: Goal) -> dict[str, Any]:
    scope = goal.facts["scope"]
    assert isinstance(scope, dict)
    return scope
