"""Our values in MCP's words, and a caller's arguments in ours."""

from typing import Any, TypeVar

from mcp.types import CallToolResult, TextContent, ToolAnnotations
from mcp.types import Tool as McpTool
from pydantic import Field, ValidationError

from skillstill.errors import UsageError
from skillstill.skills.registry import RegistryEntry
from skillstill.types import PROMPT_CHARACTERS, Frozen, Status, Trace
from skillstill.util.neutral import neutral
from skillstill.util.schemas import lean_schema
from skillstill.util.text import one_line

PATCH = 20_000  # characters
FOLLOWS = "For a follow-up: id of the earlier run, or `last`"
Sent = TypeVar("Sent", bound=Frozen)


class Reply(Frozen):
    """What the caller's context pays for. Evidence: `path:line` in the workspace, or receipt ids.

    leads   the likeliest places, `path:line: text`; left out if there are none, as of an answer without a warning
    patch   for `git apply`: what was changed, in a copy; left out if nothing was. A long one is only in the transcript
    subagent  which one it is of, if the caller has not chosen it
    """

    answer: str
    status: Status
    evidence: tuple[str, ...] = ()
    leads: tuple[str, ...] = ()
    patch: str = ""
    subagent: str = ""


class Request(Frozen):
    """What a caller sends. `path`, inside the workspace, is where to look; `run` is one that this goes on from."""

    prompt: str = Field(min_length=1, max_length=PROMPT_CHARACTERS, description="One self-contained question")
    path: str = Field(default="", max_length=300, description="File or folder inside the workspace to look in")
    run: str = Field(default="", max_length=64, description=FOLLOWS)


def request(arguments: dict[str, Any]) -> Request:
    """Raise UsageError in one sentence."""
    return parsed(Request, arguments, "a prompt and perhaps a path and a run")


def parsed(kind: type[Sent], arguments: dict[str, Any], expected: str) -> Sent:
    """Return what a caller sent. Raise UsageError in one sentence, which names what was expected."""
    try:
        return kind.model_validate(arguments)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "arguments"
        raise UsageError(one_line(f"{where}: {first['msg']}; expected {expected}", 200)) from error


def tool(entry: RegistryEntry, *, always: bool, may_write: bool = False) -> McpTool:
    """Return one subagent as a client lists it. `may_write`: some subagent may change the workspace."""
    meta: dict[str, Any] = {"anthropic/searchHint": entry.search_hint or f"{entry.title} {entry.name}"}
    if always:
        meta["anthropic/alwaysLoad"] = True
    if entry.claimed:
        meta["skillstill/claimed"] = entry.claimed.model_dump(exclude_none=True)
    return McpTool(
        name=entry.name,
        title=entry.title,
        description=f"{entry.description} {entry.expectation}",
        input_schema=lean_schema(Request),
        output_schema=lean_schema(Reply),
        annotations=annotations(entry.title, may_write=may_write),
        _meta=meta,
    )


def annotations(title: str, *, may_write: bool) -> ToolAnnotations:
    return ToolAnnotations(
        title=title,
        read_only_hint=not may_write,
        destructive_hint=may_write,
        idempotent_hint=not may_write,
        open_world_hint=False,
    )


def tool_result(trace: Trace, subagent: str = "") -> CallToolResult:
    """Return a result that costs the caller's context little; what only programs read is in `_meta`."""
    report, tally = trace.report, trace.tally
    leads = tuple(map(str, report.leads))
    patch = (
        neutral(trace.patch) if len(trace.patch) <= PATCH else f"{len(trace.patch):,} characters: see run://{trace.run}"
    )
    reply = Reply(
        answer=report.said,
        status=report.status,
        evidence=report.evidence,
        leads=leads,
        patch=patch,
        subagent=subagent,
    )
    left_out = {name for name in ("leads", "patch", "subagent") if not getattr(reply, name)}
    return CallToolResult(
        content=[TextContent(type="text", text=reply.model_dump_json(exclude=left_out))],
        structured_content=reply.model_dump(mode="json", exclude=left_out),
        is_error=report.status == "failed",
        _meta={
            "skillstill/run": f"run://{trace.run}",
            "skillstill/release": trace.release,
            "skillstill/confidence": trace.confidence,
            "skillstill/steps": len(trace.receipts),
            "skillstill/seconds": tally.seconds,
            "skillstill/tokens": tally.tokens,
        },
    )


def tool_failure(sentence: str) -> CallToolResult:
    """Return an error that the caller's model can read and act on."""
    return CallToolResult(content=[TextContent(type="text", text=neutral(sentence))], is_error=True)
