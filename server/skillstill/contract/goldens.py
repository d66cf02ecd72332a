"""What each tool answers on the fixture workspaces of the tests, which hold the tools to it."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from skillstill.errors import Refusal
from skillstill.tools import Line, Result, Tool
from skillstill.types import Span


@cache
def goldens() -> Mapping[str, Any]:
    """Return the recorded calls of each tool by its name."""
    value: dict[str, Any] = json.loads(files("skillstill.tools").joinpath("golden.json").read_text("utf-8"))
    return value


def golden_result(tool: Tool, arguments: Mapping[str, Any]) -> Result:
    """Return what the tool answered to these arguments. Raises Refusal: it refused them, or was never asked so."""
    asked = tool.with_defaults(arguments)
    for call in goldens().get(tool.name, ()):
        if tool.with_defaults(call["arguments"]) == asked:
            return _recorded(call)
    raise Refusal(f"{tool.name}: no golden output for {dict(asked)}")


def _recorded(call: Mapping[str, Any]) -> Result:
    if "refusal" in call:
        raise Refusal(call["refusal"])
    text, *others = call["result"].split("\n")
    spans = tuple(Span(path=path, first=first, last=last) for path, first, last in call.get("spans", ()))
    return Result((Line(text, spans), *map(Line, others)), call.get("missed", ""))
