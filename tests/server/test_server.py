"""The MCP front through real clients: in memory in both eras, and over stdio with the installed command."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from skillstill.models.scripted import ScriptedModel, call
from skillstill.registry import Registry
from skillstill.runtime import Runtime
from skillstill.server import build
from skillstill.types import Message

from tests.scenes import Scripted, ScriptedModels

pytestmark = pytest.mark.anyio
ERAS = ["legacy", "2026-07-28"]
LOOK = call("search", pattern="class Cart")
CLAIM = "Cart is defined in cart.py:3."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "cart.py").write_text("import os\n\nclass Cart(dict):\n    pass\n", encoding="utf-8")
    return tmp_path


@asynccontextmanager
async def connected(runtime: Runtime, project: Path, era: str) -> AsyncIterator[Client]:
    async with Client(build(runtime, project), mode=era) as client:
        yield client


@pytest.mark.parametrize("era", ERAS)
async def test_each_registry_entry_is_a_read_only_tool(scripted: Scripted, project: Path, era: str) -> None:
    async with connected(scripted([]), project, era) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["explore"]
    assert tools[0].annotations
    assert tools[0].annotations.read_only_hint
    assert tools[0].input_schema["required"] == ["prompt"]
    assert "Not trained yet" in (tools[0].description or "")


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_gives_a_lean_structured_report_and_the_rest_in_meta(
    scripted: Scripted, project: Path, era: str
) -> None:
    async with connected(scripted([LOOK, CLAIM]), project, era) as client:
        result = await client.call_tool("explore", {"prompt": "Where is Cart?"})
    assert result.structured_content == {"answer": CLAIM, "status": "answered", "evidence": ["cart.py:3"]}
    assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]
    assert not result.is_error
    assert result.meta
    assert len(result.meta["skillstill/run"]) == 32
    assert result.meta["skillstill/release"] == "explore@untrained"


@pytest.mark.parametrize("era", ERAS)
async def test_each_step_is_reported(scripted: Scripted, project: Path, era: str) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with connected(scripted([LOOK, call("list"), CLAIM]), project, era) as client:
        await client.call_tool("explore", {"prompt": "Where is Cart?"}, progress_callback=on_progress)
    assert told == [(1, 8, "search"), (2, 8, "list")]


async def test_a_hand_off_is_a_result_and_a_failure_an_error(scripted: Scripted, project: Path) -> None:
    async with connected(scripted([CLAIM, ValueError("broken")]), project, "2026-07-28") as client:
        hand_off = await client.call_tool("explore", {"prompt": "Where is Cart?"})
        failure = await client.call_tool("explore", {"prompt": "Where is Cart?"})
    assert (hand_off.structured_content or {})["status"] == "escalate"
    assert not hand_off.is_error
    assert (failure.structured_content or {})["status"] == "failed"
    assert failure.is_error


@pytest.mark.parametrize(
    ("arguments", "says"),
    [({}, "expected"), ({"prompt": 3}, "expected"), ({"prompt": "a", "x": 1}, "expected"), ({"prompt": " "}, "empty"),
     ({"prompt": "x" * 20_000}, "20,000 characters")],
)  # fmt: skip
async def test_a_bad_call_is_a_tool_error_in_one_sentence(
    scripted: Scripted, project: Path, arguments: dict[str, object], says: str
) -> None:
    async with connected(scripted([]), project, "2026-07-28") as client:
        result = await client.call_tool("explore", arguments)
    assert result.is_error
    assert says in result.content[0].text  # type: ignore[union-attr]


async def test_an_unknown_tool_is_a_protocol_error(scripted: Scripted, project: Path) -> None:
    async with connected(scripted([]), project, "2026-07-28") as client:
        with pytest.raises(MCPError, match="no subagent called 'nobody'"):
            await client.call_tool("nobody", {"prompt": "Where?"})


async def test_a_client_that_cancels_stops_the_run(project: Path) -> None:
    started, stopped = anyio.Event(), anyio.Event()

    class Waiting:
        async def complete(self, *_: object, **__: object) -> Message:
            started.set()
            try:
                await anyio.sleep_forever()
            finally:
                stopped.set()
            raise AssertionError

    runtime = Runtime(Registry(), ScriptedModels(Waiting()))
    async with connected(runtime, project, "2026-07-28") as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "explore", {"prompt": "Where is Cart?"})
            await started.wait()
            group.cancel_scope.cancel()
        with anyio.fail_after(5):
            await stopped.wait()


async def test_an_entry_that_is_added_while_serving_is_a_tool_at_once(
    scripted: Scripted, project: Path, home: Path, tmp_path: Path
) -> None:
    from skillstill.storage import data_folder

    from tests.scenes import ROOT

    async with connected(scripted([]), project, "2026-07-28") as client:
        assert len((await client.list_tools()).tools) == 1
        document = json.loads((ROOT / "registry.json").read_text(encoding="utf-8"))
        document["entries"][0]["name"] = "second"
        data_folder().mkdir(parents=True)
        (data_folder() / "registry.json").write_text(json.dumps(document), encoding="utf-8")
        assert [tool.name for tool in (await client.list_tools()).tools] == ["explore", "second"]


async def test_the_installed_command_serves_a_real_run_over_stdio(project: Path) -> None:
    """The whole way, SmolLM2 included; its wisdom is not judged."""
    command = str(Path(sys.executable).with_name("skillstill"))
    server = StdioServerParameters(command=command, args=["serve", "--workspace", str(project)])
    steps: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        result = await client.call_tool("explore", {"prompt": "Where is Cart?"}, progress_callback=on_progress)
    assert [tool.name for tool in tools] == ["explore"]
    assert (result.structured_content or {})["status"] in {"answered", "escalate"}
    assert steps


async def test_a_scripted_model_can_be_leased_again(project: Path) -> None:
    runtime = Runtime(Registry(), models := ScriptedModels(ScriptedModel([LOOK, CLAIM])))
    await runtime.run("explore", "Where is Cart?", project)
    assert models.specs[0].taught is False
    assert models.specs[0].context == 4_096
