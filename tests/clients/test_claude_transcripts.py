"""What the real Claude Code writes down of a subagent's work is what we read of it."""

from pathlib import Path

import pytest
from skillstill_training.teachers.recorded import read_recorded_goals

from tests.clients.claude import Claude
from tests.clients.messages_api import Turn
from tests.scenes import write

pytestmark = pytest.mark.clients

SCOUT = "---\nname: scout\ndescription: Finds things in code\ntools: Read, Grep, Glob\n---\nAnswer in one line.\n"
PROMPT = "Where is the class Cart defined? The password is hunter2."


def turns() -> list[Turn]:
    """Of the main thread, of the subagent, and of the main thread again: in the foreground, so that they take turns."""
    work = {"description": "Find it", "prompt": PROMPT, "subagent_type": "scout", "run_in_background": False}
    return [
        {"calls": [{"name": "Agent", "input": work}]},
        {"calls": [{"name": "Grep", "input": {"pattern": "class Cart"}}]},
        {"text": "Cart is defined at cart.py:1."},
        {"text": "The scout has found it."},
    ]


def test_the_work_of_a_subagent_is_found_in_what_claude_code_wrote(tmp_path: Path) -> None:
    files = {"cart.py": "class Cart:\n    pass\n", ".claude/agents/scout.md": SCOUT}
    claude = Claude(tmp_path, project := write(tmp_path / "project", files))
    said = claude.run("-p", "Find the cart", "--allowedTools", "Agent,Grep", turns=turns())
    assert "The scout has found it." in said.stdout, said.stderr
    recorded = read_recorded_goals(tmp_path / "home" / ".claude" / "projects", "scout")
    (goal,) = recorded.goals
    assert goal.prompt == "Where is the class Cart defined? The password is [removed: password]"
    assert (goal.cwd, goal.tools) == (str(project), ("Grep",))
    assert goal.answer == "Cart is defined at cart.py:1."
    assert (recorded.unread, recorded.secrets) == (0, {"password": 1})
