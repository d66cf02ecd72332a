"""What clients may read: the counters, and transcripts of runs, each for who asked for the run and nobody else."""

import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)
from pydantic import JsonValue

from skillstill.types import Trace
from skillstill.util.counters import Counters
from skillstill.util.neutral import neutral

ADDRESS = "run://"  # before the id of a run
PIPE = "pipe"  # the one client of a server without tokens
KEPT = 200  # runs; a trace is some 10 kB
Context = ServerRequestContext[Any, Any]
TEMPLATE = ResourceTemplate(
    name="run",
    title="Transcript of a run",
    uri_template=ADDRESS + "{id}",
    description="Every call, result and token count of one run of this server, as one line of JSON",
    mime_type="application/json",
)


COUNTERS = Resource(
    name="counters",
    title="What this server does",
    uri="engine://counters",
    description="Runs by subagent and outcome, tokens, batches, memory and slots, as one line of JSON",
    mime_type="application/json",
)


class Resources:
    """All resources. The counters are the same for every client: they hold no prompts and no paths."""

    def __init__(self, transcripts: "TranscriptResources", counters: Callable[[], Counters]) -> None:
        self._transcripts, self._counters = transcripts, counters

    async def read(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        if str(params.uri).rstrip("/") == COUNTERS.uri:
            return _json_content(params.uri, self._counters().model_dump(mode="json"))
        return await self._transcripts.read(context, params)

    async def listed(self, _: Context, __: PaginatedRequestParams | None) -> ListResourcesResult:
        """Return the counters alone: a list must be the same for every connection, and transcripts are not."""
        return ListResourcesResult(resources=[COUNTERS])

    async def templates(self, _: Context, __: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[TEMPLATE])


class TranscriptResources:
    """The last KEPT traces, each under its id and its owner."""

    def __init__(self) -> None:
        self._traces: OrderedDict[tuple[str, str], Trace] = OrderedDict()

    def keep(self, trace: Trace, context: Context) -> None:
        key = (owner(context), trace.run)
        self._traces[key] = trace
        self._traces.move_to_end(key)  # a remembered answer is an older run, told last
        while len(self._traces) > KEPT:
            self._traces.popitem(last=False)

    async def read(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        """Return the same refusal for what does not exist and for what is another's."""
        scheme, _, run = str(params.uri).partition("://")
        trace = self._traces.get((owner(context), run.rstrip("/"))) if scheme == "run" else None
        if trace is None:
            raise MCPError(INVALID_PARAMS, f"no such resource: {params.uri}", {"uri": str(params.uri)})
        return _json_content(params.uri, trace.model_dump(mode="json"))

    def own(self, context: Context, run: str) -> Trace | None:
        """Return a run of this client by its id, the beginning of one, or `last`; None if it is not here."""
        own = [trace for (whose, _), trace in reversed(self._traces.items()) if whose == owner(context)]
        found = own[:1] if run == "last" else [trace for trace in own if trace.run.startswith(run)]
        return found[0] if len(found) == 1 else None

    def runs(self, context: Context) -> list[str]:
        """Return ids for completion, the latest first."""
        return [run for whose, run in reversed(self._traces) if whose == owner(context)]


def _json_content(uri: str, value: JsonValue) -> ReadResourceResult:
    text = json.dumps(_neutral(value), ensure_ascii=False, separators=(",", ":"))
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type="application/json", text=text)])


def _neutral(value: JsonValue) -> JsonValue:
    """Return the value with texts that do nothing if they are read: a transcript quotes whole results."""
    match value:
        case str():
            return neutral(value)
        case list():
            return [_neutral(one) for one in value]
        case dict():
            return {name: _neutral(one) for name, one in value.items()}
    return value


def owner(context: Context) -> str:
    """Return who asks: over HTTP the client whose token it is; without tokens there is one client."""
    user = context.request and context.request.scope.get("user")
    return f"client {user.username}" if user else PIPE
