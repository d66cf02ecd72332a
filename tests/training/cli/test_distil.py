"""From an agent's file, declared kinds and three folders to a verdict, without a line of Python."""

import io
import sys
import tomllib
from pathlib import Path

import pytest
from skillstill import cli
from skillstill.skills.registry import read_registry
from skillstill.skills.skill import load_skill
from skillstill_training.design.declared import read_declared
from skillstill_training.evaluation.baseline import load_baseline
from skillstill_training.run.folder import RunFolder

from tests.scenes import ROOT
from tests.training.stages.test_pipeline import Workshop, workshop

__all__ = ["workshop"]
AGENT = """---
name: ports
description: Tells which settings a service is deployed with.
---
Say what a service's configuration file sets. Answer in one line.
"""
WORDINGS = [
    "what is {key} in {name}?", "{key} of {name}", "which {key} does {name} use", "value of {key} in {name}",
    "tell me the {key} from {name}", "what does {name} say for {key}", "{name}: {key}?", "look up {key} in {name}",
    "how is {key} set in {name}", "{key} according to {name}", "read {key} from {name}", "current {key} in {name}?",
]  # fmt: skip
TEST_WORDINGS = ["in {name}, what's the {key}", "give me {key}, it is in {name}", "{name} has which {key}",
                 "I need the {key} that {name} configures"]  # fmt: skip
