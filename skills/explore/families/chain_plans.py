"""Plans of questions that take several calls: each call asks for a name that the previous result showed."""

from collections.abc import Generator, Mapping

from skillstill_training.authoring import Goal, OracleContext, Plan, SeenResult, ToolCall, call

from .names import as_identifier, format_names, outline_target
from .plans import definition_line, fact_texts, last_name, look_up, raises_line

Calls = Generator[ToolCall, SeenResult, SeenResult]


def inherited(goal: Goal, context: OracleContext) -> Plan:
    """Make one call: the tool knows what a class inherits."""
    seen = yield call("outline", target=outline_target(goal.words["method"]), of=outline_target(goal.words["name"]))
    return definition_line(goal, seen)


def ancestor(goal: Goal, context: OracleContext) -> Plan:
    """Go from the class to its parent, until a class has no parent in this code base."""
    seen = yield from _definition(goal.words["name"])
    descent = goal.facts["descent"]
    for above in descent[1:] if isinstance(descent, list) else ():
        wanted = str(above[0]) if isinstance(above, list) else ""
        if wanted not in seen.text:
            raise LookupError(f"the base {wanted} is not shown")
        seen = yield call("outline", target=wanted)
    return definition_line(goal, seen)


def _definition(name: str) -> Calls:
    look = yield from look_up(name)
    if look.seen is None:
        raise LookupError(f"{name} is not found")
    return look.seen


def named_in_definition(goal: Goal, context: OracleContext) -> Plan:
    """Look up what the definition names: the constant of a default, the returned class."""
    seen = yield from _definition(goal.words["name"])
    seen = yield from _look_up_named(goal, seen)
    return definition_line(goal, seen)


def named_in_body(goal: Goal, context: OracleContext) -> Plan:
    """Look up what the body names: a constant, a called function."""
    body = yield from _body(goal, context)
    seen = yield from _look_up_named(goal, body)
    return definition_line(goal, seen)


def delegated_raises(goal: Goal, context: OracleContext) -> Plan:
    body = yield from _body(goal, context)
    seen = yield from _look_up_named(goal, body)
    return raises_line(goal, seen)


def _body(goal: Goal, context: OracleContext) -> Calls:
    """Read the function that the question names."""
    seen = yield from _definition(goal.words["name"])
    through = goal.facts["through"]
    if not isinstance(through, Mapping) or f"{through['path']}:{through['line']}" not in seen.text:
        raise LookupError("the function is not shown")
    return (yield call("read", path=through["path"], line=through["line"]))


def _look_up_named(goal: Goal, seen: SeenResult) -> Calls:
    """Look up the goal's definition, if this result names it. Raise LookupError if it does not."""
    if last_name(goal) not in seen.text:
        raise LookupError(f"{last_name(goal)} is not shown")
    return (yield call("outline", target=last_name(goal)))


def overrides(goal: Goal, context: OracleContext) -> Plan:
    """List the members of the class and those of its parent; answer with the methods that both have."""
    own = yield from _definition(goal.words["name"])
    theirs = yield call("outline", target=_parent(goal))
    gold = fact_texts(goal, "gold")
    if not all(f"{name}:" in seen.text for name in gold for seen in (own, theirs)):
        raise LookupError("not all methods are shown")
    return f"`{as_identifier(goal.words['name'])}` overrides {format_names(gold)} ({own.id}, {theirs.id})."


def _parent(goal: Goal) -> str:
    descent = goal.facts["descent"]
    above = descent[1] if isinstance(descent, list) else ""
    return str(above[0]) if isinstance(above, list) else ""
