"""The Tasks extension through a client that declares it, and through one that does not."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.lowlevel
import pytest
from mcp import Client, MCPError
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.types import CallToolResult, Request, Result
from skillstill.models.scripted import call
from skillstill.runtime import Runtime
from skillstill.server import build
from skillstill.server.tasks import ID, TaskParams
from skillstill.skills.registry import Registry
from skillstill.types import Message

from tests.scenes import ScriptedModels

pytestmark = pytest.mark.anyio
CLAIM = "It holds cart.py (r1)."
ANSWER = f"{CLAIM}\nr1: list()"  # what a caller is told of it


class TaskRequest(Request[TaskParams, Literal["tasks/get", "tasks/cancel"]]):
    method: Literal["tasks/get", "tasks/cancel"]
    params: TaskParams


class Created(Result):
    result_type: Literal["task"] = "task"
    task_id: str
    status: str
    poll_interval_ms: int


class Polled(Result):
    task_id: str
    status: str
    result: CallToolResult | None = None
    error: dict[str, Any] | None = None


class Patient(ClientExtension):
    """A client that waits for tasks; `created` fires with the first, `cancels` has it cancelled at once."""

    identifier = ID

    def __init__(self, *, cancels: bool = False) -> None:
        self.cancels, self.created = cancels, anyio.Event()
        self.seen: list[str] = []

    def claims(self) -> list[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=Created, resolve=self.resolve)]

    async def resolve(self, created: Created, context: ClaimContext) -> CallToolResult:
        self.created.set()
        if self.cancels:
            await context.session.send_request(asked("tasks/cancel", created.task_id), Result)
        while True:
            polled = await context.session.send_request(asked("tasks/get", created.task_id), Polled)
            self.seen.append(polled.status)
            if polled.status != "working":
                return polled.result or CallToolResult(content=[], is_error=True)
            await anyio.lowlevel.checkpoint()


def asked(method: Literal["tasks/get", "tasks/cancel"], task_id: str) -> TaskRequest:
    return TaskRequest(method=method, params=TaskParams(task_id=task_id))


class Gate:
    """A model that answers when it is let."""

    def __init__(self) -> None:
        self.open, self.stopped = anyio.Event(), anyio.Event()

    async def complete(self, messages: Sequence[Message], *_: object, **__: object) -> Message:
        try:
            await self.open.wait()
        except anyio.get_cancelled_exc_class():
            self.stopped.set()
            raise
        return call("list") if messages[-1].role == "user" else Message(role="assistant", content=CLAIM)


@asynccontextmanager
async def connected(gate: Gate, project: Path, *extensions: ClientExtension, grace: float = 0) -> AsyncIterator[Client]:
    (project / "cart.py").write_text("class Cart: ...\n", encoding="utf-8")
    server = build(Runtime(Registry(), ScriptedModels(gate)), project, grace=grace)
    async with Client(server, mode="2026-07-28", extensions=extensions) as client:
        yield client


async def test_a_long_run_goes_to_the_background_and_its_result_is_polled(tmp_path: Path) -> None:
    gate, patient = Gate(), Patient()
    async with connected(gate, tmp_path, patient) as client, anyio.create_task_group() as group:
        results: list[CallToolResult] = []

        async def ask() -> None:
            results.append(await client.call_tool("explore", {"prompt": "What is there?"}))

        group.start_soon(ask)
        await patient.created.wait()
        gate.open.set()
    assert (results[0].structured_content or {})["answer"] == ANSWER
    assert patient.seen[0] == "working"
    assert patient.seen[-1] == "completed"


async def test_a_quick_run_is_answered_at_once(tmp_path: Path) -> None:
    gate, patient = Gate(), Patient()
    gate.open.set()
    async with connected(gate, tmp_path, patient, grace=30) as client:
        result = await client.call_tool("explore", {"prompt": "What is there?"})
        with pytest.raises(MCPError, match="no subagent"):
            await client.call_tool("nobody", {"prompt": "What is there?"})
    assert (result.structured_content or {})["answer"] == ANSWER
    assert not patient.created.is_set()


async def test_a_client_that_did_not_declare_it_never_sees_a_task(tmp_path: Path) -> None:
    gate = Gate()
    gate.open.set()
    async with connected(gate, tmp_path) as client:
        result = await client.call_tool("explore", {"prompt": "What is there?"})
        with pytest.raises(MCPError) as refused:
            await client.session.send_request(asked("tasks/get", "x"), Polled)
    assert (result.structured_content or {})["answer"] == ANSWER
    assert refused.value.error.code == -32021


async def test_cancelling_a_task_stops_its_run(tmp_path: Path) -> None:
    gate, patient = Gate(), Patient(cancels=True)
    async with connected(gate, tmp_path, patient) as client:
        result = await client.call_tool("explore", {"prompt": "What is there?"})
    assert result.is_error
    assert patient.seen[-1] == "cancelled"
    assert gate.stopped.is_set()


async def test_a_forged_task_id_is_unknown(tmp_path: Path) -> None:
    async with connected(Gate(), tmp_path, Patient()) as client:
        with pytest.raises(MCPError, match="unknown task"):
            await client.session.send_request(asked("tasks/get", "A" * 24), Polled)


async def test_a_run_that_nobody_asks_about_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillstill.server.tasks.FORGOTTEN", -1)  # seconds: whoever has not asked yet is too late
    gate, patient = Gate(), Patient()
    async with connected(gate, tmp_path, patient) as client:
        await client.call_tool("explore", {"prompt": "What is there?"})
    assert patient.seen[-1] == "cancelled"
    assert gate.stopped.is_set()
