"""The real Claude Code in print mode, offline: what reaches the model, and what runs beside what."""

import json
import shlex
from pathlib import Path

import pytest
from skillstill.clients.claude_code import CLAUDE_CODE
from skillstill.server.tasks import GRACE

from tests.clients.claude import SERVER, Claude, calling
from tests.clients.fixture_server import ANSWER

pytestmark = pytest.mark.clients
REPORT = {"answer": ANSWER, "status": "answered", "evidence": ["cart.py:3"]}


@pytest.fixture
def claude(tmp_path: Path, workspace: Path) -> Claude:
    return Claude(tmp_path, workspace)


def test_its_health_check_says_that_we_are_connected(claude: Claude) -> None:
    command = claude.server()
    environment = ["-e", f"PYTHONPATH={Path(__file__).parents[2]}"]
    claude.run("mcp", "add", SERVER, "--scope", "local", *environment, "--", *command)
    assert "✔ Connected" in claude.run("mcp", "list").stdout


def test_it_keeps_all_that_the_printed_line_says(claude: Claude) -> None:
    """`alwaysLoad` above all, which `claude mcp add` cannot say."""
    line = next(one for one in CLAUDE_CODE.snippet("user", claude.project).splitlines() if one.startswith("claude "))
    said = claude.run(*shlex.split(line)[1:])
    assert "Added stdio MCP server skillstill" in said.stdout, said.stdout + said.stderr
    kept = json.loads((claude.folder / "home" / ".claude" / ".claude.json").read_text(encoding="utf-8"))
    command = kept["mcpServers"]["skillstill"]["command"]
    assert kept["mcpServers"]["skillstill"] == CLAUDE_CODE.entry([command, "serve"])
    assert kept["mcpServers"]["skillstill"]["alwaysLoad"]


def test_its_model_reads_the_report_and_nothing_else(claude: Claude) -> None:
    turns = [calling("Where is Cart?"), {"text": "It is in cart.py."}]
    done = claude.run("-p", "Where is Cart?", *claude.configure(), turns=turns)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == "It is in cart.py."
    assert claude.results == [json.dumps(REPORT, separators=(",", ":"))]
    assert "skillstill/run" not in json.dumps(claude.requests)


def test_its_model_reads_the_same_over_http(claude: Claude) -> None:
    token = "a-token-for-this-test-alone"
    turns = [calling("Where is Cart?"), {"text": "It is in cart.py."}]
    beside = claude.server("--token", token)
    done = claude.run("-p", "Where is Cart?", *claude.configure_http(token), turns=turns, beside=beside)
    assert done.returncode == 0, done.stdout + done.stderr
    assert claude.results == [json.dumps(REPORT, separators=(",", ":"))]


def test_two_calls_run_beside_each_other(claude: Claude) -> None:
    """Neither run may answer before both have begun: one after the other, they would wait for ever."""
    turns = [calling("Where is Cart?", "Where is Cart used?"), {"text": "done"}]
    done = claude.run("-p", "Where is Cart?", *claude.configure("--together", "2"), turns=turns)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [event for event in claude.events if event in {"begin", "end"}] == ["begin", "begin", "end", "end"]
    assert len(claude.results) == 2


def test_a_long_run_is_answered_in_place_where_nobody_looks_on(claude: Claude) -> None:
    """Print mode does not declare tasks: the call must simply last as long as it lasts."""
    turns = [calling("Where is Cart?"), {"text": "done"}]
    claude.run("-p", "Where is Cart?", *claude.configure("--delay", str(GRACE + 0.5)), turns=turns)
    assert claude.results == [json.dumps(REPORT, separators=(",", ":"))]