KINDS = f"""
[[kind]]
name = "value_of"
means = "the value of the setting {{key}} in the file {{name}}"
form = "value"
draw = "select settings.name as key, files.name as name from settings join files using (path)"
gold = "select value from settings join files using (path) where settings.name = {{key}} and files.name = {{name}}"
query = "select value from settings where name = {{key}} and path like '%{{name}}'"
absent = true
hard = true
wordings = {WORDINGS}
test = {TEST_WORDINGS}
"""
SETTINGS = (
    "port",
    "workers",
    "timeout",
    "retries",
    "backlog",
    "queue",
    "burst",
    "quota",
    "depth",
    "window",
    "limit",
    "ttl",
)


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    named = []
    for number, (team, first) in enumerate({"red": "8080", "green": "9090", "blue": "7070"}.items()):
        folder = tmp_path / "services" / team
        folder.mkdir(parents=True)
        for at in range(8):
            lines = (f"{team}_{word}_{at}: {int(first) + 13 * at + number}" for word in SETTINGS)
            (folder / f"{team}-{at}.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        named += ["--workspace", str(folder)]
    return named


@pytest.fixture
def declared(tmp_path: Path) -> Path:
    (file := tmp_path / "kinds.toml").write_text(KINDS, encoding="utf-8")
    return file


def distil(patch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> int:
    (agent := folder / "ports.md").write_text(AGENT, encoding="utf-8")
    patch.setattr(sys, "argv", ["skillstill", "distil", str(agent), *arguments])
    with pytest.raises(SystemExit) as exit:
        cli.main()
    return int(exit.value.code or 0)


def test_a_skill_with_declared_kinds_goes_the_whole_way_in_one_command(
    workshop: Workshop,
    folders: list[str],
    declared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    skill, registry = tmp_path / "skills" / "ports", tmp_path / "skills" / "registry.json"
    names = ["--kinds", str(declared), *folders, "--out", str(skill), "--runs", str(tmp_path / "runs")]

    code = distil(monkeypatch, tmp_path, *names, "--registry", str(registry), "--yes", "--offline")

    said = capsys.readouterr()
    assert "1 declared kinds, checked by their queries" in said.out
    assert "your folders, copied: 1 train, 1 validation, 1 test" in said.out
    loaded = load_skill(skill)
    assert "query" in loaded.subagent.tools
    assert loaded.subagent.readers == ("config",)
    assert not (skill / "goals.py").exists(), "nobody wrote or copied Python"
    assert tomllib.loads((skill / "recipe.toml").read_text(encoding="utf-8"))["evaluate"]["field"] == 0
    assert code in (0, 2), said.err
    run = RunFolder.latest(tmp_path / "runs", "ports")
    goals = run.frozen_goals()
    assert {goal.split for goal in goals} == {"train", "validation", "test"}
    assert (code == 0) == bool(read_registry(registry).entries if registry.exists() else ())


@pytest.mark.parametrize("json", [(), ("--json",)])
def test_without_a_terminal_the_plan_is_shown_and_nothing_begins_unless_that_is_said(
    folders: list[str], declared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], json: tuple[str, ...],
) -> None:  # fmt: skip
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    names = ["--kinds", str(declared), *folders, "--out", str(tmp_path / "ports"), *json]
    assert distil(monkeypatch, tmp_path, *names) == 64
    said = capsys.readouterr()
    assert "minutes of an idle core at most" in (said.err if json else said.out)
    assert "is asked at a terminal: without one, say --yes" in said.err
    assert not (json and said.out)
    assert not (tmp_path / "ports").exists()


def test_the_script_to_beat_answers_by_the_kinds(
    workshop: Workshop, folders: list[str], declared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill = tmp_path / "skills" / "ports"
    names = ["--kinds", str(declared), *folders, "--out", str(skill), "--runs", str(tmp_path / "runs")]
    distil(monkeypatch, tmp_path, *names, "--registry", str(tmp_path / "registry.json"), "--yes", "--offline")
    answer, root = load_baseline(skill), tmp_path / "services" / "red"
    assert answer("what is red_port_2 in red-2.yaml?", root) == "It is 8106 (r1)."
    assert answer("somebody asks: red_workers_3 in red-3.yaml, please", root) == "It is 8119 (r1)."
    assert answer("what is red_port_2 in red-9.yaml?", root) == "There is none (r1 found nothing)."


def test_what_is_wrong_in_the_kinds_is_told_before_anything_is_written(
    folders: list[str], declared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    declared.write_text(KINDS.replace("settings", "knobs"), encoding="utf-8")
    names = ["--kinds", str(declared), *folders, "--out", str(tmp_path / "ports")]
    assert distil(monkeypatch, tmp_path, *names, "--yes") == 1
    assert "name no table of a bundled reader" in capsys.readouterr().err
    assert not (tmp_path / "ports").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (f"test = {TEST_WORDINGS}\n", "", "kind 'value_of': test: expected wordings by another hand, for the test"),
        ("where name = {key} and", "where name = {kee} and", "kinds.toml: kind 'value_of': query: no slot 'kee'; "),
        ("using (path)\"", "using (path) where files.name like 'red%'\"",
         "the family 'value_of' yields no goal for the split 'validation' in green: it drafts nothing there; change"),
    ],
)  # fmt: skip
def test_a_kind_that_nothing_can_be_asked_of_is_told_and_no_folder_is_left(
    folders: list[str], declared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], old: str, new: str, said: str,
) -> None:  # fmt: skip
    assert old in KINDS
    declared.write_text(KINDS.replace(old, new), encoding="utf-8")
    names = ["--kinds", str(declared), *folders, "--out", str(tmp_path / "ports")]
    assert distil(monkeypatch, tmp_path, *names, "--yes", "--offline") == 1
    told = capsys.readouterr().err
    assert said in told
    assert ".design-" not in told, "no folder is named that is gone"
    assert not (tmp_path / "ports").exists()


def test_a_folder_that_is_there_is_not_gone_on_with_by_other_kinds(
    folders: list[str], declared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (skill := tmp_path / "ports").mkdir()
    (skill / "kinds.toml").write_text(KINDS.replace("the value", "a value"), encoding="utf-8")
    names = ["--kinds", str(declared), *folders, "--out", str(skill)]
    assert distil(monkeypatch, tmp_path, *names, "--yes") == 64
    assert f"{skill} is there already, with other kinds: remove it to begin anew" in capsys.readouterr().err


def test_a_skill_that_is_refused_may_still_be_distilled_by_declared_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert distil(monkeypatch, tmp_path, "--out", str(tmp_path / "ports"), "--yes") == 1
    assert "unless you declare what can be asked of it (--kinds kinds.toml)" in capsys.readouterr().err


def test_the_kinds_of_the_docs_can_be_read_as_they_stand(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "designing-a-skill.md").read_text(encoding="utf-8")
    (file := tmp_path / "kinds.toml").write_text(page.split("```toml\n")[1].split("```")[0], encoding="utf-8")
    declared = read_declared(file)
    assert ([kind.name for kind in declared.kinds], declared.readers) == (["image", "why"], ("config",))
