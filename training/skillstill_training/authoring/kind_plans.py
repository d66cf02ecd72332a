"""Plans of declared kinds: make the calls one after the other, and answer with what the last one showed."""

import re
from collections.abc import Sequence

from skillstill.types import ToolCall

from skillstill_training.authoring.checks import Absent, Locations, Members, Quoted, Value
from skillstill_training.authoring.goal import Goal
from skillstill_training.authoring.kinds import DeclaredCall, Kind, Slots, filled_sql
from skillstill_training.authoring.oracle import OracleContext, Plan, SeenResult, call

QUERY_HEAD = re.compile(r"(?:more than )?[\d,]+ rows?: ")
PLACED = re.compile(r"(?P<path>[^\s|]+?):(?P<line>\d+): ")
OF_FOLDER = re.compile(r"\.git(?:/refs)?: ")  # before rows of the history, which have no lines
READ_HEAD = re.compile(r"(?P<path>.+) lines \d+-\d+ of \d+$")
READ_LINE = re.compile(r"\d+: ")
NO_ROW = ("… ", "(Not seen: ")


def plan_kind(kind: Kind, goal: Goal, context: OracleContext) -> Plan:
    """Make the kind's calls until one finds nothing. Each may use what the first row of the last one showed."""
    if kind.form == "declined":
        return f"escalate: {kind.because}"
    slots = _slots(goal)
    if kind.miss and context.detour("miss"):
        for missed in kind.miss:
            yield made_call(missed, slots)
    trail: list[SeenResult] = []
    for one in kind.calls:
        trail.append((yield made_call(one, slots)))
        if not (rows := shown_rows(trail[-1])):
            return f"There is none ({', '.join(seen.id for seen in trail)} found nothing)."
        slots = {**slots, **_of_first_row(rows)}
    return _answer(goal, trail[-1], rows, context)


def made_call(declared: DeclaredCall, slots: Slots) -> ToolCall:
    """Return the call with its slots filled. An argument that is one slot and nothing else keeps its type."""
    if isinstance(declared, str):
        return call("query", sql=filled_sql(declared, slots))
    arguments = {name: _filled(value, slots) for name, value in declared.items() if name != "tool"}
    return call(str(declared["tool"]), **arguments)


def shown_rows(seen: SeenResult) -> Sequence[str]:
    """Return the lines of a result that each stand for one thing: rows of a query, or lines with a place."""
    if QUERY_HEAD.match(seen.text):
        return [line for line in seen.lines[1:] if not line.startswith(NO_ROW)]
    if read := READ_HEAD.match(seen.lines[0]):
        return [f"{read['path']}:{line}" for line in seen.lines[1:] if READ_LINE.match(line)]
    return [line for line in seen.lines if PLACED.match(line)]


def _slots(goal: Goal) -> Slots:
    """Return the slots as the question says them; numbers are numbers."""
    numbers = goal.facts["numbers"]
    assert isinstance(numbers, dict)
    return {**goal.words, **{name: int(str(value)) for name, value in numbers.items()}}


def _filled(value: str | int, slots: Slots) -> str | int:
    if isinstance(value, int):
        return value
    alone = re.fullmatch(r"\{(\w+)\}", value)
    return slots[alone[1]] if alone else value.format_map(slots)


def _of_first_row(rows: Sequence[str]) -> Slots:
    place = PLACED.match(rows[0])
    found: Slots = {"row": cells(rows[0])[0]}
    return {**found, "row_path": place["path"], "row_line": int(place["line"])} if place else found


def cells(row: str) -> Sequence[str]:
    """Return the values of a row without its place."""
    place = PLACED.match(row) or OF_FOLDER.match(row)
    return row[place.end() if place else 0 :].split(" | ")


def _answer(goal: Goal, seen: SeenResult, rows: Sequence[str], context: OracleContext) -> str:
    """Return what the result shows of what is asked. Raise LookupError if it does not show it."""
    check = goal.check
    context.met(len(rows))
    if isinstance(check, Value | Quoted):
        return _value(seen, rows, (check.gold, *(check.also if isinstance(check, Value) else ())))
    if isinstance(check, Members):
        return _members(seen, rows, check.gold)
    if isinstance(check, Locations):
        right = [row for row in rows if (place := PLACED.match(row)) and _lies_inside(place, check)]
        return "\n".join(right)
    assert isinstance(check, Absent)
    raise LookupError(f"{rows[0]!r} is shown, and there should be none")


def _value(seen: SeenResult, rows: Sequence[str], values: Sequence[str]) -> str:
    for row in rows:
        if shown := _shown(row, values):
            return row if PLACED.match(row) else f"It is {shown} ({seen.id})."
    raise LookupError(f"{values[0]!r} is not shown")


def _members(seen: SeenResult, rows: Sequence[str], names: Sequence[str]) -> str:
    """Return the lines that show the names, one for each; without places the names alone."""
    by_name = {name: next((row for row in rows if name in cells(row)), "") for name in names}
    if missing := [name for name, row in by_name.items() if not row]:
        raise LookupError(f"{missing[0]!r} is not shown")
    if all(map(PLACED.match, by_name.values())):
        return "\n".join(row for row in rows if row in by_name.values())
    return f"They are {', '.join(sorted(names, key=lambda name: rows.index(by_name[name])))} ({seen.id})."


def _shown(row: str, values: Sequence[str]) -> str:
    """Return the first of the values that stands in the row as a cell, or within one; empty if none does."""
    text = " | ".join(cells(row))
    within = (one for one in values if re.search(rf"(?<![\w.]){re.escape(one)}(?!\w|\.\w)", text))
    return next((one for one in values if one in cells(row)), next(within, ""))


def _lies_inside(place: re.Match[str], check: Locations) -> bool:
    line = int(place["line"])
    return any(span.path == place["path"] and span.first <= line <= span.last for span in check.gold)
