"""What each tool answers to its golden calls. Tests ask the bundled tools again, on the fixture workspaces."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from skillstill.errors import Refusal, SkillError
from skillstill.skills.skill import Skill
from skillstill.tools import GoldenCall, Line, Result, Tool, toolset_of
from skillstill.tools.kit.toolset import GOLDEN
from skillstill.types import Span


def goldens(skill: Skill) -> Mapping[str, tuple[GoldenCall, ...]]:
    """Return the golden calls of the skill's tools by name. Raise SkillError if a tool has no recorded answer."""
    found = {}
    for name in skill.subagent.tools:
        toolset = skill.toolset if skill.toolset and name in skill.toolset.by_name else toolset_of(name)
        found[name] = toolset.goldens[name]
        if not found[name] or not all(call.is_recorded for call in found[name]):
            expected = (
                f"expected calls of it with what it answers: add one, then type `scripts/golden {toolset.folder}`"
            )
            raise SkillError(toolset.folder / GOLDEN, name, expected)
    return found


def golden_result(tool: Tool, calls: Sequence[GoldenCall], arguments: Mapping[str, Any]) -> Result:
    """Return what the tool answered to these arguments. Raise Refusal if it refused them, or was never asked so."""
    asked = tool.with_defaults(arguments)
    for call in calls:
        if tool.with_defaults(call.arguments) == asked:
            return _recorded_result(call)
    raise Refusal(f"{tool.name}: no golden output for {dict(asked)}")


def _recorded_result(call: GoldenCall) -> Result:
    if call.result is None:
        raise Refusal(call.refusal or "")
    spans = tuple(Span(path=path, first=first, last=last) for path, first, last in call.spans)
    places = {index: Span(path=path, first=line, last=line) for index, path, line in call.places}
    lines = [
        Line(text, place=places.get(index), is_row=text in call.rows)
        for index, text in enumerate(call.result.split("\n"))
    ]
    lines[0] = replace(lines[0], spans=spans, omits=call.omitted)
    empty, overview, guess = call.empty, call.overview, call.guess
    return Result(tuple(lines), call.missed, empty=empty, overview=overview, guess=guess, terms=call.terms)
