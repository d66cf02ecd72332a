"""The tool `script`: Python whose only functions are the run's other tools. Its value alone is shown to the model.

A value is shown if the script's own check of it holds. Otherwise the model is told what came, and may write another.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from skillstill.errors import Refusal
from skillstill.tools.kit.tool import Functions, Line, Result, tool
from skillstill.tools.script.interpreter import Interpreter
from skillstill.tools.script.values import value_lines
from skillstill.types import PYTHON, Span
from skillstill.util.text import one_line
from skillstill.workspace import Workspace

LONGEST = 2_000  # characters of a script: some 700 tokens
SHOWN = 200  # characters of a value whose check does not hold
FOUND = "value"  # the check of a script that has none: something was found


async def script(
    workspace: Workspace,
    *,
    check: Annotated[
        str, Field(min_length=1, max_length=200, description="what must hold of `value`, else it is not shown")
    ] = FOUND,
    code: Annotated[str, Field(min_length=1, max_length=LONGEST, json_schema_extra={**PYTHON})],
) -> "PendingScript":
    """Run Python whose functions are the other tools, and show the value of its last expression.

    A call returns .found, .text, .lines, .rows (lists of values) and .places ("path:line"). A place can stand for the
    arguments path and line.
    """
    return PendingScript(code, check)


@dataclass(frozen=True, slots=True)
class PendingScript:
    """A script that waits for its functions."""

    code: str
    check: str

    async def resolve(self, functions: Functions) -> Result:
        """Return the value as lines, each with the places in it. Raise Refusal if the script or its check fails."""
        interpreter = Interpreter(functions)
        value, holds = await interpreter.run(self.code, self.check)
        if not holds:
            raise Refusal(f"the check `{self.check}` does not hold: value is {one_line(repr(value), SHOWN)}")
        results = interpreter.results
        known = _known_lines(results)
        lines = [known.get(text) or _line(text, functions.shown_places(text)) for text in value_lines(value)]
        return Result(
            (*lines, *_remarks(results)),
            empty=bool(results) and all(one.empty for one in results),
            guess=bool(results) and all(one.guess for one in results),
            tokens=sum(one.tokens for one in results),
        )


def _known_lines(results: Sequence[Result]) -> Mapping[str, Line]:
    """Return the lines of results that show places, by text. If two lines of one text differ in that, neither is known.

    A line of a value that is one of them shows what it showed there: `57: def remove` does not name its file.
    """
    known: dict[str, Line] = {}
    for line in (line for result in results for line in result.shown):
        agrees = known.setdefault(line.text, line).spans == line.spans
        known[line.text] = replace(line, omits=0, is_row=True) if agrees else Line(line.text)
    return {text: line for text, line in known.items() if line.spans}


def _line(text: str, places: Sequence[Span]) -> Line:
    """Return a line of the value. If it begins with a place, a model can refer to it."""
    first = next((one for one in places if re.match(rf"{re.escape(one.path)}:{one.first}(?::|$)", text)), None)
    return Line(text, tuple(places), place=first, is_row=True)


def _remarks(results: Sequence[Result]) -> Sequence[Line]:
    """Return what the script cannot have seen: its value may be wrong for it."""
    left = sum(one.omitted for one in results)
    return [Line(f"(The results that the script read leave {left:,} out.)", omits=left)] if left else []


TOOLS = (tool(script),)
