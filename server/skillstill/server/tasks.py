"""The Tasks extension, io.modelcontextprotocol/tasks (SEP-2663): a run that takes long goes to the background.

A call that is done within the grace is answered at once. One that is not is answered with a task, which the client
polls; the run goes on in the server's task group. Only clients that declared the extension ever see a task.
"""

import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import anyio
from anyio.abc import TaskGroup
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolRequestParams,
    CallToolResult,
    RequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from skillstill.server.resources import owner

ID = "io.modelcontextprotocol/tasks"
GRACE = 2.0  # seconds in which a call is still answered at once
POLL = 500  # milliseconds between polls that we ask for
KEPT = 3_600.0  # seconds that a finished task can still be asked about
FORGOTTEN = 60.0  # seconds without a poll after which a run is stopped: nobody waits for it, others do
Context = ServerRequestContext[Any, Any]
Call = Callable[[Context, CallToolRequestParams], Awaitable[CallToolResult]]
log = logging.getLogger(__name__)


class TaskParams(RequestParams):
    task_id: str


class UpdateParams(TaskParams):
    input_responses: dict[str, Any] | None = None


@dataclass(slots=True)
class Task:
    """A run in the background; `outcome` holds `result` or `error` once it is over."""

    owner: str
    id: str = field(default_factory=lambda: secrets.token_urlsafe(18))
    status: Literal["working", "completed", "failed", "cancelled"] = "working"
    outcome: dict[str, Any] = field(default_factory=dict)
    created: str = field(default_factory=lambda: _now())
    updated: str = field(default_factory=lambda: _now())
    ended: float | None = None
    asked: float = field(default_factory=time.monotonic)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    done: anyio.Event = field(default_factory=anyio.Event)

    def end(self, status: Literal["completed", "failed", "cancelled"], **outcome: Any) -> None:
        """Record how it ended. The first end counts."""
        if self.status == "working":
            self.status, self.outcome, self.updated, self.ended = status, outcome, _now(), time.monotonic()
        self.done.set()

    def wire(self) -> dict[str, Any]:
        return {
            "taskId": self.id,
            "status": self.status,
            "createdAt": self.created,
            "lastUpdatedAt": self.updated,
            "ttlMs": int(KEPT * 1000),
            "pollIntervalMs": POLL,
            **self.outcome,
        }


class Tasks:
    """Wraps the handler of calls. The server's lifespan context must be the task group that outlives a call."""

    def __init__(self, call: Call, grace: float) -> None:
        self._call, self._grace = call, grace
        self._tasks: dict[str, Task] = {}

    def register(self, server: Server[Any]) -> None:
        """Announce the extension, and take over its methods and `tools/call`."""
        server.extensions[ID] = {}
        server.add_request_handler("tools/call", CallToolRequestParams, self.call)
        server.add_request_handler("tasks/get", TaskParams, self.get)
        server.add_request_handler("tasks/update", UpdateParams, self.update)
        server.add_request_handler("tasks/cancel", TaskParams, self.cancel)

    async def call(self, context: Context, params: CallToolRequestParams) -> HandlerResult:
        if not _declared(context):
            return await self._call(context, params)
        self._expire()
        task = Task(owner(context))
        self._tasks[task.id] = task
        group: TaskGroup = context.lifespan_context
        group.start_soon(self._work, task, context, params)
        try:
            with anyio.move_on_after(self._grace):
                await task.done.wait()
        except anyio.get_cancelled_exc_class():  # cancelled before it became a task
            task.scope.cancel()
            del self._tasks[task.id]
            raise
        return {"resultType": "task", **task.wire()} if task.status == "working" else self._answer(task)

    async def get(self, context: Context, params: TaskParams) -> HandlerResult:
        return {"resultType": "complete", **self._find(context, params.task_id).wire()}

    async def update(self, context: Context, params: UpdateParams) -> HandlerResult:
        """Return nothing: our runs ask their caller nothing."""
        self._find(context, params.task_id)
        return {"resultType": "complete"}

    async def cancel(self, context: Context, params: TaskParams) -> HandlerResult:
        self._find(context, params.task_id).scope.cancel()
        return {"resultType": "complete"}

    async def _work(self, task: Task, context: Context, params: CallToolRequestParams) -> None:
        try:
            with task.scope:
                result = await self._call(context, params)
                task.end("completed", result=result.model_dump(by_alias=True, mode="json", exclude_none=True))
        except MCPError as error:
            task.end("failed", error=error.error.model_dump(mode="json", exclude_none=True))
        except Exception:  # must not take the server's task group down
            log.exception("a task failed")
            task.end("failed", error={"code": INTERNAL_ERROR, "message": "internal error"})
        finally:
            task.end("cancelled")  # the first end counts

    def _answer(self, task: Task) -> dict[str, Any]:
        """Return what was over within the grace is no task."""
        del self._tasks[task.id]
        if "result" in task.outcome:
            return dict(task.outcome["result"])
        error = task.outcome.get("error", {"code": INTERNAL_ERROR, "message": "the run was stopped"})
        raise MCPError(error["code"], error["message"])

    def _find(self, context: Context, task_id: str) -> Task:
        """Return the same refusal for what does not exist and for what is another's."""
        _require(context)
        self._expire()
        headers = getattr(context.request, "headers", None)
        if headers is not None and headers.get("mcp-name") not in {None, task_id}:
            raise MCPError(HEADER_MISMATCH, "the header Mcp-Name does not match params.taskId")
        task = self._tasks.get(task_id)
        if task is None or task.owner != owner(context):
            raise MCPError(INVALID_PARAMS, "unknown task")
        task.asked = time.monotonic()
        return task

    def _expire(self) -> None:
        now = time.monotonic()
        for task in list(self._tasks.values()):
            if task.ended is None and now - task.asked > FORGOTTEN:
                task.scope.cancel()
            elif task.ended is not None and now - task.ended > KEPT:
                del self._tasks[task.id]


def _declared(context: Context) -> bool:
    capabilities = context.session.client_capabilities
    modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    return modern and capabilities is not None and ID in (capabilities.extensions or {})


def _require(context: Context) -> None:
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        raise MCPError(METHOD_NOT_FOUND, "Method not found")
    if not _declared(context):
        data: dict[str, Any] = {"requiredCapabilities": {"extensions": {ID: {}}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, f"the client did not declare {ID}", data)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
