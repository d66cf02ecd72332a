"""`feedback`: a caller says whether a run of its own was right. What it says is kept on this machine."""

from typing import Any, Literal

from mcp.types import CallToolResult, TextContent, ToolAnnotations
from mcp.types import Tool as McpTool
from pydantic import Field

from skillstill.runtime import Runtime
from skillstill.server import wire
from skillstill.types import Frozen, Trace
from skillstill.util.neutral import neutral
from skillstill.util.schemas import lean_schema

NAME = "feedback"
DESCRIPTION = "Tell whether a subagent's answer was right, once you know: its next training learns from it."


class Remark(Frozen):
    """What a caller sends."""

    verdict: Literal["right", "wrong"]
    right: str = Field(default="", max_length=1_000, description="What is right, with path:line")
    run: str = Field(default="last", min_length=1, max_length=64, description="Its run")


def remark(arguments: dict[str, Any]) -> Remark:
    """Raise UsageError in one sentence."""
    return wire.parsed(Remark, arguments, "a verdict, `right` or `wrong`, and perhaps what is right and a run")


def tool() -> McpTool:
    return McpTool(
        name=NAME,
        description=DESCRIPTION,
        input_schema=lean_schema(Remark),
        annotations=ToolAnnotations(
            title="Feedback", read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def keep(runtime: Runtime, trace: Trace, said: Remark) -> CallToolResult:
    """Store it. Raise UsageError and TraceError."""
    given = runtime.judge(trace, said.verdict, said.right)
    return CallToolResult(content=[TextContent(type="text", text=neutral(f"kept: {given}"))])
