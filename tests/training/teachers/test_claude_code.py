"""Claude Code as a teacher where the program is not what it should be: another version, broken, or told otherwise.

The program itself is in tests/clients/test_claude_teacher.py; here a script prints what it might.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from skillstill.errors import TeacherError
from skillstill_training.teachers.claude_code import ClaudeCode
from skillstill_training.teachers.ledger import Ledger
from skillstill_training.teachers.model_teacher import ModelTeacher
from skillstill_training.teachers.retries import RetryPolicy
from skillstill_training.teachers.teacher import TraceRow

from tests.scenes import write
from tests.training.teachers.toy import SKILL, goal

pytestmark = pytest.mark.anyio

OURS = ["mcp__tools__search", "mcp__tools__read"]
CALL = {"type": "tool_use", "id": "toolu_1", "name": OURS[0], "input": {"pattern": "class Cart"}}
CHANGED = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "r1: nothing found"}
# Prints its lines, each list of them once it has read a line, and notes its environment.
PROGRAM = f"""#!{sys.executable}
import json, os, sys
here = os.path.dirname(__file__)
with open(here + "/environment.json", "w") as file:
    json.dump(dict(os.environ), file)
with open(here + "/script.json") as file:
    script = json.load(file)
sys.stderr.write(script["errors"])
sys.stdin.readline()
for line in script["lines"]:
    print(line if isinstance(line, str) else json.dumps(line), flush=True)
"""
Event = dict[str, Any]
Prints = Callable[..., None]


def init(*tools: str) -> Event:
    return {"type": "system", "subtype": "init", "tools": tools}


def message(*blocks: Event) -> list[Event]:
    """The events of a whole turn."""
    usage = {"input_tokens": 4, "cache_read_input_tokens": 6, "output_tokens": 1}
    api: list[Event] = [
        {"type": "message_start", "message": {"usage": usage}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    first, *rest = ({"type": "stream_event", "event": event} for event in api)
    return [first, {"type": "assistant", "message": {"content": blocks}}, *rest]


def result(**more: Any) -> Event:
    return {"type": "result", "subtype": "success", "total_cost_usd": 0.25, **more}


@pytest.fixture
def prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prints:
    folder = write(tmp_path / "bin", {"claude": PROGRAM})
    (folder / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), os.defpath]))

    def script(*lines: Event | str, errors: str = "") -> None:
        (folder / "script.json").write_text(json.dumps({"lines": lines, "errors": errors}), encoding="utf-8")

    return script


@pytest.fixture
def costs(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "costs.jsonl", tells_cost=True)


async def solve(costs: Ledger, toy: Path) -> TraceRow:
    with costs:
        teacher = ModelTeacher(SKILL, ClaudeCode(), costs, retries=RetryPolicy(request=20))
        (row,) = await teacher.solve(goal(1), toy)
        return row


async def test_a_version_that_offers_more_than_our_tools_is_not_used(prints: Prints, costs: Ledger, toy: Path) -> None:
    prints(init(*OURS, "Bash"), *message(CALL), result())
    with pytest.raises(TeacherError, match=r"offers its model Bash beside the skill's tools: use version 2\.1\.329"):
        await solve(costs, toy)


@pytest.mark.parametrize("errors", ["error: unknown option '--permission-prompts'", ""])
async def test_a_program_that_does_not_start_ends_the_stage(
    prints: Prints, costs: Ledger, toy: Path, errors: str
) -> None:
    prints(errors=errors)
    with pytest.raises(TeacherError, match=f"does not start: {errors or 'it says nothing'}"):
        await solve(costs, toy)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([init(OURS[0])], "Claude Code did not load the skill's tools"),
        ([init(*OURS), "{"], "Claude Code's output cannot be read (JSONDecodeError"),
        ([init(*OURS), {"type": "assistant"}], "Claude Code's output cannot be read (KeyError"),
        ([init(*OURS)], "Claude Code broke off: it says nothing"),
        (
            [init(*OURS), *message(CALL), {"type": "user", "message": {"content": [CHANGED]}}],
            "Claude Code has changed a result on its way to the model",
        ),
        ([init(*OURS), result(subtype="error_during_execution", errors=["overloaded"])], "without an answer: overload"),
    ],
)
async def test_what_goes_wrong_with_one_goal_is_tried_again_later(
    prints: Prints, costs: Ledger, toy: Path, lines: list[Event], told: str
) -> None:
    prints(*lines)
    row = await solve(costs, toy)
    assert (row.kept, row.transient, told in row.reason) == (False, True, True), row.reason


async def test_a_message_that_the_program_asks_for_anew_counts_once_and_cached_tokens_are_known(
    prints: Prints, costs: Ledger, toy: Path
) -> None:
    dropped = message({"type": "text", "text": "escalate: half a "})[:2]
    prints(init(*OURS), *dropped, *message({"type": "text", "text": "escalate: too hard"}), result())
    row = await solve(costs, toy)
    assert row.reason == "it gave up"
    assert row.trace
    assert row.trace.messages[-1].content == "escalate: too hard"
    (entry,) = costs.entries
    assert (entry.prompt, entry.cached, entry.completion, entry.usd) == (10, 6, 9, 0.25)


async def test_it_keeps_the_user_s_login_and_nothing_of_a_session_around_it(
    prints: Prints, costs: Ledger, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"CLAUDE_CONFIG_DIR": "/home/me/.claude", "CLAUDE_CODE_OAUTH_TOKEN": "worth-nothing", "AWS_PROFILE": "me"}
    around = {"CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli", "SKILLSTILL_ENDPOINT_KEY": "worth-nothing"}
    for name, value in (known | around).items():
        monkeypatch.setenv(name, value)
    prints(init(*OURS), *message({"type": "text", "text": "escalate: no"}), result())
    await solve(costs, toy)
    environment = json.loads((tmp_path / "bin" / "environment.json").read_text(encoding="utf-8"))
    assert {name: environment.get(name) for name in known | around} == known | dict.fromkeys(around)
