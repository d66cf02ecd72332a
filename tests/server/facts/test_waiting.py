"""Who waits for the first reading of a folder is told how far it is."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from skillstill.facts.opened import OPENED
from skillstill.facts.readers import BUNDLED
from skillstill.models.scripted import call
from skillstill.server import build
from skillstill.tools import TOOLS, Result, Tool
from skillstill.tools.kit.indexing import fresh_index
from skillstill.util.waiting import heard_by
from skillstill.workspace import Workspace

from tests.scenes import Scripted, write

pytestmark = pytest.mark.anyio


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("skillstill.tools.kit.indexing.EVERY", 0.0)
    monkeypatch.setattr(OPENED, "home", lambda: None)
    return write(tmp_path / "project", {f"{name}.py": "def one(): pass\n" for name in "ab"})


async def test_a_reading_is_told_and_one_of_nothing_is_not(project: Path) -> None:
    heard: list[str] = []

    async def hear(text: str) -> None:
        heard.append(text)

    with heard_by(hear):
        for _ in range(2):
            await TOOLS["query"].call(Workspace(project), {"sql": "select count(*) from files"})
    await TOOLS["query"].call(Workspace(project), {"sql": "select count(*) from files"})
    assert [*dict.fromkeys(heard)][:2] == ["reading files: 0 of 2", "reading files: 1 of 2"]


async def test_an_mcp_client_hears_it_as_progress(
    scripted: Scripted, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    call_tool = Tool.call

    async def asking(self: Tool, workspace: Workspace, *arguments: Any) -> Result:
        await fresh_index(workspace, (BUNDLED["code"],))
        return await call_tool(self, workspace, *arguments)

    monkeypatch.setattr(Tool, "call", asking)
    runtime = scripted([call("search", pattern="def one"), "one is defined in a.py:1."])
    async with Client(build(runtime, project)) as client:
        await client.call_tool("explore", {"prompt": "Where is one?"}, progress_callback=hear)
    assert [*dict.fromkeys(heard)][:2] == ["reading files: 0 of 2", "reading files: 1 of 2"]
