"""How look-ups are solved: by one call, with the name as it was said."""

from collections.abc import Generator
from dataclasses import dataclass, field

from skillstill.types import ToolCall
from skillstill_training.goal import Goal
from skillstill_training.plan import Hand, Plan, Seen, call

from .names import as_said, last, listed


@dataclass(frozen=True, slots=True)
class Look:
    """What looking for a name came to: the result that shows it, if any, and the receipts of those that do not."""

    seen: Seen | None
    missed: tuple[str, ...] = field(default=())


Looking = Generator[ToolCall, Seen, Look]


def look_up(said: str) -> Looking:
    """The definition of a name as it was said: the tool knows it in any spelling, or says that there is none."""
    seen = yield call("outline", target=as_said(said))
    return Look(None, (seen.id,)) if seen.text.startswith("no definition") else Look(seen)


def absent(said: str, look: Look) -> str:
    return f"There is no `{said}` ({', '.join(look.missed)} found nothing)."


def place(goal: Goal, seen: Seen) -> str:
    """`path:line` of the goal's definition as this result shows it. Raises LookupError."""
    path, line = goal.facts["path"], goal.facts["line"]
    if not any(span.path == path and span.first == line for span in seen.places):
        raise LookupError(f"{path}:{line} is not shown")
    return f"{path}:{line}"


def name(goal: Goal) -> str:
    """The last part of the name that the result shows."""
    return last(str(goal.facts["name"]))


def definition(goal: Goal, hand: Hand) -> Plan:
    look = yield from look_up(goal.words["name"])
    if look.seen is None:
        return absent(goal.words["name"], look)
    return f"`{name(goal)}` is defined at {place(goal, look.seen)}."


def signature(goal: Goal, hand: Hand) -> Plan:
    look = yield from look_up(goal.words["name"])
    if look.seen is None:
        return absent(goal.words["name"], look)
    return f"`{name(goal)}` takes {listed(texts(goal, 'parameters'))} ({place(goal, look.seen)})."


def default(goal: Goal, hand: Hand) -> Plan:
    look = yield from look_up(goal.words["name"])
    if look.seen is None:
        return absent(goal.words["name"], look)
    return f"`{goal.words['parameter']}` defaults to {shown(goal, look.seen)} ({place(goal, look.seen)})."


def shown(goal: Goal, seen: Seen) -> str:
    """The goal's value with the quotes that the result shows. Raises LookupError."""
    value = str(goal.facts["value"])
    spelled = [text for text in (value, value.replace("'", '"')) if text in seen.text]
    if not spelled:
        raise LookupError(f"{value} is not shown")
    return spelled[0]


def bases(goal: Goal, hand: Hand) -> Plan:
    look = yield from look_up(goal.words["name"])
    if look.seen is None:
        return absent(goal.words["name"], look)
    return f"`{name(goal)}` derives from {listed(texts(goal, 'bases'))} ({place(goal, look.seen)})."


def raises(goal: Goal, hand: Hand) -> Plan:
    look = yield from look_up(goal.words["name"])
    if look.seen is None:
        return absent(goal.words["name"], look)
    return told_raises(name(goal), texts(goal, "raises"), place(goal, look.seen))


def told_raises(function: str, raised: list[str], where: str) -> str:
    return f"`{function}` raises {listed(raised) or 'nothing'} itself ({where})."


def texts(goal: Goal, fact: str) -> list[str]:
    found = goal.facts[fact]
    return [str(one) for one in found] if isinstance(found, list) else []
