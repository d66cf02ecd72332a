"""How look-ups are solved: by one call, with the name as it was said."""

import re
from collections.abc import Generator
from dataclasses import dataclass, field

from skillstill_training.authoring import Goal, OracleContext, Plan, SeenResult, ToolCall, call

from .names import as_said, last


@dataclass(frozen=True, slots=True)
class CodeLook:
    """What looking for a name came to: the result that shows it, if any, and the receipts of those that do not."""

    seen: SeenResult | None
    missed: tuple[str, ...] = field(default=())


Looking = Generator[ToolCall, SeenResult, CodeLook]


def look_up(said: str) -> Looking:
    """The definition of a name as it was said: the tool knows it in any spelling, or says that there is none."""
    seen = yield call("outline", target=as_said(said))
    return CodeLook(None, (seen.id,)) if seen.text.startswith("no definition") else CodeLook(seen)


def absent(missed: tuple[str, ...]) -> str:
    return f"There is none ({', '.join(missed)} found nothing)."


def place(goal: Goal, seen: SeenResult) -> str:
    """`path:line` of the goal's definition as this result shows it. Raises LookupError."""
    path, line = goal.facts["path"], goal.facts["line"]
    if not any(span.path == path and span.first == line for span in seen.places):
        raise LookupError(f"{path}:{line} is not shown")
    return f"{path}:{line}"


def shown_at(goal: Goal, seen: SeenResult) -> str:
    """The line of this result that shows the goal's definition. Raises LookupError."""
    return line_at(seen, str(goal.facts["path"]), int(str(goal.facts["line"])))


def line_at(seen: SeenResult, path: str, line: int) -> str:
    """The line of this result about a place. Raises LookupError."""
    if not (found := seen.line_of(path, line)):
        raise LookupError(f"{path}:{line} is not shown")
    return found


def name(goal: Goal) -> str:
    """The last part of the name that the result shows."""
    return last(str(goal.facts["name"]))


def definition(goal: Goal, context: OracleContext) -> Plan:
    """Also of what stands in its line: parameters, bases."""
    look = yield from look_up(goal.words["name"])
    return shown_at(goal, look.seen) if look.seen else absent(look.missed)


def default(goal: Goal, context: OracleContext) -> Plan:
    look = yield from look_up(goal.words["name"])
    if look.seen is None:
        return absent(look.missed)
    return f"It is {shown(goal, look.seen)} ({place(goal, look.seen)})."


def shown(goal: Goal, seen: SeenResult) -> str:
    """The goal's value with the quotes that the result shows. Raises LookupError."""
    value = str(goal.facts["value"])
    spelled = [text for text in (value, value.replace("'", '"')) if text in seen.text]
    if not spelled:
        raise LookupError(f"{value} is not shown")
    return spelled[0]


def raises(goal: Goal, context: OracleContext) -> Plan:
    look = yield from look_up(goal.words["name"])
    return told_raises(goal, look.seen) if look.seen else absent(look.missed)


def told_raises(goal: Goal, seen: SeenResult) -> str:
    """The line of the exceptions. Raises LookupError where one is not shown."""
    raised = texts(goal, "raises")
    shown = next((line for line in seen.lines if ": raises " in line), "")
    if not all(re.search(rf": (?:raises )?{re.escape(one)}(?:;|$)", shown) for one in raised):
        raise LookupError("not all exceptions are shown")
    return shown if raised else f"It raises nothing itself ({place(goal, seen)})."


def texts(goal: Goal, fact: str) -> list[str]:
    found = goal.facts[fact]
    return [str(one) for one in found] if isinstance(found, list) else []
