"""What Claude Code prints with `--output-format stream-json --include-partial-messages`, as of version 2.1.329.

One JSON value a line, `type` says of which kind:

    system        of the subtype `init`: the tools that the model is offered
    stream_event  an event of the API's own stream: the begin and end of a message, its usage
    assistant     finished blocks of a message; with an `error` it is no message but the program's own words
    user          results of calls as the model reads them
    result        the end: how, in what words, and what it cost
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from skillstill.errors import BudgetSpent, ModelError, SkillstillError, TeacherError
from skillstill.models.anthropic import read_message
from skillstill.types import Message, ToolCall
from skillstill.util.text import one_line

SERVER = "tools"
PREFIX = f"mcp__{SERVER}__"  # the program's names of our tools begin so
LOGIN = (
    "log in with `claude`, or export ANTHROPIC_API_KEY, or CLAUDE_CODE_OAUTH_TOKEN as `claude setup-token` prints it"
)
LATER = "what is done is kept, and the same command goes on once there is more"
SHOWN = 200  # characters of what the program says
Event = Mapping[str, Any]


@dataclass
class TurnReader:
    """Puts a turn together from events. A message that the program asks for anew begins again."""

    blocks: list[dict[str, Any]] = field(default_factory=list)
    usage: dict[str, Any] = field(default_factory=dict)
    stop: str = ""
    is_complete: bool = False

    def read(self, event: Event) -> None:
        match event["type"]:
            case "assistant" if not event.get("error"):
                self.blocks += event["message"]["content"]
            case "stream_event":
                self._read_api_event(event["event"])

    def _read_api_event(self, event: Event) -> None:
        match event["type"]:
            case "message_start":
                self.blocks, self.usage = [], dict(event["message"].get("usage") or {})
            case "message_delta":
                self.stop = event["delta"].get("stop_reason") or ""
                self.usage |= {name: value for name, value in (event.get("usage") or {}).items() if value is not None}
            case "message_stop":
                self.is_complete = True

    @property
    def turn(self) -> Message:
        """Return the turn; calls of our tools have the names that the loop knows."""
        turn = read_message({"content": self.blocks, "usage": self.usage, "stop_reason": self.stop})
        calls = (ToolCall(name=one.name.removeprefix(PREFIX), arguments=one.arguments) for one in turn.calls)
        return turn.model_copy(update={"calls": tuple(calls)})

    @property
    def call_ids(self) -> list[str]:
        return [block["id"] for block in self.blocks if block["type"] == "tool_use"]


def check_offered(event: Event, tools: Collection[str]) -> None:
    """Raise TeacherError if the model is offered a tool that is not ours, ModelError if one of ours is missing."""
    offered, ours = set(event["tools"]), {PREFIX + name for name in tools}
    if others := offered - ours:
        named = ", ".join(sorted(others))
        raise TeacherError(f"Claude Code offers its model {named} beside the skill's tools: use version 2.1.329")
    if offered != ours:
        raise ModelError("Claude Code did not load the skill's tools: it found no connection to their server in time")


def results(event: Event) -> dict[str, str]:
    """Return what the model reads as results of its calls, by the id of the call."""
    blocks = event["message"]["content"]
    found = [block for block in blocks if isinstance(block, dict) and block.get("type") == "tool_result"]
    return {block["tool_use_id"]: _text(block.get("content") or "") for block in found}


def failure(error: str, result: Event) -> SkillstillError:
    """Return why the program ended without an answer. `error` is what it called that before, or empty."""
    said = one_line(str(result.get("result") or "; ".join(result.get("errors") or ()) or result.get("subtype")), SHOWN)
    if result.get("subtype") == "error_max_budget_usd":
        return BudgetSpent(f"the budget is used up; {LATER}")
    if error in {"rate_limit", "billing_error"}:
        return BudgetSpent(f"Claude Code's account is at its limit ({said}); {LATER}")
    if error in {"authentication_failed", "oauth_org_not_allowed"}:
        return TeacherError(f"Claude Code is not logged in ({said}): {LOGIN}")
    return ModelError(f"Claude Code ended without an answer: {said}")


def _text(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
