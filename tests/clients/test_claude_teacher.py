"""The real Claude Code as a teacher, in a jail and against a script: what it may, what is kept, what it costs."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from skillstill.errors import BudgetSpent, TeacherError
from skillstill_training.teachers.claude_code import ClaudeCode
from skillstill_training.teachers.ledger import Budget, Ledger, LedgerEntry
from skillstill_training.teachers.model_teacher import ModelTeacher
from skillstill_training.teachers.retries import RetryPolicy
from skillstill_training.teachers.teacher import TraceRow
from skillstill_training.util.jsonl import read_lines

from tests.clients.claude import KEY, offline
from tests.clients.counterparts import installed, lines, run
from tests.clients.messages_api import Turn
from tests.scenes import ROOT, write
from tests.training.teachers.toy import CART, RETRY, SKILL, goal

pytestmark = [pytest.mark.clients, pytest.mark.anyio]

SEARCH = {"name": "mcp__tools__search", "input": {"pattern": "class Cart"}}
RIGHT = {"text": "Cart is defined at cart.py:4."}
SOLVED: list[Turn] = [{"calls": [SEARCH]}, RIGHT]
SECONDS = 90.0
Says = Callable[[Sequence[Turn]], None]
# In place of the program: the same one where there is no network, with a scripted API.
JAILED = f"""#!{sys.executable}
import json, os, sys
here = os.path.dirname(__file__)
with open(here + "/script.json") as file:
    plan = json.load(file)
plan |= dict(command=[plan["claude"], *sys.argv[1:]], environment=dict(os.environ), folder=os.getcwd(), beside=[])
place = f"{{here}}/plan-{{os.getpid()}}.json"
with open(place, "w") as file:
    json.dump(plan, file)
jail = [*plan["jail"], sys.executable, "-m", "tests.clients.jail", place]
os.execvpe(jail[0], jail, {{**os.environ, "PYTHONPATH": {str(ROOT)!r}}})
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    return write(tmp_path / "toy", {"cart.py": CART, "retry.py": RETRY})


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Says:
    """What the program's model will say."""
    folder = write(tmp_path / "bin", {"claude": JAILED})
    (folder / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), os.defpath]))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    known = {"claude": installed(".bin/claude"), "jail": offline(), "requests": str(tmp_path / "requests.jsonl")}

    def script(turns: Sequence[Turn]) -> None:
        (folder / "script.json").write_text(json.dumps({**known, "turns": list(turns)}), encoding="utf-8")

    return script


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.jsonl", tells_cost=True) as opened:
        yield opened


async def solve(ledger: Ledger, toy: Path, seconds: float = SECONDS) -> TraceRow:
    teacher = ModelTeacher(SKILL, ClaudeCode("sonnet"), ledger, retries=RetryPolicy(request=seconds))
    (row,) = await teacher.solve(goal(1), toy)
    return row


def asked(tmp_path: Path) -> list[dict[str, Any]]:
    return [request for request in lines(tmp_path / "requests.jsonl") if request.get("tools")]


async def test_its_run_is_a_trace_like_any_other_with_the_tools_of_the_skill_and_the_cost(
    says: Says, ledger: Ledger, toy: Path, tmp_path: Path
) -> None:
    says(SOLVED)
    row = await solve(ledger, toy)
    assert (row.kept, row.verified, row.reason, row.teacher) == (True, "check", "", "claude-code-sonnet")
    assert row.trace
    assert [(one.tool, one.arguments) for one in row.trace.receipts] == [("search", {"pattern": "class Cart"})]
    assert [message.role for message in row.trace.messages] == ["system", "user", "assistant", "tool", "assistant"]
    first, second = asked(tmp_path)
    assert {tool["name"] for tool in first["tools"]} == {"mcp__tools__search", "mcp__tools__read"}
    assert SKILL.instructions in json.dumps(first["system"], ensure_ascii=False)
    assert json.dumps(row.trace.messages[3].content) in json.dumps(second)
    (entry,) = read_lines(ledger.file, LedgerEntry)
    assert (entry.requests, entry.prompt, entry.completion) == (2, 2, 2)
    assert entry.usd
    assert ledger.usd == entry.usd


