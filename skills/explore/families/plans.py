"""Plans of questions about one definition: one call, with the name as the question says it."""

import re
from collections.abc import Generator
from dataclasses import dataclass, field

from skillstill_training.authoring import Goal, OracleContext, Plan, SeenResult, ToolCall, call

from .names import last_part, outline_target


@dataclass(frozen=True, slots=True)
class CodeLook:
    """The outcome of looking up a name: the result that shows it, if any, and the receipts of results that do not."""

    seen: SeenResult | None
    missed: tuple[str, ...] = field(default=())


LookSteps = Generator[ToolCall, SeenResult, CodeLook]


def look_up(name: str) -> LookSteps:
    """Look up a name as the question says it: the tool accepts any spelling."""
    seen = yield call("outline", target=outline_target(name))
    return CodeLook(None, (seen.id,)) if seen.text.startswith("no definition") else CodeLook(seen)


def absence_answer(missed: tuple[str, ...]) -> str:
    return f"There is none ({', '.join(missed)} found nothing)."


def place(goal: Goal, seen: SeenResult) -> str:
    """Return `path:line` of the goal's definition. Raise LookupError if this result does not show it."""
    path, line = goal.facts["path"], goal.facts["line"]
    if not any(span.path == path and span.first == line for span in seen.places):
        raise LookupError(f"{path}:{line} is not shown")
    return f"{path}:{line}"


def definition_line(goal: Goal, seen: SeenResult) -> str:
    """Return the line of this result about the goal's definition. Raise LookupError if there is none."""
    return line_at(seen, str(goal.facts["path"]), int(str(goal.facts["line"])))


def line_at(seen: SeenResult, path: str, line: int) -> str:
    """Return the line of this result about a place. Raise LookupError if there is none."""
    if not (text := seen.line_of(path, line)):
        raise LookupError(f"{path}:{line} is not shown")
    return text


def last_name(goal: Goal) -> str:
    """Return the last part of the goal's name, as a result shows it."""
    return last_part(str(goal.facts["name"]))


def definition(goal: Goal, context: OracleContext) -> Plan:
    """Answer with the line of the definition, which also contains its parameters or bases."""
    look = yield from look_up(goal.words["name"])
    return definition_line(goal, look.seen) if look.seen else absence_answer(look.missed)


def default(goal: Goal, context: OracleContext) -> Plan:
    look = yield from look_up(goal.words["name"])
    if look.seen is None:
        return absence_answer(look.missed)
    return f"It is {shown_value(goal, look.seen)} ({place(goal, look.seen)})."


def shown_value(goal: Goal, seen: SeenResult) -> str:
    """Return the goal's value with the quotes of this result. Raise LookupError if it is not shown."""
    value = str(goal.facts["value"])
    spelled = [text for text in (value, value.replace("'", '"')) if text in seen.text]
    if not spelled:
        raise LookupError(f"{value} is not shown")
    return spelled[0]


def raises(goal: Goal, context: OracleContext) -> Plan:
    look = yield from look_up(goal.words["name"])
    return raises_line(goal, look.seen) if look.seen else absence_answer(look.missed)


def raises_line(goal: Goal, seen: SeenResult) -> str:
    """Return the line about the exceptions. Raise LookupError if one of them is not shown."""
    raised = fact_texts(goal, "raises")
    shown = next((line for line in seen.lines if ": raises " in line), "")
    if not all(re.search(rf": (?:raises )?{re.escape(one)}(?:;|$)", shown) for one in raised):
        raise LookupError("not all exceptions are shown")
    return shown if raised else f"It raises nothing itself ({place(goal, seen)})."


def fact_texts(goal: Goal, fact: str) -> list[str]:
    values = goal.facts[fact]
    return [str(one) for one in values] if isinstance(values, list) else []
