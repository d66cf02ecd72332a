"""`delegate`: one tool over all subagents. Its definition costs the same however many there are."""

from typing import Any, Literal

from mcp.types import Tool as McpTool
from pydantic import Field

from skillstill.server import wire
from skillstill.types import PROMPT_CHARACTERS, Frozen
from skillstill.util.schemas import lean_schema

NAME = "delegate"
Expose = Literal["each", "delegate", "both"]
DESCRIPTION = (
    "Hand a question about the files of the workspace to the local subagent that it is for: code, logs, tables or what "
    "else is installed. Its reading costs you nothing. Answers with path:line evidence and says which subagent it was; "
    "or says at once that none fits, with likely places. Read-only, local."
)


class Task(Frozen):
    """What a caller sends. `workspace` is a part of the folder that is served; `run` one that it goes on from."""

    task: str = Field(min_length=1, max_length=PROMPT_CHARACTERS, description="One self-contained question")
    workspace: str = Field(default="", max_length=300, description="File or folder in the workspace to look in")
    run: str = Field(default="", max_length=64, description=wire.FOLLOWS)


def task(arguments: dict[str, Any]) -> Task:
    """Raise UsageError in one sentence."""
    return wire.parsed(Task, arguments, "a task and perhaps a workspace and a run")


def tool(*, may_write: bool) -> McpTool:
    """Return its definition: 179 tokens of the default base. A schema of its output would be 134 more."""
    return McpTool(
        name=NAME,
        title="Delegate",
        description=DESCRIPTION,
        input_schema=lean_schema(Task),
        annotations=wire.annotations("Delegate", may_write=may_write),
        _meta={"anthropic/alwaysLoad": True},
    )
