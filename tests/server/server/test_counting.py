"""Counters of a server: what clients may read of all runs, and what an OpenTelemetry SDK is told."""

import json
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from mcp import Client, MCPError
from skillstill.models.scripted import call
from skillstill.runtime import Runtime
from skillstill.server import build
from skillstill.skills.registry import Registry
from skillstill.types import Message
from skillstill.util.counters import Counters, RunCounters
from skillstill.util.storage import state_folder

from tests.scenes import HANGS, SHOP, Scripted, ScriptedModels

pytestmark = pytest.mark.anyio
SECRET = "Where is Hugo's salary computed?"
CLAIM = "Cart is defined in cart.py:3."
OBSERVED = f"""
import json
import anyio
from mcp import Client
from opentelemetry.metrics import set_meter_provider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from pathlib import Path
from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.runtime import Runtime
from skillstill.server import build
from skillstill.skills.registry import Registry

async def main():
    reader = InMemoryMetricReader()
    set_meter_provider(MeterProvider([reader]))
    runtime = Runtime(Registry(), LocalModels(LocalOptions(offline=True, threads=1, form="shipped")))
    async with Client(build(runtime, Path({str(SHOP)!r}))) as client:
        await client.call_tool("explore", {{"prompt": "Where is Cart defined?"}})
        while not (found := reader.get_metrics_data()):
            await anyio.sleep(0.05)
    metrics = found.resource_metrics[0].scope_metrics[0].metrics
    points = {{one.name: [(dict(p.attributes), p.value) for p in one.data.data_points] for one in metrics}}
    print(json.dumps([points, [one.name for one in metrics if getattr(one.data, "is_monotonic", False)]]))

anyio.run(main)
"""


class Gate:
    """A model that answers nothing before it may."""

    def __init__(self) -> None:
        self.asked, self.open, self.stopped = anyio.Event(), anyio.Event(), anyio.Event()

    async def complete(self, *_: object, **__: object) -> Message:
        self.asked.set()
        try:
            await self.open.wait()
        except anyio.get_cancelled_exc_class():
            self.stopped.set()
            raise
        raise ValueError("broken")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "cart.py").write_text("import os\n\nclass Cart(dict):\n    pass\n", encoding="utf-8")
    return tmp_path


async def counters(client: Client) -> Counters:
    read = await client.read_resource("engine://counters")
    return Counters.model_validate_json(read.contents[0].text)  # type: ignore[union-attr]


async def test_runs_that_work_and_wait_are_counted_and_then_how_they_ended(project: Path) -> None:
    gate = Gate()
    server = build(Runtime(Registry(), ScriptedModels(gate)), project, places=1)
    async with Client(server) as client:
        with anyio.fail_after(HANGS):
            async with anyio.create_task_group() as group:
                for _ in range(3):
                    group.start_soon(client.call_tool, "explore", {"prompt": SECRET})
                await gate.asked.wait()
                while (now := await counters(client)).subagents["explore"].waiting < 2:
                    await anyio.lowlevel.checkpoint()
                gate.open.set()
        after = await counters(client)
    assert now.subagents == {"explore": RunCounters(running=1, waiting=2)}
    assert after.subagents == {"explore": RunCounters(failed=3)}


async def test_each_end_has_its_count_and_a_call_that_never_was_a_run_has_none(
    scripted: Scripted, project: Path
) -> None:
    runtime = scripted([call("search", pattern="class Cart"), CLAIM, CLAIM, ValueError("broken")])
    async with Client(build(runtime, project)) as client:
        for prompt in (SECRET, SECRET, SECRET, "x" * 20_000):
            await client.call_tool("explore", {"prompt": prompt})
        await client.call_tool("tables", {"prompt": SECRET, "path": "nowhere"})
        with pytest.raises(MCPError):
            await client.call_tool("nobody", {"prompt": SECRET})
        now = await counters(client)
    assert now.subagents == {"explore": RunCounters(answered=1, escalate=1, failed=1)}


async def test_a_run_whose_caller_goes_is_counted_as_stopped(project: Path) -> None:
    gate = Gate()
    async with Client(build(Runtime(Registry(), ScriptedModels(gate)), project)) as client:
        with anyio.fail_after(HANGS):
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "explore", {"prompt": SECRET})
                await gate.asked.wait()
                group.cancel_scope.cancel()
            await gate.stopped.wait()
            while (now := await counters(client)).subagents["explore"].running:
                await anyio.lowlevel.checkpoint()
    assert now.subagents == {"explore": RunCounters(stopped=1)}


async def test_no_count_tells_a_client_what_another_asked_or_where(scripted: Scripted, project: Path) -> None:
    async with Client(build(scripted([CLAIM]), project)) as client:
        await client.call_tool("explore", {"prompt": SECRET})
        read = await client.read_resource("engine://counters")
    text = read.contents[0].text  # type: ignore[union-attr]
    assert "explore" in text
    assert not [word for word in ("salary", "Cart", str(project), str(Path.home())) if word in text]


async def test_a_folder_that_cannot_be_written_stops_no_server(scripted: Scripted, project: Path) -> None:
    state_folder().parent.mkdir(parents=True)
    state_folder().write_text("no folder", encoding="utf-8")
    async with Client(build(scripted([CLAIM]), project)) as client:
        await client.call_tool("explore", {"prompt": SECRET})
        assert (await counters(client)).subagents["explore"].escalate == 1


@pytest.mark.usefixtures("as_shipped")
def test_an_sdk_of_opentelemetry_is_told_of_a_real_run() -> None:
    done = subprocess.run([sys.executable, "-c", OBSERVED], check=True, capture_output=True, text=True)
    points, monotonic = json.loads(done.stdout)
    tokens = "gen_ai.client.inference.usage."
    ((attributes, read),) = points[f"{tokens}input_tokens"]
    assert attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "llama.cpp",
        "gen_ai.request.model": "SmolLM2-135M-Instruct.Q4_1",
        "gen_ai.token.modality": "text",
    }
    assert read > points[f"{tokens}cache_read.input_tokens"][0][1] >= 0
    assert points[f"{tokens}output_tokens"][0][1] > 0
    assert [{"gen_ai.agent.name": "explore", "skillstill.run.state": "answered"}, 1] in points["skillstill.runs"]
    assert sum(number for _, number in points["skillstill.runs.active"]) == 0
    assert points["process.memory.usage"][0][1] > 50_000_000
    assert {f"{tokens}input_tokens", "skillstill.runs", "skillstill.engine.busy.time"} <= set(monotonic)
    assert "skillstill.runs.active" not in monotonic
