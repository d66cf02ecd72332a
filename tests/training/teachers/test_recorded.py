"""Goals from transcripts of Claude Code 2.1.329, as it wrote them when it was run here, and of its older forms."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from skillstill.errors import TeacherError, UsageError
from skillstill.models.remote import Endpoint
from skillstill_training.run.folder import RunFolder
from skillstill_training.teachers import transcripts
from skillstill_training.teachers.large_models import EndpointModel
from skillstill_training.teachers.ledger import Budget, Ledger
from skillstill_training.teachers.model_teacher import ModelTeacher
from skillstill_training.teachers.recorded import RecordedGoal, RecordedGoals, read_recorded_goals, solve_recorded
from skillstill_training.teachers.retries import RetryPolicy
from skillstill_training.teachers.teacher import TraceRow
from skillstill_training.util.jsonl import read_lines

from tests.server.models.openai_server import OpenAiServer, Said, turn
from tests.training.teachers.toy import SEARCH, SKILL, called

pytestmark = pytest.mark.anyio

Json = dict[str, Any]
SESSION = "6139d23d-1623-4a4a-b615-6e487a416f7e"
CART, RETRY = "Where is the class Cart defined?", "Where is the back-off computed?"


class Home:
    """A folder `projects`, and one project that exists."""

    def __init__(self, folder: Path) -> None:
        self.projects, self.project = folder / "projects", folder / "shop"
        self.project.mkdir(parents=True)
        (self.project / "cart.py").write_text("import os\n\n\nclass Cart(dict):\n    items = 3\n", encoding="utf-8")
        self.clock = 0

    def row(self, type: str, content: str | list[Json], **more: object) -> Json:
        """A row as it stands in a session's file."""
        self.clock += 1
        stamp = f"2026-11-21T19:33:{self.clock:02}.606Z"
        common = {"cwd": str(self.project), "sessionId": SESSION, "timestamp": stamp, "version": "2.1.329"}
        message = {"role": type, "content": content}
        uuid = f"uuid-{self.clock}"
        return (
            {"parentUuid": None, "isSidechain": False, "type": type, "message": message, "uuid": uuid} | common | more
        )

    def call(self, prompt: str, agent: str = "scout", tool: str = "Agent", **more: object) -> Json:
        """The main thread hands work to a subagent."""
        asked = {"description": "Find it", "prompt": prompt, "subagent_type": agent, "run_in_background": False}
        return self.row("assistant", [{"type": "tool_use", "id": "toolu_0001", "name": tool, "input": asked}], **more)

    def run(self, prompt: str, answer: str, **more: object) -> list[Json]:
        """The rows of a subagent's run."""
        side = {"isSidechain": True, "agentId": "a20c6568901cc7db8", **more}
        grep = {"type": "tool_use", "id": "toolu_0003", "name": "Grep", "input": {"pattern": "Cart"}}
        found = {"type": "tool_result", "tool_use_id": "toolu_0003", "content": [{"type": "text", "text": "cart.py"}]}
        rows = [
            self.row("user", prompt, **side),
            {**self.row("attachment", "", **side), "message": None, "attachment": {"type": "date"}},
            self.row("assistant", [{"type": "thinking", "thinking": "Hm.", "signature": "x"}, grep], **side),
            self.row("user", [found], **side),
            self.row("assistant", [{"type": "text", "text": answer}], **side),
        ]
        for before, after in pairwise(rows):
            after["parentUuid"] = before["uuid"]
        return rows

    def write(self, name: str, rows: list[Json]) -> Path:
        file = self.projects / "-work-shop" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return file

    def goals(self, agent: str = "scout") -> RecordedGoals:
        return read_recorded_goals(self.projects, agent)


@pytest.fixture
def claude(tmp_path: Path) -> Home:
    return Home(tmp_path / "claude")


# What is read


