"""The stages of a release as they are typed: which base, in whose way, and what to type next."""

import importlib.util
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.progress import Progress
from skillstill import cli
from skillstill.skills.registry import ENVIRONMENT, read_registry
from skillstill.skills.skill import load_skill
from skillstill.types import ModelFile
from skillstill_training.cli import release_output
from skillstill_training.run.base import write_base
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import load_recipe
from skillstill_training.run.scorecard import Scorecard
from skillstill_training.stages import pipeline

from tests.scenes import ROOT, write
from tests.training.stages.test_publish import scorecard

Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """A command's exit code, output and errors."""

    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["skillstill", *map(str, words)])
        with pytest.raises(SystemExit) as exit:
            cli.main()
        captured = capsys.readouterr()
        return int(exit.value.code or 0), captured.out, captured.err

    return run


@pytest.fixture
def run(settings: Path, folder: RunFolder) -> RunFolder:
    """One that holds its recipe and an exported adapter."""
    folder.save_recipe(load_recipe(settings))
    write(folder.path, {folder.exported.name: "GGUF"})
    return folder


def test_evaluated_before_it_was_exported_it_says_what_to_type(typed: Typed, settings: Path, run: RunFolder) -> None:
    run.exported.unlink()
    code, _, said = typed("evaluate", settings, "--run", run.path)
    assert (code, "6-adapter.gguf is missing: type `skillstill export settings` first" in said) == (1, True), said


def test_a_run_that_is_the_folder_one_stands_in_has_a_skill_s_name(
    typed: Typed, settings: Path, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run.path)
    _, _, said = typed("report", settings, "--run", ".")
    assert "holds no scorecard: type `skillstill evaluate settings` first" in said


def test_it_is_measured_on_the_base_that_it_was_trained_on_and_by_today_s_recipe(
    typed: Typed, settings: Path, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[ModelFile, int]] = []

    def measure(skill: Path, folder: RunFolder, base: ModelFile, *rest: object, **others: object) -> Scorecard:
        asked.append((base, folder.recipe().evaluate.paired))
        return scorecard()

    monkeypatch.setattr(pipeline, "measure", measure)
    trained = ModelFile(source="file:/other.gguf", sha256="7" * 64)
    typed("evaluate", settings, "--run", run.path)
    write_base(run, trained)
    recipe = settings / "recipe.toml"
    recipe.write_text(recipe.read_text("utf-8").replace("paired = 3", "paired = 5"), encoding="utf-8")
    typed("evaluate", settings, "--run", run.path)
    assert asked == [(load_skill(settings).subagent.base, 3), (trained, 5)]


@pytest.mark.parametrize("command", ["traces", "dataset", "evaluate", "publish"])
def test_in_a_run_that_another_command_works_in_nothing_is_begun(
    typed: Typed, settings: Path, run: RunFolder, command: str
) -> None:
    with run.alone():
        code, _, said = typed(command, settings, "--run", run.path)
    assert (code, f"another command is at work in {run.path}" in said) == (1, True), said


@pytest.mark.parametrize("command", ["sft", "export", "evaluate", "publish", "train"])
def test_without_the_training_extra_it_says_in_one_sentence_what_to_type(
    typed: Typed, settings: Path, run: RunFolder, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in ("torch", "peft") else find(name))
    code, out, said = typed(command, settings, "--run", run.path)
    assert (code, out) == (1, "")
    assert said == "skillstill: this needs torch, peft: type `pip install 'skillstill[training]'` (about 1.5 GB)\n"


def test_a_release_says_where_it_is_registered_and_how_it_is_called(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    registry = Path(shutil.copy(ROOT / "registry.json", tmp_path / "registry.json"))
    name = read_registry(registry).entries[0].name
    released = scorecard().model_copy(update={"skill": name, "verdict": "released"})
    release_output.print_verdict(released, run, registry, as_json=False)
    assert f'registered in {registry}: skillstill run {name} --registry {registry} "..."' in capsys.readouterr().out
    monkeypatch.setenv(ENVIRONMENT, str(registry))
    release_output.print_verdict(released, run, registry, as_json=False)
    assert f'registered in {registry}: skillstill run {name} "..."' in capsys.readouterr().out
    release_output.print_verdict(
        released.model_copy(update={"verdict": "not verifiable"}), run, registry, as_json=False
    )
    assert "registered in" not in capsys.readouterr().out


def test_the_clock_of_a_stage_that_is_there_already_stands_still() -> None:
    now = [0.0]
    rows = Progress(get_time=lambda: now[0], disable=True)
    release_output.StageScreen(rows).kept("goals")
    now[0] = 100.0
    assert rows.tasks[0].finished_time == 0


def test_goals_say_in_a_pipe_which_workspace_is_at_work(typed: Typed, settings: Path, tmp_path: Path) -> None:
    code, _, told = typed("goals", settings, "--runs", tmp_path / "runs", "--few", "1")
    assert code == 0
    assert [line for line in told.splitlines() if line.startswith("workspace ")] == [
        f"workspace {name}" for name in ("copper", "nickel", "cobalt", "chrome")
    ]
