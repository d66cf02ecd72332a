"""Plans that choose one of several: by the list, by reading one after the other, by the lines around a hit."""

from collections.abc import Generator

from skillstill_training.authoring import Goal, OracleContext, Plan, SeenResult, ToolCall, call

from .names import as_identifier, outline_target
from .plans import absence_answer, definition_line, fact_texts, line_at, place


def by_signature(goal: Goal, context: OracleContext) -> Plan:
    """Pass the description of the definition to the tool, as the question says it."""
    seen = yield call("outline", target=outline_target(goal.words["name"]), of=goal.words["which"])
    context.met(len(seen.places))
    return definition_line(goal, seen)


def by_body(goal: Goal, context: OracleContext) -> Plan:
    """Read each definition in the order of the list, until one is as the question says."""
    seen = yield call("outline", target=outline_target(goal.words["name"]))
    context.met(len(seen.places))
    where = place(goal, seen)
    for span in seen.places:
        yield call("read", path=span.path, line=span.first)
        if f"{span.path}:{span.first}" == where:
            break
    return definition_line(goal, seen)


def callers(goal: Goal, context: OracleContext) -> Plan:
    seen = yield call("search", pattern=f"{as_identifier(goal.words['name'])}(")
    return (yield from _usage_answer(goal, seen))


def importers(goal: Goal, context: OracleContext) -> Plan:
    seen = yield call("search", pattern=f"import .*{as_identifier(goal.words['name'])}")
    return (yield from _usage_answer(goal, seen))


def _usage_answer(goal: Goal, seen: SeenResult) -> Plan:
    """Answer with a line for each use, or, after a call for the name itself, that there is none."""
    if not seen.text.startswith("no hits"):
        return "\n".join(_place_lines(goal, seen))
    other = yield call("outline", target=outline_target(goal.words["name"]))
    return absence_answer((seen.id, other.id))


def _place_lines(goal: Goal, seen: SeenResult) -> list[str]:
    """Return the lines about the goal's places, in the order of the result. Raise LookupError if one is missing."""
    places = goal.facts["places"]
    wanted = {tuple(one) for one in places if isinstance(one, list)} if isinstance(places, list) else set()
    lines = [line_at(seen, one.path, one.first) for one in seen.places if (one.path, one.first) in wanted]
    if len(lines) < len(wanted):
        raise LookupError(f"{len(wanted) - len(lines)} of {len(wanted)} places are not shown")
    return lines


def tests(goal: Goal, context: OracleContext) -> Plan:
    """Search in `tests`; if there is no such folder, in the one that the list shows."""
    wanted = as_identifier(goal.words["name"])
    folder = "tests"
    seen = yield call("search", pattern=f"{wanted}(", path=folder)
    if seen.text.startswith("no such path"):
        yield call("list")
        folder = str(goal.facts["folder"])
        seen = yield call("search", pattern=f"{wanted}(", path=folder)
    if seen.text.startswith("no hits"):
        other = yield call("search", pattern=wanted, path=folder)
        return absence_answer((seen.id, other.id))
    if len(seen.places) > int(str(goal.facts["right"])):
        context.met(len(seen.places))
    return definition_line(goal, seen)


def needle(goal: Goal, context: OracleContext) -> Plan:
    """Search for the description and choose among the likely definitions; else search for its rarest word."""
    seen = yield from _search_description(goal, context)
    where = f"{goal.facts['path']}:{goal.facts['line']}"
    if any(f"{one.path}:{one.first}" == where for one in seen.places):
        return definition_line(goal, seen)
    hit = yield from _search_words(goal)
    if goal.facts["hit"] == goal.facts["line"]:
        return hit
    around = yield call("read", path=goal.facts["hit_path"], line=goal.facts["hit"])
    begins = any(line.startswith(f"{goal.facts['line']}: ") for line in around.lines)
    return f"It is at {where}." if begins else hit


def change(goal: Goal, context: OracleContext) -> Plan:
    """Choose the likeliest place in a file that the change touches; else a hit of its rarest word in such a file."""
    seen = yield from _search_description(goal, context)
    right = next((one for one in seen.places if one.path in fact_texts(goal, "files")), None)
    if right:
        return line_at(seen, right.path, right.first)
    return (yield from _search_words(goal))


def _search_description(goal: Goal, context: OracleContext) -> Generator[ToolCall, SeenResult, SeenResult]:
    texts = [goal.words[key] for key in ("action", "actions", "description") if key in goal.words]
    seen = yield call("search", pattern=next((one for one in texts if one in goal.prompt), texts[0]))
    context.met(len(seen.places))
    return seen


def _search_words(goal: Goal) -> Generator[ToolCall, SeenResult, str]:
    """Return the line of the goal's hit, which its searches lead to. Raise LookupError if it is not shown.

    Nobody can see that a list of likely places lacks the right one: such searches are tested, but not taught.
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
