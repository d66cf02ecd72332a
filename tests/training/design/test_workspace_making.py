"""Folders that a teacher makes in the sandbox: what counts as one, what does not, and what they are called then."""

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from skillstill import cli
from skillstill_training.cli.release_output import paragraph
from skillstill_training.design.workspaces import MadeFolder, declared_sources
from skillstill_training.teachers.ledger import LedgerEntry
from skillstill_training.util.jsonl import read_lines

from tests.scenes import write
from tests.server.models.openai_server import OpenAiServer, Said, turn
from tests.training.cli.test_distil import AGENT, KINDS, SETTINGS
from tests.training.stages.test_publish import scorecard
from tests.training.teachers.toy import called

TEAMS = ("red", "green", "blue")
DONE = turn("It is done (r1).")
Made = Callable[..., tuple[int, str, Path]]


def config(team: str, at: int = 0) -> str:
    return "".join(f"{team}_{word}_{at}: {8_000 + 7 * at + len(word)}\n" for word in SETTINGS)


def makes(team: str, **files: str) -> list[Said]:
    """What a teacher says that makes three files, one of them by the shell, and others."""
    names = {f"{team}-{at}.yaml": config(team, at) for at in range(2)} | files
    calls = [called("write", path=name, content=text) for name, text in names.items()]
    return [*calls, called("shell", command=f"echo 'The services of {team}.' > README.md"), DONE]


@pytest.fixture
def made(
    server: OpenAiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Made:
    """`skillstill distil --make-workspaces 3` with declared kinds; its exit code, errors and the folders' place."""
    (agent := tmp_path / "ports.md").write_text(AGENT, encoding="utf-8")
    write(tmp_path / "declared", {"kinds.toml": KINDS})

    def run(*turns: Said, arguments: tuple[str, ...] = ()) -> tuple[int, str, Path]:
        server.says(*turns)
        places = ("--out", str(tmp_path / "skills" / "ports"), "--runs", str(tmp_path / "runs"))
        asked = ("--make-workspaces", "3", "--teacher", f"{server.url}#big", "--yes", "--offline")
        kinds = ("--kinds", str(tmp_path / "declared" / "kinds.toml"))
        monkeypatch.setattr(sys, "argv", ["skillstill", "distil", str(agent), *kinds, *places, *asked, *arguments])
        with pytest.raises(SystemExit) as exit:
            cli.main()
        return int(exit.value.code or 0), capsys.readouterr().err, tmp_path / "skills" / "ports.workspaces"

    return run


def test_what_is_made_stays_and_is_gone_on_with_and_its_making_is_in_the_ledger(made: Made) -> None:
    code, err, place = made(*makes("red"), arguments=("--budget", "100"))
    assert (code, "the budget of 100 tokens is used up" in err) == (1, True)
    assert sorted(file.name for file in (place / "1").iterdir()) == ["README.md", "red-0.yaml", "red-1.yaml"]
    assert (place / "1" / "red-1.yaml").read_text(encoding="utf-8") == config("red", 1)
    assert not (place / "2").exists()
    assert {entry.purpose for entry in read_lines(place / "ledger.jsonl", LedgerEntry)} == {"workspaces"}


@pytest.mark.parametrize(
    ("second", "why"),
    [
        ([DONE], "it is empty"),
        (makes("red"), "red-0.yaml is also in workspace 1"),
        (makes("green", **{"notes.txt": "password: hunter2-and-more\n"}), "notes.txt holds what looks like a secret"),
        (makes("green", **{"notes.txt": "see\u200bhere\n"}), "notes.txt holds characters that nobody sees"),
        ([called("shell", command="for n in 1 2 3; do seq 30000 > $n.txt; done"), DONE], "at most 400,000"),
        ([called("shell", command="ln -s /etc/passwd users; echo a > a"), DONE], "Left out (no regular file): users"),
        ([called("shell", command="echo a > .env; echo a > a.txt"), DONE], "Left out (named like a secret): .env"),
    ],
)  # fmt: skip
def test_what_is_no_workspace_is_refused_with_the_reason(made: Made, second: list[Said], why: str) -> None:
    code, err, place = made(*makes("red"), *second, *second)
    assert (code, "the teacher has made no workspace 2 in 2 tries: " in err) == (1, True), err
    assert why in err
    assert [file.name for file in place.iterdir() if file.is_dir()] == ["1"]


def test_a_second_try_is_told_why_the_first_did_not_count(made: Made, server: OpenAiServer) -> None:
    _, _, place = made(*makes("red"), DONE, *makes("green"), *makes("blue"), turn("no more"))
    told = [message["content"] for request in server.requests for message in request["messages"][1:2]]
    assert {file.name for file in place.iterdir() if file.is_dir()} == {"1", "2", "3"}
    marked = ["Your last try did not count: it is empty. Begin anew." in one for one in dict.fromkeys(told)]
    assert marked[:4] == [False, False, True, False]


def test_they_are_pinned_and_marked_and_their_figures_are_not_called_real(made: Made, tmp_path: Path) -> None:
    code, err, _ = made(*(said for team in TEAMS for said in makes(team)), turn("I have no question."))
    assert (code, "calibrated on at least 100 validation goals, here are 30" in err) == (1, True), err
    sources = tomllib.loads((tmp_path / "skills" / "ports" / "sources.toml").read_text(encoding="utf-8"))["workspace"]
    assert [(one["name"], one["split"], one["made_by"]) for one in sources] == [
        ("made-1", "train", "model-big"), ("made-2", "validation", "model-big"), ("made-3", "test", "model-big"),
    ]  # fmt: skip
    assert len({one["sha256"] for one in sources}) == 3
    assert "not figures of real files" in (tmp_path / "skills" / "ports" / "design.md").read_text(encoding="utf-8")


def test_what_another_teacher_goes_on_with_stays_the_work_of_the_first(
    made: Made, server: OpenAiServer, tmp_path: Path
) -> None:
    made(*makes("red"), arguments=("--budget", "100"))
    said = (*makes("green"), *makes("blue"), turn("I have no question."))
    made(*said, arguments=("--teacher", f"{server.url}#other"))
    sources = tomllib.loads((tmp_path / "skills" / "ports" / "sources.toml").read_text(encoding="utf-8"))["workspace"]
    assert [one["made_by"] for one in sources] == ["model-big", "model-other", "model-other"]


def test_a_verdict_says_how_much_of_the_test_was_made() -> None:
    told = paragraph("released", "ports", scorecard().model_copy(update={"made": 3}))
    assert "3 of its test workspaces were made by a model: they are no real files." in told
    assert "made by a model" not in paragraph("released", "ports", scorecard())


def test_own_folders_come_last_so_that_the_test_is_real(tmp_path: Path) -> None:
    own = [write(tmp_path / name, {"a.txt": f"{name}\n"}) for name in ("one", "two")]
    there = [MadeFolder(write(tmp_path / "made" / "1", {"a.txt": "made\n"}), "big")]
    assert [(one.name, one.split, one.made_by) for one in declared_sources(own, made=there)] == [
        ("made-1", "train", "big"), ("one", "validation", ""), ("two", "test", ""),
    ]  # fmt: skip
