"""How a chain is followed: each call asks for the name that the result before it showed."""

from collections.abc import Generator, Mapping

from skillstill_training.authoring import Goal, OracleContext, Plan, SeenResult, ToolCall, call

from .names import as_identifier, as_said, listed
from .plans import look_up, name, shown_at, texts, told_raises

Following = Generator[ToolCall, SeenResult, SeenResult]


def inherited(goal: Goal, context: OracleContext) -> Plan:
    """One call: the tool knows what a class has from above."""
    seen = yield call("outline", target=as_said(goal.words["method"]), of=as_said(goal.words["name"]))
    return shown_at(goal, seen)


def ancestor(goal: Goal, context: OracleContext) -> Plan:
    """From the class to its parent, until one has none of this code base."""
    seen = yield from _definition(goal.words["name"])
    descent = goal.facts["descent"]
    for above in descent[1:] if isinstance(descent, list) else ():
        wanted = str(above[0]) if isinstance(above, list) else ""
        if wanted not in seen.text:
            raise LookupError(f"the base {wanted} is not shown")
        seen = yield call("outline", target=wanted)
    return shown_at(goal, seen)


def _definition(said: str) -> Following:
    look = yield from look_up(said)
    if look.seen is None:
        raise LookupError(f"{said} is not found")
    return look.seen


def mentioned(goal: Goal, context: OracleContext) -> Plan:
    """What the definition names: the constant that is a default, the class that is returned."""
    seen = yield from _definition(goal.words["name"])
    seen = yield from _named_in(goal, seen)
    return shown_at(goal, seen)


def used(goal: Goal, context: OracleContext) -> Plan:
    """What the body names: a constant, a function that does the work."""
    body = yield from _body(goal, context)
    seen = yield from _named_in(goal, body)
    return shown_at(goal, seen)


def delegated_raises(goal: Goal, context: OracleContext) -> Plan:
    body = yield from _body(goal, context)
    seen = yield from _named_in(goal, body)
    return told_raises(goal, seen)


def _body(goal: Goal, context: OracleContext) -> Following:
    """The lines of the function that the question names."""
    seen = yield from _definition(goal.words["name"])
    through = goal.facts["through"]
    if not isinstance(through, Mapping) or f"{through['path']}:{through['line']}" not in seen.text:
        raise LookupError("the function is not shown")
    return (yield call("read", path=through["path"], line=through["line"]))


def _named_in(goal: Goal, seen: SeenResult) -> Following:
    """The definition of what this result names."""
    if name(goal) not in seen.text:
        raise LookupError(f"{name(goal)} is not shown")
    return (yield call("outline", target=name(goal)))


def overrides(goal: Goal, context: OracleContext) -> Plan:
    """The members of the class, then those of its parent: what both list."""
    own = yield from _definition(goal.words["name"])
    theirs = yield call("outline", target=_parent(goal))
    gold = texts(goal, "gold")
    if not all(f"{name}:" in seen.text for name in gold for seen in (own, theirs)):
        raise LookupError("not all methods are shown")
    return f"`{as_identifier(goal.words['name'])}` overrides {listed(gold)} ({own.id}, {theirs.id})."


def _parent(goal: Goal) -> str:
    descent = goal.facts["descent"]
    above = descent[1] if isinstance(descent, list) else ""
    return str(above[0]) if isinstance(above, list) else ""
