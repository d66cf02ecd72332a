"""Plans of questions that one look answers, with the way back where a name was said loosely."""

from collections.abc import Generator
from typing import Any

from skillstill.types import ToolCall
from skillstill_training.goal import Goal
from skillstill_training.plan import Hand, Plan, Seen, call

from .reading import found_nothing, has_row, is_shown, row_at, row_of

Looks = Generator[ToolCall, Seen, list[Seen]]


def first(goal: Goal, hand: Hand) -> Plan:
    seen = yield from _by_component(goal, hand)
    if not has_row(seen[-1], _component(goal)):
        return _none_of(goal, seen)
    place = row_of(seen[-1], _component(goal))[1]
    return f"The first {goal.words['entry']} of {_component(goal)} is at {place}."


def component_count(goal: Goal, hand: Hand) -> Plan:
    seen = yield from _by_component(goal, hand)
    if not has_row(seen[-1], _component(goal)):
        return _none_of(goal, seen)
    count = row_of(seen[-1], _component(goal))[0]
    return f"{_component(goal)} has {_counted(count, goal)} ({seen[-1].id})."


def last(goal: Goal, hand: Hand) -> Plan:
    said = goal.words["component"]
    asked = f"{said} service" if hand.detour("miss") else said
    seen = [(yield call("entries", pattern=asked, **_level(goal), last=True))]
    place = str(goal.facts.get("place", ""))
    if not is_shown(seen[-1], place):  # nothing, or only others that mention it
        seen.append((yield call("tally", by="component", **_level(goal))))
        if not place:
            return _none_of(goal, seen)
        seen.append((yield call("entries", pattern=_component(goal), **_level(goal), last=True)))
    row_at(seen[-1], place)
    return f"The last {goal.words['entry']} of {_component(goal)} is at {place}."


def level_count(goal: Goal, hand: Hand) -> Plan:
    seen = yield call("tally", by="level", **_scope(goal))
    if not goal.facts["count"]:
        return f"There are no {goal.words['entries']} {goal.words['where']} ({seen.id} found nothing)."
    level = str(goal.facts["level"])
    count = row_of(seen, level)[0] if level else seen.text.split(" ", 1)[0]
    return f"There {_are(count, goal)} {goal.words['where']} ({seen.id})."


def noisiest(goal: Goal, hand: Hand) -> Plan:
    seen = yield call("tally", by="component", **_level(goal), **_scope(goal))
    name = str(goal.facts["component"])
    return f"{name} has most {goal.words['entries']}: {row_of(seen, name)[0]} ({seen.id})."


def top_error(goal: Goal, hand: Hand) -> Plan:
    seen = yield call("tally", by="message", **_level(goal), **_scope(goal))
    count, _, rest = seen.lines[1].partition(" × ")
    return f"The most frequent {goal.words['entry']}, {count} times, is first at {rest.rpartition(' ')[2]} ({seen.id})."


def burst(goal: Goal, hand: Hand) -> Plan:
    seen = yield call("tally", by="minute", **_level(goal), **_scope(goal))
    most = next(line for line in seen.lines if line.startswith(f"most in {goal.facts['minute']}: "))
    count = most.partition(": ")[2].partition(",")[0]
    return f"Most {goal.words['entries']} are in minute {goal.facts['minute']}: {count} ({seen.id})."


def request(goal: Goal, hand: Hand) -> Plan:
    seen = yield call("tally", by="component", pattern=goal.words["request"])
    if found_nothing(seen):
        return f"There is no {goal.words['request']} ({seen.id} found nothing)."
    names = goal.facts["components"]
    assert isinstance(names, list)
    shown = sorted(map(str, names), key=lambda name: seen.text.index(f"× {name},"))
    return f"It passed {', '.join(shown)} ({seen.id})."


def _by_component(goal: Goal, hand: Hand) -> Looks:
    """Counted by component, of the name alone; where that is nowhere, of all."""
    said = goal.words["component"]
    asked = f"{said} service" if hand.detour("miss") else said
    seen = [(yield call("tally", by="component", **_level(goal), pattern=asked))]
    if found_nothing(seen[-1]) or ("component" in goal.facts and not has_row(seen[-1], _component(goal))):
        seen.append((yield call("tally", by="component", **_level(goal))))
    return seen


def _component(goal: Goal) -> str:
    return str(goal.facts.get("component", goal.words["component"]))


def _none_of(goal: Goal, seen: list[Seen]) -> str:
    """That there is none. Raises LookupError where a result shows one."""
    if has_row(seen[-1], _component(goal)):
        raise LookupError("it is there")
    tried = ", ".join(one.id for one in seen)
    return f"There is no {goal.words['entry']} of {goal.words['component']} ({tried} found nothing)."


def _level(goal: Goal) -> dict[str, Any]:
    level = str(goal.facts.get("level", "")).lower()
    return {"level": level} if level else {}


def _scope(goal: Goal) -> dict[str, Any]:
    scope = goal.facts["scope"]
    assert isinstance(scope, dict)
    return scope


def _counted(count: str, goal: Goal) -> str:
    return f"{count} {goal.words['entry'] if count == '1' else goal.words['entries']}"


def _are(count: str, goal: Goal) -> str:
    return f"{'is' if count == '1' else 'are'} {_counted(count, goal)}"
