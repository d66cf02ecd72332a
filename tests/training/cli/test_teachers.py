"""A model teacher, hired from the command line: measured first, then paid, and never twice for the same."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import pytest
from skillstill import cli
from skillstill.errors import UsageError
from skillstill.skills.skill import load_skill
from skillstill_training.authoring.families import load_families
from skillstill_training.authoring.goal import Goal
from skillstill_training.cli.teachers import check_sending, large_model
from skillstill_training.episode import execute, oracle_context
from skillstill_training.run.folder import RunFolder
from skillstill_training.teachers import TraceRow
from skillstill_training.teachers.ledger import LedgerEntry
from skillstill_training.teachers.probe import interleave_families
from skillstill_training.util.jsonl import read_lines
from skillstill_training.workspaces import workspace_roots

from tests.scenes import write
from tests.server.models.openai_server import OpenAiServer, Said, turn
from tests.training.teachers.toy import called

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def skillstill(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], settings: Path, frozen: RunFolder
) -> Run:
    """The command `traces` for the skill's frozen goals."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    def run(*arguments: str) -> tuple[int, str, str]:
        common = ["skillstill", "traces", str(settings), "--run", str(frozen.path), "--at-once", "1"]
        monkeypatch.setattr(sys, "argv", [*common, *arguments])
        with pytest.raises(SystemExit) as exit:
            cli.main()
        captured = capsys.readouterr()
        return int(exit.value.code or 0), captured.out, captured.err

    return run


def good_turns(settings: Path, goals: Sequence[Goal]) -> list[Said]:
    """What a model says that solves each of the goals as its plan does."""
    skill, families = load_skill(settings), {family.name: family for family in load_families(settings)}
    roots = workspace_roots(settings, {goal.workspace for goal in goals})
    said = []
    for goal in goals:
        root = roots[goal.workspace]
        trace, _ = anyio.run(execute, goal, families[goal.family], skill, root, oracle_context(goal, 1))
        for message in trace.messages[2:]:
            if message.role == "assistant":
                said += [called(call.name, **call.arguments) for call in message.calls] or [turn(message.content)]
    return said


def test_a_good_model_is_measured_then_solves_and_is_not_measured_again(
    skillstill: Run, settings: Path, folder: RunFolder, server: OpenAiServer
) -> None:
    goals = folder.frozen_goals()
    probed = interleave_families([goal for goal in goals if goal.split == "validation"], 3)
    trained = [goal for goal in goals if goal.split == "train"][:5]
    server.says(*good_turns(settings, probed), *good_turns(settings, trained))
    hired = ("--teacher", f"{server.url}#big", "--probe", "3", "--price", "1,0.1,2")
    code, out, err = skillstill(*hired, "--limit", "3", "--yes")
    assert (code, "solved 3 of 3 goals, 1.00 (95 % interval 0.44 to 1.00)" in err) == (0, True)
    assert f"measured on {probed[0].id}: solved" in err
    assert "2-traces.jsonl" in out
    rows = read_lines(folder.traces, TraceRow)
    assert [(row.goal, row.kept, row.verified) for row in rows] == [(goal.id, True, "check") for goal in trained[:3]]
    assert "still to do: 3 goals, 3 attempts with what is still measured: about " in err
    assert "(from 3 attempts)" in err
    asked = len(server.requests)
    server.says(*good_turns(settings, trained))
    code, _, err = skillstill(*hired, "--limit", "5", "--yes")
    assert (code, "measured on" in err, len(server.requests) > asked) == (0, False, True)
    assert {entry.purpose for entry in read_lines(folder.path / "ledger.jsonl", LedgerEntry)} == {"probe", "traces"}


def test_after_five_goals_a_person_hears_what_the_rest_takes_and_can_leave_it_at_that(
    skillstill: Run, monkeypatch: pytest.MonkeyPatch, settings: Path, folder: RunFolder, server: OpenAiServer
) -> None:
    goals = interleave_families([goal for goal in folder.frozen_goals() if goal.split == "validation"], 8)
    hired = ("--teacher", f"{server.url}#big", "--probe", "8", "--price", "1,1,2", "--limit", "1", "--samples", "2")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    said: list[bool] = []
    monkeypatch.setattr("typer.confirm", lambda *args, **options: said.pop(0))
    said.append(False)
    server.says(*good_turns(settings, goals[:5]))
    code, _, err = skillstill(*hired)
    assert (code, len(server.turns)) == (1, 0)
    assert "still to do: 1 goals, 5 attempts with what is still measured: about " in err
    assert "USD (from 5 attempts)" in err
    assert "nothing more was spent" in err
    asked = len(server.requests)
    said.append(True)
    server.says(*good_turns(settings, goals[5:]), *[turn("escalate: too hard")] * 2)
    code, _, err = skillstill(*hired)
    assert (code, "solved 8 of 8 goals" in err, len(server.turns)) == (0, True, 0)
    assert len(read_lines(folder.traces, TraceRow)) == 2
    assert len(server.requests) > asked