def test_a_subagent_s_work_becomes_a_goal(claude: Home) -> None:
    claude.write(f"{SESSION}.jsonl", [{"type": "queue-operation"}, claude.row("user", "Hello"), claude.call(CART)])
    run = claude.write(f"{SESSION}/subagents/agent-a20.jsonl", claude.run(CART, "At cart.py:4."))
    meta = {"agentType": "scout", "isBuiltIn": False, "toolUseId": "toolu_0001", "spawnDepth": 1}
    run.with_name("agent-a20.meta.json").write_text(json.dumps(meta), encoding="utf-8")
    recorded = claude.goals()
    (goal,) = recorded.goals
    assert (goal.prompt, goal.cwd, goal.session) == (CART, str(claude.project), SESSION)
    assert (goal.tools, goal.answer) == (("Grep",), "At cart.py:4.")
    assert goal.when
    assert goal.when.isoformat() == "2026-11-21T19:33:02.606000+00:00"
    assert (recorded.asked, recorded.files, recorded.unread, recorded.dropped) == (1, 2, 0, {})


def test_a_call_whose_run_is_gone_is_enough(claude: Home) -> None:
    claude.write("a.jsonl", [claude.call(CART)])
    (goal,) = claude.goals().goals
    assert (goal.tools, goal.answer) == ((), "")


@pytest.mark.parametrize("told", ["meta", "rows"])
def test_a_run_whose_call_is_gone_is_enough_where_it_says_whose_it_is(claude: Home, told: str) -> None:
    rows = claude.run(CART, "At cart.py:4.", **({"attributionAgent": "scout"} if told == "rows" else {}))
    file = claude.write("s/subagents/agent-a2.jsonl", rows)
    if told == "meta":
        file.with_name("agent-a2.meta.json").write_text('{"agentType": "scout"}', encoding="utf-8")
    assert [goal.prompt for goal in claude.goals().goals] == [CART]


def test_older_forms_are_read_too(claude: Home) -> None:
    inside = claude.run(CART, "At cart.py:4.")
    for row in inside:
        del row["agentId"]
    claude.write("inside.jsonl", [claude.call(CART, tool="Task"), *inside])
    claude.write("beside.jsonl", [claude.call(RETRY, tool="Task")])
    claude.write("agent-a20c6568.jsonl", claude.run(RETRY, "There is none."))
    assert [(goal.prompt, goal.tools, goal.answer) for goal in claude.goals().goals] == [
        (CART, ("Grep",), "At cart.py:4."),
        (RETRY, ("Grep",), "There is none."),
    ]


def test_other_subagents_and_the_main_thread_are_left_alone(claude: Home) -> None:
    asks = {"type": "tool_use", "id": "t", "name": "Read", "input": {"prompt": "x", "subagent_type": "scout"}}
    rows = [claude.row("user", "My own question"), claude.call("Plan it", "Plan"), claude.row("assistant", [asks])]
    claude.write("a.jsonl", [*rows, claude.call(CART)])
    recorded = claude.goals()
    assert [goal.prompt for goal in recorded.goals] == [CART]
    assert recorded.others == {"Plan": 1}


def test_no_such_subagent_is_told_with_those_that_are_there(claude: Home) -> None:
    claude.write("a.jsonl", [claude.call("Plan it", "Plan"), claude.call(CART), claude.call(RETRY)])
    with pytest.raises(UsageError, match=r"1 files .* no work for a subagent 'critic'; found: scout \(2\), Plan \(1\)"):
        claude.goals("critic")


def test_no_subagent_at_all_and_no_folder_are_told(claude: Home) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        claude.goals()
    claude.write("a.jsonl", [claude.row("user", "Hello"), claude.row("assistant", "Hello")])
    with pytest.raises(UsageError, match="found: none at all"):
        claude.goals()


