"""The plan: run the test, look where it broke, follow names to the function that is to blame, and look at it."""

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter
from skillstill_training.authoring import Goal, OracleContext, Plan, SeenResult, ToolCall, call

WINDOW = 10  # lines that `read` shows from its line on
LOOKS = 3  # windows of one function


@dataclass(frozen=True, slots=True)
class Place:
    """A function that the one before it mentions; of a special method the class is (`parent`)."""

    name: str
    parent: str
    path: str
    first: int
    last: int

    @property
    def condition(self) -> str:
        return f"name = '{self.name}'" + (f" and parent = '{self.parent}'" if self.parent else "")


Chain = TypeAdapter(Sequence[Place])


def blame(goal: Goal, context: OracleContext) -> Plan:
    """Return the line of the result that shows the function; hand back a test that passes."""
    test = str(goal.facts["test"])
    ran = yield call("run_tests", target=test)
    if goal.check.kind == "declined":
        return f"escalate: {test} passes, nothing is to blame ({ran.id})."
    path, line = ran.places[0].path, ran.places[0].first
    if not goal.facts["at_place"]:  # it broke in a function that only got what another one made
        file, *_, name = test.split("::")
        shown = yield from _defined(f"name = '{name}' and path = '{file}'", context)
        path, line = file, _line_number(shown)
    chain = Chain.validate_python(goal.facts["chain"])
    if not chain:
        inside = f"path = '{path}' and {line} between first and last order by first desc limit 1"
        shown = yield from _defined(inside, context)
    for place in chain:
        yield from _see_mentioned(place.parent or place.name, path, line)
        shown = yield from _defined(place.condition, context, place)
        path, line = place.path, _line_number(shown)
    yield call("read", path=path, line=line)
    return shown


def _see_mentioned(name: str, path: str, line: int) -> Generator[ToolCall, SeenResult, None]:
    """Read on from a line until this name is shown. Raise LookupError if it is too far below."""
    for at in range(line, line + LOOKS * WINDOW, WINDOW):
        if re.search(rf"\b{name}\b", (yield call("read", path=path, line=at)).text):
            return
    raise LookupError(f"{name} is not shown")


def _defined(where: str, context: OracleContext, place: Place | None = None) -> Generator[ToolCall, SeenResult, str]:
    """Return the line of the definition at this place, or the only one. Raise LookupError if it is not shown."""
    seen = yield call("query", sql=f"select qualified from definitions where {where}")  # noqa: S608 - a model writes any
    context.met(len(seen.places))
    found = [
        one for one in seen.places if not place or (one.path == place.path and place.first <= one.first <= place.last)
    ]
    if len(found) != 1:
        raise LookupError(f"{len(found)} definitions are shown")
    return seen.line_of(found[0].path, found[0].first)


def _line_number(shown: str) -> int:
    return int(shown.split(":", 2)[1])
