"""The real Claude Code as an orchestrator of `skillstill compare`, in a jail and against a script, in all its arms."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.types import Usage
from skillstill_training.benchmarks.benchmark import Task
from skillstill_training.compare.arms import Staff
from skillstill_training.compare.claude_code import ClaudeCodeOrchestrator
from skillstill_training.compare.outcome import ArmName, Outcome

from tests.clients.claude import KEY, offline
from tests.clients.counterparts import installed, lines
from tests.clients.messages_api import Turn
from tests.clients.test_claude_teacher import JAILED
from tests.scenes import ROOT, write

pytestmark = [pytest.mark.clients, pytest.mark.anyio]

QUESTION = "Where is Cart defined?"
RIGHT: Turn = {"text": "Cart is defined at cart.py:3."}
Solve = Callable[..., Any]


@pytest.fixture
def solve(tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Solve:
    """The outcome of one task in an arm, if the program's model says these turns."""
    folder = write(tmp_path / "bin", {"claude": JAILED})
    (folder / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), os.defpath]))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    known = {"claude": installed(".bin/claude"), "jail": offline(), "requests": str(tmp_path / "requests.jsonl")}

    async def run(arm: ArmName, turns: Sequence[Turn]) -> Outcome:
        (folder / "script.json").write_text(json.dumps({**known, "turns": list(turns)}), encoding="utf-8")
        staff = Staff(tmp_path / "staff", LocalModels(LocalOptions()), threads=1)
        task = Task(id="t/1", prompt=QUESTION, folder=str(workspace), skill="explore", gold=None)
        return await ClaudeCodeOrchestrator("sonnet", staff, seconds=200).solve(task, arm, 1.0)

    return run


def offered(tmp_path: Path) -> set[str]:
    """The tools that its model was told of at last, without those that every session has."""
    requests = [request for request in lines(tmp_path / "requests.jsonl") if request.get("tools")]
    return {tool["name"] for tool in requests[-1]["tools"]}


async def test_alone_it_has_its_own_tools_which_only_look(solve: Solve, tmp_path: Path) -> None:
    read = {"calls": [{"name": "Grep", "input": {"pattern": "class Cart", "output_mode": "content"}}]}
    outcome = await solve("alone", [read, RIGHT])
    assert (outcome.answer, outcome.error) == (RIGHT["text"], "")
    assert offered(tmp_path) == {"Read", "Grep", "Glob"}
    assert outcome.usage == Usage(prompt=2, completion=2)
    assert outcome.usd
    called, was_read, said = outcome.steps
    assert (called.kind, was_read.kind, said.text) == ("called", "read", RIGHT["text"])
    assert "class Cart(dict)" in was_read.text


async def test_agents_of_its_own_model_are_counted_apart(solve: Solve, tmp_path: Path) -> None:
    handed = {"name": "Agent", "input": {"description": "x", "prompt": QUESTION, "subagent_type": "explore"}}
    outcome = await solve("self", [{"calls": [handed]}, RIGHT, RIGHT])
    assert outcome.answer == RIGHT["text"]
    assert outcome.usage.prompt == 3  # it goes on before the agent has answered, and once more when it has
    assert outcome.delegated.prompt == 1
    assert outcome.local_tokens == 0
    assert any(step.inside for step in outcome.steps)


@pytest.mark.usefixtures("as_shipped")
async def test_our_subagents_come_by_our_server_and_cost_it_nothing_but_the_report(
    solve: Solve, tmp_path: Path
) -> None:
    handed = {"calls": [{"name": "mcp__skills__delegate", "input": {"task": QUESTION}}]}
    outcome = await solve("router", [handed, RIGHT])
    assert (outcome.answer, outcome.usage.prompt) == (RIGHT["text"], 2)
    assert offered(tmp_path) >= {"Read", "Grep", "Glob", "mcp__skills__delegate"}
    assert outcome.local_tokens > 0
    assert outcome.delegated == Usage()
    assert any(step.inside for step in outcome.steps)
    assert "cart.py:3" in next(step.text for step in outcome.steps if step.kind == "read")