async def test_a_hostile_model_gets_no_tool_but_the_skill_s_and_nothing_outside_of_the_workspace(
    says: Says, ledger: Ledger, toy: Path, tmp_path: Path
) -> None:
    taken = tmp_path / "taken"
    secret = write(tmp_path / "outside", {"secret.txt": "the-secret"}) / "secret.txt"
    says(
        [
            {"calls": [{"name": "Bash", "input": {"command": f"touch {taken}"}}]},
            {"calls": [{"name": "Write", "input": {"file_path": str(taken), "content": "x"}}]},
            {"calls": [{"name": "Agent", "input": {"description": "x", "prompt": "x", "subagent_type": "claude"}}]},
            {"calls": [{"name": "mcp__evil__run", "input": {"command": f"touch {taken}"}}]},
            {"calls": [{"name": "mcp__tools__read", "input": {"path": str(secret), "line": 1}}]},
            {"calls": [{"name": "mcp__tools__read", "input": {"path": "../outside/secret.txt", "line": 1}}]},
            {"text": "Cart is defined at cart.py:4."},
        ]
    )
    row = await solve(ledger, toy)
    assert not taken.exists()
    assert row.trace
    assert [receipt.refused for receipt in row.trace.receipts] == [True] * 6
    assert "the-secret" not in row.trace.model_dump_json() + (tmp_path / "requests.jsonl").read_text(encoding="utf-8")
    assert (row.kept, row.reason) == (False, "it was given without a successful tool call")
    read = json.dumps(asked(tmp_path)[-1])
    assert "No such tool available: Bash" in read
    assert "No such tool available: mcp__evil__run" in read
    assert "outside the workspace" in read


async def test_what_the_user_has_set_up_for_the_program_plays_no_role(
    says: Says, ledger: Ledger, toy: Path, tmp_path: Path, home: Path
) -> None:
    ran = tmp_path / "ran"
    hook = [{"matcher": "*", "hooks": [{"type": "command", "command": f"touch {ran}"}]}]
    hooks = dict.fromkeys(("SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"), hook)
    evil = {"evil": {"command": "touch", "args": [str(ran)]}}
    settings = {"hooks": hooks, "permissions": {"allow": ["Bash"]}, "outputStyle": "Explanatory"}
    write(
        home,
        {
            ".claude/settings.json": json.dumps(settings),
            ".claude/CLAUDE.md": "REMEMBERED: answer in French",
            ".claude/skills/shop/SKILL.md": "---\nname: shop\ndescription: REMEMBERED shop\n---\nShop.\n",
            ".claude/agents/scout.md": "---\nname: scout\ndescription: REMEMBERED scout\n---\nScout.\n",
            ".claude.json": json.dumps({"mcpServers": evil}),
        },
    )
    write(
        toy, {"CLAUDE.md": "REMEMBERED", ".claude/settings.json": json.dumps(settings), ".mcp.json": json.dumps(evil)}
    )
    says(SOLVED)
    row = await solve(ledger, toy)
    assert row.kept
    assert not ran.exists()
    requests = tmp_path / "requests.jsonl"
    assert "REMEMBERED" not in requests.read_text(encoding="utf-8")
    done = run(
        ["claude", "--print", "Where is Cart?"], seconds=SECONDS, cwd=toy
    )  # without a switch of ours, it plays one
    assert (done.returncode, ran.exists()) == (0, True), done.stderr
    assert "REMEMBERED" in requests.read_text(encoding="utf-8")


async def test_a_run_that_our_loop_ends_is_paid_and_told_all_the_same(says: Says, ledger: Ledger, toy: Path) -> None:
    says([{"calls": [SEARCH]}])  # again and again
    row = await solve(ledger, toy)
    assert (row.kept, row.transient, row.reason) == (False, False, "the call … was repeated")
    (entry,) = read_lines(ledger.file, LedgerEntry)
    assert (entry.requests, bool(entry.usd)) == (3, True)


async def test_its_failures_are_told_in_a_sentence(
    says: Says, ledger: Ledger, toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says([{"status": 400, "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}}])
    with pytest.raises(
        BudgetSpent, match=r"account is at its limit \(Credit balance is too low\); what is done is kept"
    ):
        await solve(ledger, toy)
    says(SOLVED)
    row = await solve(ledger, toy, seconds=0.2)
    assert (row.transient, row.reason) == (True, "Claude Code took longer than 0.2 seconds for a turn")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(TeacherError, match=r"is not logged in \(Not logged in .*\): log in with `claude`, or export"):
        await solve(ledger, toy)
    monkeypatch.setenv("PATH", os.defpath)
    with pytest.raises(TeacherError, match="Claude Code is not installed: there is no program called `claude`"):
        await solve(ledger, toy)


async def test_a_budget_in_money_stops_it(says: Says, toy: Path, tmp_path: Path) -> None:
    says([{"calls": [SEARCH]}, *SOLVED])
    with Ledger(tmp_path / "held.jsonl", budget=Budget(usd=0.000_001), tells_cost=True) as held:
        with pytest.raises(BudgetSpent):
            await solve(held, toy)
        with pytest.raises(BudgetSpent, match="the budget of 1e-06 USD is used up"):
            await solve(held, toy)
    assert [bool(entry.usd) for entry in read_lines(tmp_path / "held.jsonl", LedgerEntry)] == [True]


async def test_several_run_beside_each_other(says: Says, ledger: Ledger, toy: Path) -> None:
    says([{"calls": [SEARCH]}, RIGHT])
    rows: list[TraceRow] = []

    async def one() -> None:
        rows.append(await solve(ledger, toy))

    async with anyio.create_task_group() as group:
        group.start_soon(one)
        group.start_soon(one)
    assert [row.kept for row in rows] == [True, True]
