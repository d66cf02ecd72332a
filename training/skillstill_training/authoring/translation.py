"""Calls as a skill's tools take them: plans are written for the default release, another size may have other tools."""

from collections.abc import Sequence

from skillstill.types import ToolCall, ToolSchema


def translated(call: ToolCall, tools: Sequence[ToolSchema]) -> ToolCall | None:
    """Return the call of the tool of its name, else of the one that wants the same arguments; None without any.

    What nothing stands for is a look at what such a run begins with. Without tools nothing is known of any.
    """
    if not tools:
        return call
    named = [tool.name for tool in tools if tool.name == call.name]
    alike = [tool.name for tool in tools if {*tool.parameters.get("required", ())} == call.arguments.keys()]
    name = next(iter([*named, *alike]), None)
    return call.model_copy(update={"name": name}) if name else None
