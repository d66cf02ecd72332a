"""Plans of questions that take several calls, and of questions with descriptions."""

from collections.abc import Generator

from skillstill_training.authoring import Goal, OracleContext, Plan, SeenResult, ToolCall, call

from .result_rows import absence_answer, found_nothing, is_shown, place_of, row_at, row_of, rows_shown

STARTS = "start|deploy|version|release|revision|build"  # words in the entry of a start or a release
Text = Generator[ToolCall, SeenResult, str]


def frame(goal: Goal, context: OracleContext) -> Plan:
    time = goal.words["time"]
    seen = yield call("entries", pattern=goal.words["exception"], since=time, until=time)
    row_at(seen, _fact(goal, "place"))
    return (yield from _raising_line(goal))


def follow(goal: Goal, context: OracleContext) -> Plan:
    time = goal.words["time"]
    seen = yield call("entries", pattern="503", since=time, until=time)
    row = next(line for line in seen.lines[1:] if goal.words["path"] in line)
    seen = yield call("entries", level="error", related=place_of(row))
    row_at(seen, _fact(goal, "place"))
    return (yield from _raising_line(goal))


def request_failure(goal: Goal, context: OracleContext) -> Plan:
    number = goal.words["object"].split()[-1]
    seen = yield call("entries", pattern=number)
    if found_nothing(seen):
        return absence_answer([seen])
    seen = yield call("entries", level="error", related=place_of(seen.lines[1]))
    return row_at(seen, _fact(goal, "place"))


def victim(goal: Goal, context: OracleContext) -> Plan:
    time = goal.words["time"]
    seen = yield call("entries", pattern=goal.words["exception"], since=time, until=time)
    row_at(seen, _fact(goal, "error"))
    seen = yield call("entries", related=_fact(goal, "error"))
    seen = yield call("entries", related=place_of(seen.lines[1]))
    row = row_at(seen, _fact(goal, "place"))
    if _fact(goal, "user") not in row:
        raise LookupError(f"user {goal.facts['user']} is cut off")
    return f"It was user {goal.facts['user']} ({goal.facts['place']})."


def before(goal: Goal, context: OracleContext) -> Plan:
    name = yield from _last_start(goal, context)
    seen = yield call("entries", pattern=name, level="error", since=_fact(goal, "start"))
    row_at(seen, _fact(goal, "error"))
    seen = yield call("entries", level="warn", until=_fact(goal, "error"), last=True)
    return row_at(seen, _fact(goal, "place"))


def new_error(goal: Goal, context: OracleContext) -> Plan:
    name = yield from _last_start(goal, context)
    seen = yield call("tally", by="message", level="error", pattern=name, since=_fact(goal, "start"), new=True)
    places = goal.facts["places"]
    assert isinstance(places, list)
    return next(line for line in seen.lines if any(line.endswith(f", first {place}") for place in places))


def origin(goal: Goal, context: OracleContext) -> Plan:
    component, since = goal.words["component"], goal.words["time"]
    seen = yield call("entries", pattern=component, level="error", since=since)
    if not is_shown(seen, _fact(goal, "error")):  # nothing, or only entries of others that mention it
        seen = yield call("entries", level="error", since=since)
    row_at(seen, _fact(goal, "error"))
    seen = yield call("entries", level="error", until=_fact(goal, "error"), last=True)
    row_at(seen, _fact(goal, "place"))
    context.met(rows_shown(seen))
    return (yield from _raising_line(goal))


def deploy(goal: Goal, context: OracleContext) -> Plan:
    yield from _last_start(goal, context)
    seen = yield call("tally", by="component", level="error", since=_fact(goal, "start"))
    return row_of(seen, _fact(goal, "component"))


def after(goal: Goal, context: OracleContext) -> Plan:
    yield from _last_start(goal, context)
    seen = yield call("entries", level="error", since=_fact(goal, "start"))
    return row_at(seen, _fact(goal, "place"))


def match(goal: Goal, context: OracleContext) -> Plan:
    """Let the tool rank the kinds of warnings by how well they match the description."""
    context.meant = _fact(goal, "message")
    seen = yield call("entries", level="warn", meaning=goal.words["meaning"])
    if found_nothing(seen):
        return absence_answer([seen])
    context.met(rows_shown(seen))
    return row_at(seen, _fact(goal, "place"))


def several(goal: Goal, context: OracleContext) -> Plan:
    """Do the same for the warnings about a host."""
    context.meant = _fact(goal, "message")
    seen = yield call("entries", pattern=goal.words["host"], level="warn", meaning=goal.words["trouble"])
    context.met(rows_shown(seen))
    return row_at(seen, _fact(goal, "place"))


def offscope(goal: Goal, context: OracleContext) -> Plan:
    return f"escalate: {goal.facts['reason']}"
    yield  # it makes this a generator


def _last_start(goal: Goal, context: OracleContext) -> Text:
    """Find the service's last start, and return the service's name as it is printed there."""
    component = goal.words["component"]
    if context.detour("miss"):
        yield call("entries", pattern=component, last=True)
    seen = yield call("entries", pattern=component, last=True, like=STARTS)
    if not is_shown(seen, _fact(goal, "start")):
        seen = yield call("entries", last=True, like=STARTS)
    row_at(seen, _fact(goal, "start"))
    return _fact(goal, "name")


def _raising_line(goal: Goal) -> Text:
    """Return the line of a stack trace about the function that raised the exception."""
    path, _, line = _fact(goal, "place").rpartition(":")
    seen = yield call("read", path=path, line=int(line))
    return next(one for one in seen.lines if one.endswith(f": raised in {goal.facts['function']}"))


def _fact(goal: Goal, name: str) -> str:
    return str(goal.facts[name])
