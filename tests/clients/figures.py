"""Figures of this machine, with a model that takes a known time: `python -m tests.clients.figures`. Not a test.

Prints one line per figure: median, minimum, maximum and n; times are wall times. The suites' counts come last, because
they end with an error where something unexpected fails.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import anyio
from httpx2 import AsyncClient
from mcp import Client, StdioServerParameters
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client

from tests.clients.counterparts import server_command, server_environment, serving
from tests.clients.programs import SUITES, TASKS, load, over_stdio, suite, tasks_scenario

DELAY = 0.5  # seconds that the model takes where its time is part of the figure
RUNS = 5
CALLS = 30
PARALLEL = 8
TOKEN = "a-token-for-these-figures"


def main() -> None:
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        home, project = Path(name, "home"), Path(name, "project")
        home.mkdir()
        project.mkdir()
        (project / "cart.py").write_text("import os\n\nclass Cart(dict):\n    pass\n", encoding="utf-8")
        product = [str(Path(sys.executable).with_name("skillstill")), "serve", "--workspace", str(project)]
        tell("s from cold start to tool list, skillstill serve", [anyio.run(start, product, home) for _ in range(RUNS)])
        tell("ms of one call above its model's time, stdio", anyio.run(overhead, stdio(home, project)))
        with serving(home, project, "--token", TOKEN) as url:
            tell("ms of one call above its model's time, HTTP", anyio.run(overhead_over_http, url))
        slow = stdio(home, project, "--delay", str(DELAY))
        tell(f"s of {PARALLEL} parallel calls, model {DELAY} s each", [anyio.run(parallel, slow)])
        print(
            "Inspector's load, 50 calls, 8 at a time, ms:",
            over_stdio(home, project).result(*load(50, 8))["latencyMs"],
        )
        with serving(home, project, "--conformance") as url:
            conformance(url, home)


def tell(name: str, values: Sequence[float]) -> None:
    spread = f"{min(values):.3f} to {max(values):.3f}"
    print(f"{name:52} median {statistics.median(values):8.3f}   ({spread}, n {len(values)})")


def stdio(home: Path, project: Path, *options: str) -> StdioServerParameters:
    command, *arguments = server_command(project, *options)
    environment = {**server_environment(), "HOME": str(home)}
    return StdioServerParameters(command=command, args=arguments, env=environment)


async def start(command: Sequence[str], home: Path) -> float:
    began = time.perf_counter()
    server = StdioServerParameters(command=command[0], args=list(command[1:]), env={"HOME": str(home)})
    async with Client(server) as client:
        await client.list_tools()
        return time.perf_counter() - began


async def overhead(server: StdioServerParameters | Transport) -> list[float]:
    """The whole way there and back, a search in a folder of one file and the stored trace included."""
    async with Client(server) as client:
        return [1_000 * await call(client) for _ in range(CALLS + 1)][1:]


async def overhead_over_http(url: str) -> list[float]:
    async with AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as http:
        return await overhead(streamable_http_client(url, http_client=http))


async def parallel(server: StdioServerParameters) -> float:
    async with Client(server) as client:
        began = time.perf_counter()
        async with anyio.create_task_group() as group:
            for _ in range(PARALLEL):
                group.start_soon(call, client)
        return time.perf_counter() - began


async def call(client: Client) -> float:
    began = time.perf_counter()
    await client.call_tool("explore", {"prompt": "Where is Cart?"})
    return time.perf_counter() - began


def conformance(url: str, folder: Path) -> None:
    for name in TASKS:
        print(f"tasks-{name}:", "{} of {} checks".format(*tasks_scenario(name, url, folder)))
    for name, revision in SUITES:
        print(f"{name} at {revision}: {suite(name, revision, url, folder)}")


if __name__ == "__main__":
    main()
