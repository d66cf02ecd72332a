"""How one of several is chosen: by what a list shows of it, by reading one after the other, by what surrounds a hit."""

from collections.abc import Generator

from skillstill_training.authoring import Goal, OracleContext, Plan, SeenResult, ToolCall, call

from .names import as_identifier, as_said
from .plans import absent, line_at, place, shown_at, texts


def by_signature(goal: Goal, context: OracleContext) -> Plan:
    """Which one is meant is told to the tool, as it was said."""
    seen = yield call("outline", target=as_said(goal.words["name"]), of=goal.words["which"])
    context.met(len(seen.places))
    return shown_at(goal, seen)


def by_body(goal: Goal, context: OracleContext) -> Plan:
    """Each is read in the order of the list, until one is as the question says."""
    seen = yield call("outline", target=as_said(goal.words["name"]))
    context.met(len(seen.places))
    where = place(goal, seen)
    for one in seen.places:
        yield call("read", path=one.path, line=one.first)
        if f"{one.path}:{one.first}" == where:
            break
    return shown_at(goal, seen)


def callers(goal: Goal, context: OracleContext) -> Plan:
    seen = yield call("search", pattern=f"{as_identifier(goal.words['name'])}(")
    return (yield from _used_at(goal, seen))


def importers(goal: Goal, context: OracleContext) -> Plan:
    seen = yield call("search", pattern=f"import .*{as_identifier(goal.words['name'])}")
    return (yield from _used_at(goal, seen))


def _used_at(goal: Goal, seen: SeenResult) -> Plan:
    """A line for each use; that there is none, after a look at the name too."""
    if not seen.text.startswith("no hits"):
        return "\n".join(_shown(goal, seen))
    other = yield call("outline", target=as_said(goal.words["name"]))
    return absent((seen.id, other.id))


def _shown(goal: Goal, seen: SeenResult) -> list[str]:
    """The lines about the goal's places, in the order of the result. Raises LookupError where one is missing."""
    places = goal.facts["places"]
    wanted = {tuple(one) for one in places if isinstance(one, list)} if isinstance(places, list) else set()
    shown = [line_at(seen, one.path, one.first) for one in seen.places if (one.path, one.first) in wanted]
    if len(shown) < len(wanted):
        raise LookupError(f"{len(wanted) - len(shown)} of {len(wanted)} places are not shown")
    return shown


def tests(goal: Goal, context: OracleContext) -> Plan:
    """In the folder where tests usually are; where there is none, in the one that the list shows."""
    wanted = as_identifier(goal.words["name"])
    folder = "tests"
    seen = yield call("search", pattern=f"{wanted}(", path=folder)
    if seen.text.startswith("no such path"):
        yield call("list")
        folder = str(goal.facts["folder"])
        seen = yield call("search", pattern=f"{wanted}(", path=folder)
    if seen.text.startswith("no hits"):
        other = yield call("search", pattern=wanted, path=folder)
        return absent((seen.id, other.id))
    if len(seen.places) > int(str(goal.facts["right"])):
        context.met(len(seen.places))
    return shown_at(goal, seen)


def needle(goal: Goal, context: OracleContext) -> Plan:
    """The description as it was said, and of the likely definitions the one meant; else its most telling word."""
    seen = yield from _described(goal, context)
    where = f"{goal.facts['path']}:{goal.facts['line']}"
    if any(f"{one.path}:{one.first}" == where for one in seen.places):
        return shown_at(goal, seen)
    hit = yield from _by_word(goal)
    if goal.facts["hit"] == goal.facts["line"]:
        return hit
    around = yield call("read", path=goal.facts["hit_path"], line=goal.facts["hit"])
    begins = any(line.startswith(f"{goal.facts['line']}: ") for line in around.lines)
    return f"It is at {where}." if begins else hit


def change(goal: Goal, context: OracleContext) -> Plan:
    """The likeliest place in one of the files that the change touches; else a hit of its most telling word in one."""
    seen = yield from _described(goal, context)
    right = next((one for one in seen.places if one.path in texts(goal, "files")), None)
    if right:
        return line_at(seen, right.path, right.first)
    return (yield from _by_word(goal))


def _described(goal: Goal, context: OracleContext) -> Generator[ToolCall, SeenResult, SeenResult]:
    said = [goal.words[key] for key in ("action", "actions", "description") if key in goal.words]
    seen = yield call("search", pattern=next((one for one in said if one in goal.prompt), said[0]))
    context.met(len(seen.places))
    return seen


def _by_word(goal: Goal) -> Generator[ToolCall, SeenResult, str]:
    """The line of the goal's hit, which its searches lead to. Raises LookupError.

    Nobody sees that a list of likely places lacks the right one: what must be looked for so is tested, not taught.
    """
    if goal.split == "train":
        raise LookupError("its description does not find it")
    steps = goal.facts["steps"]
    seen = SeenResult("", "")
    for step in steps if isinstance(steps, list) else ():
        pattern, path = step if isinstance(step, list) else ("", "")
        seen = yield call("search", pattern=pattern, **({"path": path} if path else {}))
    return line_at(seen, str(goal.facts["hit_path"]), int(str(goal.facts["hit"])))


def offscope(goal: Goal, context: OracleContext) -> Plan:
    yield from ()
    return "escalate: this needs more than reading the code, and I can only look."
