"""The plugin in the real Claude Code, offline: found valid, installed, its server started, its agents at work."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from skillstill.clients import plugin
from skillstill.skills.registry import Registry

from tests.clients.claude import Claude
from tests.clients.counterparts import server_environment
from tests.clients.fixture_server import ANSWER
from tests.clients.messages_api import Turn

pytestmark = pytest.mark.clients
TOOL = "mcp__plugin_skillstill_skillstill__explore"
REPORT = {"answer": ANSWER, "status": "answered", "evidence": ["cart.py:3"]}
CALL: Turn = {"calls": [{"name": TOOL, "input": {"prompt": "Where is Cart?"}}]}


@pytest.fixture
def claude(tmp_path: Path, workspace: Path) -> Claude:
    return Claude(tmp_path, workspace)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "plugin"


def with_our_test_server(claude: Claude, folder: Path) -> Sequence[str]:
    """The plugin, its server's model a script; the arguments that load it."""
    command = ["/usr/bin/env", *map("=".join, server_environment().items()), *claude.server()]
    for path, content in plugin.files([listed.entry for listed in Registry().entries()], command).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return ["--plugin-dir", str(folder), "--permission-mode", "default", "--allowedTools", f"{TOOL},Agent,Task"]


@pytest.mark.parametrize("manifest", ["marketplace.json", "plugin.json"])
def test_it_finds_the_plugin_valid_without_a_warning(claude: Claude, folder: Path, manifest: str) -> None:
    plugin.write(folder)
    done = claude.run("plugin", "validate", "--strict", "--json", str(folder / ".claude-plugin" / manifest))
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)


def test_it_installs_the_plugin_from_its_folder_and_starts_the_real_server(claude: Claude, folder: Path) -> None:
    plugin.write(folder)
    for words in (["marketplace", "add", str(folder)], ["install", "skillstill@skillstill"]):
        done = claude.run("plugin", *words)
        assert done.returncode == 0, done.stdout + done.stderr
    listed = claude.run("mcp", "list").stdout
    ours = next(line for line in listed.splitlines() if "skillstill" in line)
    assert ours.endswith("✔ Connected"), listed


def test_its_model_calls_a_subagents_tool(claude: Claude, folder: Path) -> None:
    loading = with_our_test_server(claude, folder)
    done = claude.run("-p", "Where is Cart?", *loading, turns=[CALL, {"text": "It is in cart.py."}])
    assert done.stdout.strip() == "It is in cart.py.", done.stdout + done.stderr
    assert claude.results == [json.dumps(REPORT, separators=(",", ":"))]
    assert TOOL in {tool["name"] for tool in claude.requests[0]["tools"]}, "no search is needed"


def test_its_agent_has_one_tool_and_passes_the_report_back(claude: Claude, folder: Path) -> None:
    loading = with_our_test_server(claude, folder)
    task = {"description": "Find it", "prompt": "Where is Cart?", "subagent_type": "skillstill:explore"}
    delegating: Turn = {"calls": [{"name": "Agent", "input": {**task, "run_in_background": False}}]}
    turns = [delegating, CALL, {"text": "cart.py:3"}, {"text": "It is in cart.py."}]
    done = claude.run("-p", "Where is Cart?", *loading, turns=turns)
    assert done.stdout.strip() == "It is in cart.py.", done.stdout + done.stderr
    helper = claude.requests[1]
    assert {tool["name"] for tool in helper["tools"]} - {"DeferredToolPlaceholder"} == {TOOL}
    assert "You pass one task on to a small model" in json.dumps(helper["system"])
    assert "tools/call" in claude.events


def test_its_model_is_told_of_the_agents_and_when_to_delegate(claude: Claude, folder: Path) -> None:
    claude.run("-p", "Hello", *with_our_test_server(claude, folder), turns=[{"text": "Hello"}])
    read = json.dumps(claude.requests[0])
    for said in ("skillstill:explore", "skillstill:delegate-locally", "Use before reading or searching files yourself"):
        assert said in read