def test_where_nobody_can_be_asked_nothing_is_spent(skillstill: Run, server: OpenAiServer) -> None:
    code, _, err = skillstill("--teacher", f"{server.url}#big", "--price", "1,1,2")
    assert (code, server.requests) == (64, [])
    assert "what a teacher costs is asked at a terminal" in err


def test_an_anthropic_model_is_hired_by_its_name(
    skillstill: Run, monkeypatch: pytest.MonkeyPatch, settings: Path, folder: RunFolder, server: OpenAiServer
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-scripted")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    said = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "escalate: too hard"}]}
    message = {**said, "stop_reason": "end_turn", "usage": {"input_tokens": 10, "output_tokens": 5}}
    server.says(*[Said(json.dumps(message))] * 3)
    code, _, err = skillstill("--teacher", "anthropic:claude-big", "--probe", "2", "--least", "0", "--limit", "1")
    assert (code, set(server.paths)) == (0, {"/v1/messages"})
    assert "about 15 tokens" in err
    (row,) = read_lines(folder.traces, TraceRow)
    assert (row.teacher, row.reason) == ("anthropic-claude-big", "it gave up")


def test_a_weak_model_is_refused_with_its_score_and_makes_no_traces(
    skillstill: Run, folder: RunFolder, server: OpenAiServer
) -> None:
    server.says(turn("I do not know."), turn("It is 5."))
    code, _, err = skillstill("--teacher", f"{server.url}#small", "--probe", "2")
    assert code == 1
    assert "solved 0 of 2 goals, 0.00 (95 % interval 0.00 to 0.66), at least 0.60 is asked of a teacher" in err
    assert not folder.traces.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--teacher", "http://127.0.0.1:9#x", "--budget", "2usd"), "give --price, or a budget in tokens"),
        (("--teacher", "http://127.0.0.1:9#x", "--price", "cheap"), "a price is IN,CACHED,OUT"),
        (("--teacher", "http://127.0.0.1:9#x", "--price", "1,1,1", "--budget", "0usd"), "money or tokens above 0"),
        (("--teacher", "http://127.0.0.1:9#x", "--budget", "-5"), "money or tokens above 0"),
        (("--teacher", "claude-code", "--price", "1,1,1", "--yes"), "tells its cost itself: leave --price out"),
        (("--teacher", "anthropic:", "--yes"), "which model? Say it like anthropic:"),
        (("--teacher", "anthropic:big", "--yes"), "needs your key: export ANTHROPIC_API_KEY"),
        (("--recorded", "/nowhere/at/all"), "give --teacher URL#MODEL"),
        (("--teacher", "gpt"), "the endpoint must be an address like http://localhost:8080#MODEL"),
        (("--teacher", "http://127.0.0.1:9#x", "--recorded", "/nowhere/at/all"), "no such folder: /nowhere/at/all"),
    ],
)
def test_terms_that_make_no_sense_are_said_in_a_sentence(
    skillstill: Run, arguments: tuple[str, ...], said: str
) -> None:
    code, _, err = skillstill(*arguments)
    assert (code, said in err) == (64, True)


def test_where_nothing_recorded_can_be_asked_again_nothing_else_is_paid_for(
    skillstill: Run, tmp_path: Path, server: OpenAiServer
) -> None:
    asked = {"prompt": "Where?", "subagent_type": "settings"}
    call = {"type": "tool_use", "name": "Agent", "input": asked}
    row = {"type": "assistant", "cwd": "/gone/with/the/wind", "message": {"content": [call]}}
    transcripts = write(tmp_path / "projects", {"a.jsonl": json.dumps(row) + "\n"})
    code, _, err = skillstill("--teacher", f"{server.url}#big", "--recorded", str(transcripts))
    assert (code, "can be asked again" in err, server.requests) == (64, True, [])


def test_recorded_folders_leave_this_machine_only_when_that_is_said() -> None:
    for address in ("http://127.0.0.1:8080", "http://localhost:9/v1#big"):
        check_sending(large_model(address), False)
    for address, who in (
        ("https://api.example.com#big", r"api\.example\.com"),
        ("claude-code:opus", "the provider of"),
    ):
        check_sending(large_model(address), True)
        with pytest.raises(UsageError, match=f"{who}.* would be sent what is in the recorded folders"):
            check_sending(large_model(address), False)
