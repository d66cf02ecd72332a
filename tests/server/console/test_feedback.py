"""`skillstill feedback` and follow-ups from the command line: what is kept, what is listed, what is refused."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from skillstill import cli
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import store
from skillstill.run.feedback import all_feedback
from skillstill.types import Message, ToolCall

from tests.scenes import ScriptedModels, write

LOOK = call("search", pattern="class Cart")
CLAIM = "Cart is defined in cart.py:1."
QUESTION = "where is the class Cart defined?"
Command = Callable[..., tuple[int, str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "project", {"cart.py": "class Cart(dict):\n    pass\n"})


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line, each time with a model that says these turns; its exit code, and all that it prints."""

    def run(*arguments: str, turns: tuple[Message | str, ...] = (LOOK, CLAIM)) -> tuple[int, str]:
        monkeypatch.setattr(cli, "_models", lambda *_, **__: ScriptedModels(ScriptedModel(list(turns))))
        monkeypatch.setattr(sys, "argv", ["skillstill", *arguments])
        with pytest.raises(SystemExit) as exit:
            cli.main()
        printed = capsys.readouterr()
        return int(exit.value.code or 0), printed.out + printed.err

    return run


@pytest.fixture
def ask(command: Command, project: Path) -> Command:
    def run(*arguments: str, turns: tuple[Message | str, ...] = (LOOK, CLAIM)) -> tuple[int, str]:
        return command("run", "explore", *arguments, "--workspace", str(project), turns=turns)

    return run


def test_what_was_said_of_a_run_is_kept_with_what_a_training_needs(ask: Command, command: Command) -> None:
    ask(QUESTION)
    code, said = command("feedback", "last", "right")
    (kept,) = all_feedback()
    trace = store.load("last")
    assert (code, said) == (0, f'kept here: run {trace.run[:12]} of explore was right: "{QUESTION}"\n')
    assert (kept.run, kept.prompt, kept.right, kept.places) == (trace.run, QUESTION, CLAIM, ("cart.py:1",))
    assert kept.calls == (ToolCall(name="search", arguments={"pattern": "class Cart"}),)


def test_the_last_word_on_a_run_counts_and_stays_when_its_trace_goes(ask: Command, command: Command) -> None:
    ask(QUESTION)
    command("feedback", "last", "right")
    command("feedback", "last", "wrong", "it is in basket.py:3")
    store.trace_files()[0].unlink()
    (kept,) = all_feedback()
    assert (kept.verdict, kept.right, kept.calls) == ("wrong", "it is in basket.py:3", ())
    assert oct(next(iter(store.folder().with_name("feedback").iterdir())).stat().st_mode)[-3:] == "600"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["last", "maybe"], "feedback is `right` or `wrong`, not 'maybe'"),
        (["last"], "feedback is `right` or `wrong`, not ''"),
        (["ffff", "right"], "no run 'ffff' is stored"),
        (["last", "wrong", "x" * 1_001], "what is right has 1,001 characters"),
    ],
)
def test_what_cannot_be_kept_is_told_in_a_sentence(
    ask: Command, command: Command, arguments: list[str], said: str
) -> None:
    ask(QUESTION)
    code, printed = command("feedback", *arguments)
    assert code == 64
    assert said in printed
    assert not all_feedback()


def test_a_run_without_an_answer_cannot_be_right(ask: Command, command: Command) -> None:
    ask(QUESTION, turns=("escalate: no",))
    code, said = command("feedback", "last", "right")
    assert code == 64
    assert "has no answer that could be right: say `wrong`, and what is right" in said


def test_what_failed_is_listed_by_class(ask: Command, command: Command, project: Path) -> None:
    assert command("feedback") == (0, "no stored run failed\n")
    ask(QUESTION)
    command("feedback", "last", "wrong", "cart.py:2")
    ask("where is Cart and what does it inherit from?", turns=("escalate: no",))
    ask("and what does it do", "--after", "last", turns=("escalate: no",))
    command("delegate", "Write an email to the team", "--workspace", str(project))
    found = {name: len(runs) for name, runs in json.loads(command("feedback", "--json")[1]).items()}
    assert found == {
        "handed back": 2, "wrong by feedback": 1, "wrong skill": 1, "two questions in one": 1, "follow-up": 1,
    }  # fmt: skip
    assert "handed back: 2\n" in command("feedback")[1]


def test_the_latest_five_runs_of_a_class_are_listed_and_the_others_counted(ask: Command, command: Command) -> None:
    for number in range(5):
        ask(f"where is Cart{number}?", turns=("escalate: no",))
    assert "more" not in command("feedback")[1]
    ask("where is Cart5?", turns=("escalate: no",))
    listed = command("feedback")[1].splitlines()
    assert (listed[0], listed[6:]) == ("handed back: 6", ["  … 1 more: --json lists all"])
    assert [line.rpartition("  ")[2] for line in listed[1:6]] == [f"where is Cart{number}?" for number in range(1, 6)]


def test_what_another_subagent_answered_in_the_end_was_the_wrong_skill(command: Command, project: Path) -> None:
    folder = ("--workspace", str(project))
    command("run", "logs", QUESTION, *folder, turns=("escalate: no",))
    command("run", "explore", QUESTION, *folder)
    found = json.loads(command("feedback", "--json")[1])
    assert list(found) == ["handed back", "wrong skill"]


def test_what_is_said_to_be_right_did_not_fail(ask: Command, command: Command) -> None:
    ask(QUESTION)
    command("feedback", "last", "right")
    assert command("feedback", "--json") == (0, "{}\n")


def test_stats_count_it_and_forget_forgets_that_of_the_folder(
    ask: Command, command: Command, project: Path, tmp_path: Path
) -> None:
    ask(QUESTION)
    command("feedback", "last", "wrong")
    (row,) = json.loads(command("stats", "--json")[1])
    assert (row["said_right"], row["said_wrong"]) == (0, 1)
    assert "0 pieces of feedback" in command("forget", "--workspace", str(tmp_path))[1]
    assert "1 pieces of feedback" in command("forget", "--workspace", str(project))[1]
    assert not all_feedback()


def test_a_follow_up_is_asked_under_what_it_follows(ask: Command, command: Command, project: Path) -> None:
    ask(QUESTION)
    first = store.load("last")
    ask("and its base class?", "--after", first.run[:8])
    second = store.load("last")
    assert second.prompt == f"{QUESTION}\n\n{CLAIM}\n\nand its base class?"
    assert second.after == first.run
    assert command("feedback", "last", "right")[1].endswith(' was right: "and its base class?"\n')
    command("delegate", "and then?", "--after", "last", "--workspace", str(project))
    assert (store.load("last").skill, store.load("last").after) == ("explore", second.run)


def test_a_follow_up_of_a_hand_over_carries_the_question_alone(ask: Command) -> None:
    ask(QUESTION, turns=("escalate: no",))
    ask("in cart.py", "--after", "last")
    assert store.load("last").prompt == f"{QUESTION}\n\nin cart.py"


def test_a_run_of_another_folder_or_subagent_is_refused(
    ask: Command, command: Command, project: Path, tmp_path: Path
) -> None:
    ask(QUESTION)
    elsewhere = write(tmp_path / "elsewhere", {"a.py": ""})
    code, said = command("run", "explore", "and here?", "--after", "last", "--workspace", str(elsewhere))
    assert code == 64
    assert f"was about {project}, not about {elsewhere}" in said
    code, said = command("run", "logs", "and here?", "--after", "last", "--workspace", str(project))
    assert code == 64
    assert "was of explore, not of logs: ask explore again" in said