def test_lines_that_cannot_be_read_are_counted_and_passed_over(claude: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "LONGEST", 5_000)
    huge = claude.row("user", "x" * 20_000)
    file = claude.write("a.jsonl", [claude.call(CART), huge, claude.call(RETRY)])
    deep = "[" * 4_000
    broken = ['{"type": "assistant", "message": {"content": 7}}', "[]", "null", '{"no": "type"}', "not JSON", deep]
    with file.open("ab") as end:
        end.write("".join(line + "\n" for line in broken).encode() + b"\xff\xfe\n" + b'{"type": "user", "mess')
    recorded = claude.goals()
    assert [goal.prompt for goal in recorded.goals] == [CART, RETRY]
    assert recorded.unread == 1 + len(broken) + 2


# What becomes a goal


def test_what_nobody_could_be_asked_again_is_dropped_with_the_reason(claude: Home) -> None:
    rows = [
        claude.call(CART),
        claude.call(f"  {CART}\n"),
        claude.call(CART, cwd=str(claude.project.parent)),
        claude.call("a" * 8_001),
        claude.call(" \n"),
        claude.call(RETRY, cwd="/gone/with/the/wind"),
        claude.call(RETRY, cwd="relative"),
        claude.call(RETRY, cwd="/"),
        claude.call(RETRY, cwd=str(Path.home())),
    ]
    for number, row in enumerate(rows):
        row["sessionId"] = f"session {number}"
    claude.write("a.jsonl", rows)
    recorded = claude.goals()
    assert [(goal.prompt, Path(goal.cwd).name) for goal in recorded.goals] == [(CART, "shop"), (CART, "claude")]
    assert recorded.dropped == {
        "asked before": 1,
        "its prompt has over 8,000 characters": 1,
        "its prompt is empty": 1,
        "its folder is gone": 2,
        "its folder is too wide for a workspace": 2,
    }
    assert recorded.asked == len(recorded.goals) + recorded.dropped.total()


def test_secrets_are_gone_before_anything_is_stored_and_counted(claude: Home) -> None:
    prompt = "Why does postgres://me:hunter2@db fail with ghp_0123456789abcdefghij0123456789abcdef?"
    claude.write("a.jsonl", [claude.call(prompt)])
    claude.write("agent-a.jsonl", claude.run(prompt, "The password is hunter2."))
    recorded = claude.goals()
    assert recorded.secrets == {"credentials in an address": 1, "GitHub token": 1, "password": 1}
    stored = recorded.goals[0].model_dump_json()
    assert "hunter2" not in stored
    assert "ghp_" not in stored


def test_half_a_character_can_be_stored(claude: Home) -> None:
    claude.write("a.jsonl", [claude.call("Where is \ud83e?")])
    assert json.loads(claude.goals().goals[0].model_dump_json())["prompt"] == "Where is ??"


# What a model answers anew


FOUND, AGAIN, OTHER = turn("At cart.py:4."), turn("`Cart`, a dict, is at cart.py:4."), turn("In cart.py (r1).")


def goal(project: Path, number: int = 1, prompt: str = CART) -> RecordedGoal:
    return RecordedGoal(id=f"{number:016x}", prompt=prompt, cwd=str(project), session=SESSION)


async def solved(
    server: OpenAiServer, folder: RunFolder, goals: list[RecordedGoal], said: list[Said], samples: int = 1
) -> list[TraceRow]:
    server.says(*said)
    with Ledger(folder.path / "ledger.jsonl") as ledger:
        endpoint, retries = EndpointModel(Endpoint(server.url, "big")), RetryPolicy(tries=1)
        teacher = ModelTeacher(SKILL, endpoint, ledger, samples=samples, retries=retries, failures=3)
        await solve_recorded(goals, teacher, folder, at_once=1)
    return list(read_lines(folder.recorded_traces, TraceRow))


