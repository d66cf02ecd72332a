"""The real Claude Code in an interactive session, offline, under tmux: what happens while somebody looks on."""

import json
from pathlib import Path

import pytest

from tests.clients.claude import SERVER, Claude, calling, session
from tests.clients.counterparts import eventually
from tests.clients.fixture_server import ANSWER
from tests.scenes import ROOT

pytestmark = pytest.mark.clients


@pytest.fixture
def claude(tmp_path: Path, workspace: Path) -> Claude:
    return Claude(tmp_path, workspace)


def logged(claude: Claude, event: str, times: int = 1) -> None:
    """Wait until our server has written that."""
    eventually(lambda: claude.events.count(event) >= times, f"{event} in our log")


def test_escape_stops_the_run(claude: Claude) -> None:
    arguments = claude.configure("--hold", str(claude.folder / "never"))
    with session(claude, [calling("Where is Cart?"), {"text": "done"}], *arguments) as terminal:
        terminal.ask("Find the cart")
        logged(claude, "begin")
        terminal.press("Escape")
        logged(claude, "cancelled")
    assert "end" not in claude.events


def test_a_subagent_that_is_added_meanwhile_can_be_called_in_the_same_session(claude: Claude) -> None:
    registry = claude.folder / "registry" / "registry.json"
    registry.parent.mkdir()
    (registry.parent / "skills").symlink_to(ROOT / "skills")
    document = json.loads((ROOT / "registry.json").read_text(encoding="utf-8"))
    registry.write_text(json.dumps(document), encoding="utf-8")
    turns = [{"text": "Nothing to do yet"}, calling("Where is Cart?", tool="second"), {"text": "All done"}]
    with session(claude, turns, *claude.configure("--registry", str(registry))) as terminal:
        terminal.ask("Hello")
        terminal.shows("Nothing to do yet")
        listed = claude.events.count("tools/list")
        document["entries"].append({**document["entries"][0], "name": "second"})
        registry.write_text(json.dumps(document), encoding="utf-8")
        logged(claude, "tools/list", listed + 1)
        terminal.ask("Find the cart")
        terminal.shows("All done")
    assert [ANSWER in result for result in claude.results] == [True], claude.results
    assert f"mcp__{SERVER}__second" in [tool["name"] for tool in claude.requests[-1]["tools"]]


def test_a_long_run_goes_to_the_background_and_its_report_comes_when_it_is_done(claude: Claude) -> None:
    hold = claude.folder / "hold"
    turns = [calling("Where is Cart?"), {"text": "Meanwhile something else"}]
    with session(claude, turns, *claude.configure("--hold", str(hold))) as terminal:
        terminal.ask("Find the cart")
        terminal.shows("Meanwhile something else")
        terminal.shows("1 MCP task")
        assert "end" not in claude.events
        hold.touch()
        eventually(lambda: ANSWER in json.dumps(claude.requests[-1]["messages"]), "the report in a request")
    assert "keeps running on the server" in claude.results[0]
