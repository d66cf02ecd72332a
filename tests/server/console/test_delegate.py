"""`skillstill delegate`: the report of the right subagent, or a quick no; and what it learns is forgotten."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from skillstill import cli
from skillstill.models.scripted import ScriptedModel, call
from skillstill.routing.experience import experience
from skillstill.run import store

from tests.scenes import ScriptedModels, write

LOOK = call("search", pattern="class Cart")
CLAIM = "Cart is defined in cart.py:1."
Command = Callable[..., tuple[int, str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path, {"cart.py": "class Cart(dict):\n    pass\n"})


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line with a scripted model: its exit code, and what it prints."""
    monkeypatch.setattr(cli, "_models", lambda *_, **__: ScriptedModels(ScriptedModel([LOOK, CLAIM])))

    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["skillstill", *arguments])
        with pytest.raises(SystemExit) as exit:
            cli.main()
        return int(exit.value.code or 0), capsys.readouterr().out

    return run


def test_the_report_stands_under_the_name_of_the_subagent(command: Command, project: Path) -> None:
    code, said = command("delegate", "where is the class Cart defined?", "--workspace", str(project))
    assert code == 0
    assert said.splitlines()[:2] == ["explore:", CLAIM]


def test_a_program_reads_the_same_as_of_a_run(command: Command, project: Path) -> None:
    _, said = command("delegate", "where is the class Cart defined?", "--workspace", str(project), "--json")
    assert json.loads(said)["release"] == "explore@untrained"


def test_a_task_for_none_ends_with_the_code_of_a_hand_over(command: Command, project: Path) -> None:
    code, said = command("delegate", "Write an email to the team", "--workspace", str(project))
    assert code == 2
    assert said.startswith("escalate: no subagent fits")


def test_without_traces_nothing_is_kept_of_it(command: Command, project: Path) -> None:
    for task in ("where is the class Cart defined?", "Write an email to the team"):
        command("delegate", task, "--workspace", str(project), "--no-trace")
    assert not experience(project)
    assert not store.trace_files()


def test_forget_forgets_what_was_learned_of_the_folder(command: Command, project: Path) -> None:
    command("delegate", "where is the class Cart defined?", "--workspace", str(project))
    assert experience(project)
    command("forget", "--workspace", str(project))
    assert not experience(project)