async def test_two_attempts_that_agree_are_kept(server: OpenAiServer, claude: Home, folder: RunFolder) -> None:
    rows = await solved(server, folder, [goal(claude.project)], [SEARCH, FOUND, SEARCH, AGAIN])
    assert [(row.sample, row.kept, row.verified) for row in rows] == [(0, True, "agreement"), (1, True, "agreement")]
    assert [request["temperature"] for request in server.requests] == [0, 0, 0.8, 0.8]
    assert rows[0].trace
    assert rows[0].trace.workspace == str(claude.project)
    assert read_lines(folder.recorded_goals, RecordedGoal) == [goal(claude.project)]


async def test_two_that_differ_are_not(server: OpenAiServer, claude: Home, folder: RunFolder) -> None:
    rows = await solved(server, folder, [goal(claude.project)], [SEARCH, FOUND, SEARCH, OTHER])
    assert [(row.kept, row.verified) for row in rows] == [(False, "none")] * 2
    assert {row.reason for row in rows} == {"the attempts name different places"}


async def test_of_three_attempts_those_two_are_kept_that_agree(
    server: OpenAiServer, claude: Home, folder: RunFolder
) -> None:
    said = [SEARCH, OTHER, SEARCH, FOUND, SEARCH, AGAIN]
    rows = await solved(server, folder, [goal(claude.project)], said, samples=3)
    assert [row.kept for row in rows] == [False, True, True]


async def test_without_a_first_answer_there_is_no_second_attempt(
    server: OpenAiServer, claude: Home, folder: RunFolder
) -> None:
    rows = await solved(server, folder, [goal(claude.project)], [turn("escalate: too hard")])
    assert [(row.kept, row.reason) for row in rows] == [(False, "it gave up")]
    assert len(server.requests) == 1


async def test_a_folder_that_went_away_is_a_row(server: OpenAiServer, claude: Home, folder: RunFolder) -> None:
    rows = await solved(server, folder, [goal(claude.project / "gone")], [])
    assert [(row.kept, row.reason) for row in rows] == [(False, "its folder is gone")]


async def test_the_workspace_is_opened_to_read_and_through_the_jail(
    server: OpenAiServer, claude: Home, folder: RunFolder
) -> None:
    (claude.project / ".env").write_text("KEY=hunter2", encoding="utf-8")
    before = {file: file.read_bytes() for file in claude.project.rglob("*")}
    reads = [called("read", path=path, line=1) for path in (".env", "../../../etc/passwd", "/etc/passwd")]
    rows = await solved(server, folder, [goal(claude.project)], [*reads, turn("escalate: no")])
    assert rows[0].trace
    assert [receipt.refused for receipt in rows[0].trace.receipts] == [True] * 3
    assert "hunter2" not in rows[0].model_dump_json()
    assert {file: file.read_bytes() for file in claude.project.rglob("*")} == before


async def test_it_goes_on_where_it_was_interrupted(server: OpenAiServer, claude: Home, folder: RunFolder) -> None:
    goals = [goal(claude.project, number) for number in range(4)]
    down = Said("", 500)
    with pytest.raises(TeacherError, match="failed 3 times in a row"):
        await solved(server, folder, goals, [SEARCH, FOUND, SEARCH, AGAIN, down, down, down])
    asked = len(server.requests)
    rows = await solved(server, folder, goals, [SEARCH, FOUND, SEARCH, AGAIN] * 3)
    assert [row.kept for row in rows] == [True] * 8
    assert len(server.requests) == asked + 12


async def test_a_spent_budget_keeps_what_is_done(server: OpenAiServer, claude: Home, folder: RunFolder) -> None:
    server.says(SEARCH, FOUND, SEARCH, AGAIN)
    with Ledger(folder.path / "ledger.jsonl", budget=Budget(tokens=100)) as ledger:
        teacher = ModelTeacher(SKILL, EndpointModel(Endpoint(server.url, "big")), ledger)
        goals = [goal(claude.project, number) for number in range(3)]
        progress = await solve_recorded(goals, teacher, folder, at_once=1)
    assert (progress.done, progress.kept) == (1, 2)
    assert progress.stopped.startswith("the budget of 100 tokens is used up")
