"""The whole way from a skill folder to a verdict: what is done, what is left out, and how it goes on after a kill.

Goals, traces, dataset and publishing are real; where a test looks at later stages, the first three are a copy. What
trains, exports, compares and measures is replaced by files of the same names: those stages have tests of their own.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from skillstill.contract import serving_hash
from skillstill.errors import GateError, StageError, UsageError
from skillstill.skills.registry import Registry
from skillstill.skills.skill import load_skill
from skillstill.types import ModelFile
from skillstill_training.cli.release import _teach
from skillstill_training.cli.release_output import paragraph
from skillstill_training.evaluation.looks import log_look
from skillstill_training.executors.executor import IN_PROCESS
from skillstill_training.export.shipped import proof_file
from skillstill_training.learning.started import TrainingStart, started_file, trained_file
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import TrainConfig, load_recipe
from skillstill_training.run.scorecard import ExportProof, Gate, Scorecard
from skillstill_training.stages import pipeline
from skillstill_training.stages.dataset import make_dataset
from skillstill_training.stages.evaluate import EvaluationOptions
from skillstill_training.stages.pipeline import PipelineResult, Tell, TrainingOrder, resume_run, train_skill
from skillstill_training.stages.publish import registry_of
from skillstill_training.util.hashes import file_sha256
from skillstill_training.util.jsonl import write_text

from tests.scenes import move_home
from tests.training.runs import copy_run, copy_settings
from tests.training.stages.test_publish import scorecard

STAGES = ["goals", "traces", "dataset", "training", "export", "evaluate"]
Train = Callable[..., PipelineResult]


class Watch:
    """Remembers which stages were done and which were there."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.left_out: list[str] = []

    def kept(self, name: str) -> None:
        self.left_out.append(name)

    @contextmanager
    def stage(self, name: str) -> Iterator[Tell]:
        yield lambda done, total, note: None
        self.done.append(name)


class Workshop:
    """The heavy stages as files; `fails` is raised by the one of that name, `parity` is what its gate says."""

    def __init__(self) -> None:
        self.plans: list[TrainConfig] = []
        self.fails: dict[str, BaseException] = {}
        self.parity = True
        self.offline = False
        self.stock = (0.5, 0.7)

    def make_adapter(
        self,
        skill: Path,
        folder: RunFolder,
        base: Path,
        plan: TrainConfig,
        on_progress: Any,
        *,
        offline: bool,
        **_: Any,
    ) -> None:
        self.plans.append(plan)
        self.offline = offline
        on_progress(SimpleNamespace(step=1, steps=1, note="loss 0.1"))
        self._fail("training")
        started = TrainingStart.of(folder, file_sha256(base), plan)
        write_text(started_file(folder.adapter), started.model_dump_json())
        write_text(trained_file(folder.adapter), scorecard().trained.model_dump_json())

    def ship(self, folder: RunFolder, base: Path, *, name: str) -> None:
        self._fail("export")
        folder.exported.write_bytes(b"GGUF of " + name.encode())
        gate = Gate(name="parity", passed=self.parity, told="KL 0.54")
        proof = ExportProof(adapter=file_sha256(folder.exported), base=file_sha256(base), gate=gate)
        write_text(proof_file(folder), proof.model_dump_json())

    async def evaluate(
        self, skill: Path, folder: RunFolder, adapter: ModelFile, options: EvaluationOptions, **_: Any
    ) -> Scorecard:
        self._fail("evaluate")
        base = options.base
        assert base
        files = {"base": base, "adapter": adapter, "contract": serving_hash(load_skill(skill), base, adapter)}
        card = scorecard(stock=self.stock).model_copy(update={"goals": file_sha256(folder.goals), **files})
        write_text(folder.scorecard, card.model_dump_json())
        return card

    def _fail(self, stage: str) -> None:
        if error := self.fails.pop(stage, None):
            raise error


@pytest.fixture
def workshop(monkeypatch: pytest.MonkeyPatch) -> Workshop:
    made, sft = Workshop(), ModuleType("skillstill_training.stages.sft")
    sft.make_adapter = made.make_adapter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, sft.__name__, sft)
    monkeypatch.setattr("skillstill_training.stages.export.ship", made.ship)
    monkeypatch.setattr(pipeline, "evaluate", made.evaluate)
    monkeypatch.setattr(pipeline, "write_report", lambda folder: folder.report)
    return made


@pytest.fixture(scope="session")
def settings_dataset(settings_goals: RunFolder, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """The first three stages of `settings` unchanged, done once."""
    home = tmp_path_factory.mktemp("settings-dataset")
    skill, run = copy_settings(home), copy_run(settings_goals, RunFolder(home / "dataset"))
    with pytest.MonkeyPatch.context() as patch:
        move_home(home, patch)
        _teach(skill, None, True, IN_PROCESS)(run, lambda progress: None)
        make_dataset(skill, run)
    return run


@pytest.fixture
def with_dataset(settings: Path, tmp_path: Path, settings_dataset: RunFolder) -> None:
    """The run that `train` goes on with has all that it learns from."""
    copy_run(settings_dataset, resume_run(tmp_path / "runs", settings))


@pytest.fixture
def train(settings: Path, tmp_path: Path, workshop: Workshop) -> Train:
    def run(watch: Watch, **changes: Any) -> PipelineResult:
        order = TrainingOrder(teach=_teach(settings, None, True, IN_PROCESS), registry=registry_of(settings), **changes)
        folder = resume_run(tmp_path / "runs", settings)
        with folder.alone():
            return train_skill(settings, folder, order, watch)

    return run


def test_it_goes_from_a_skill_folder_to_a_release(train: Train, settings: Path) -> None:
    watch = Watch()
    ending = train(watch)
    assert watch.done == STAGES
    assert ending.verdict == "released"
    assert ending.report
    assert Registry(registry_of(settings)).entry("settings").entry.state == "released"


@pytest.mark.usefixtures("with_dataset")
def test_done_once_more_it_only_measures_what_it_has_not_measured(train: Train, tmp_path: Path) -> None:
    first = train(Watch())
    watch = Watch()
    assert train(watch) == first
    assert (watch.left_out, watch.done) == (STAGES[:-1], STAGES[-1:])
    assert len(list((tmp_path / "runs" / "settings").iterdir())) == 1


@pytest.mark.usefixtures("with_dataset")
@pytest.mark.parametrize("stage", ["training", "export", "evaluate"])
def test_killed_in_a_stage_it_goes_on_there(train: Train, workshop: Workshop, settings: Path, stage: str) -> None:
    workshop.fails[stage] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        train(Watch())
    assert not registry_of(settings).exists()
    watch = Watch()
    assert train(watch).verdict == "released"
    assert watch.left_out == STAGES[: STAGES.index(stage)]
    assert watch.done == STAGES[STAGES.index(stage) :]


@pytest.mark.usefixtures("with_dataset")
def test_what_was_made_from_something_newer_is_made_again(train: Train, tmp_path: Path, settings: Path) -> None:
    train(Watch())
    folder = RunFolder.latest(tmp_path / "runs", "settings")
    later = trained_file(folder.adapter).stat().st_mtime + 60
    os.utime(folder.dataset, (later, later))
    watch = Watch()
    train(watch)
    assert watch.done[0] == "training"


@pytest.mark.usefixtures("with_dataset")
def test_another_base_is_trained_anew_on_the_same_goals(train: Train, tmp_path: Path) -> None:
    train(Watch())
    (tmp_path / "other.gguf").write_bytes(b"GGUF")
    watch = Watch()
    train(watch, base=tmp_path / "other.gguf")
    assert watch.left_out == STAGES[:3]


def test_another_recipe_is_another_run_even_in_the_same_second(
    train: Train, tmp_path: Path, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    monkeypatch.setattr("skillstill_training.run.folder.datetime", SimpleNamespace(now=lambda zone: now))
    train(Watch())
    before = resume_run(tmp_path / "runs", settings)
    (settings / "recipe.toml").write_text("seed = 2\n" + (settings / "recipe.toml").read_text("utf-8"), "utf-8")
    assert resume_run(tmp_path / "runs", settings) != before


@pytest.mark.usefixtures("with_dataset")
def test_a_budget_caps_what_is_learned_and_without_it_more_is(train: Train, workshop: Workshop) -> None:
    train(Watch(), minutes=2)
    train(watch := Watch())
    assert [plan.tokens for plan in workshop.plans] == [2 * pipeline.TOKENS_A_MINUTE, TrainConfig().tokens]
    assert watch.left_out == STAGES[:3]


@pytest.mark.usefixtures("with_dataset")
def test_another_adapter_for_a_test_set_that_was_looked_at_is_refused_before_it_is_trained(
    train: Train, workshop: Workshop, settings: Path, tmp_path: Path
) -> None:
    train(Watch(), minutes=2)
    log_look(resume_run(tmp_path / "runs", settings), ("ours",), ModelFile(source="file:a.gguf", sha256="1" * 64))
    with pytest.raises(StageError, match="looked at with another adapter: change `seed` in recipe"):
        train(Watch())
    assert len(workshop.plans) == 1


@pytest.mark.usefixtures("with_dataset")
def test_a_recipe_that_says_otherwise_only_how_to_train_and_measure_is_the_same_run(
    train: Train, workshop: Workshop, settings: Path, tmp_path: Path
) -> None:
    train(Watch())
    before = resume_run(tmp_path / "runs", settings)
    recipe = settings / "recipe.toml"
    recipe.write_text(recipe.read_text("utf-8").replace("paired = 3", "paired = 4") + "[train]\nbatch = 2\n", "utf-8")
    train(watch := Watch())
    assert resume_run(tmp_path / "runs", settings) == before
    assert (watch.left_out, workshop.plans[-1].batch) == (STAGES[:3], 2)
    assert before.recipe() == load_recipe(settings)


@pytest.mark.usefixtures("with_dataset")
def test_offline_it_is_trained_offline(train: Train, workshop: Workshop) -> None:
    train(Watch(), offline=True)
    assert workshop.offline


@pytest.mark.usefixtures("with_dataset")
def test_what_was_compared_with_torch_on_another_base_is_exported_again(
    train: Train, workshop: Workshop, settings: Path, tmp_path: Path
) -> None:
    train(Watch())
    (tmp_path / "other.gguf").write_bytes(b"GGUF")
    workshop.ship(resume_run(tmp_path / "runs", settings), tmp_path / "other.gguf", name="settings")
    train(watch := Watch())
    assert watch.done == STAGES[-2:]


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        ("larger", "name its GGUF file with --larger, or leave `larger` out of [evaluate] arms in recipe.toml"),
        ("wrong", "no other release is on this base: name one with --wrong, or leave `wrong` out of [evaluate] arms"),
        ("baseline", "has no baseline: write baseline.py with `answer(prompt, root)`"),
    ],
)
def test_an_arm_that_cannot_be_had_is_said_before_anything_is_done(
    train: Train, settings: Path, arm: str, said: str
) -> None:
    recipe = settings / "recipe.toml"
    recipe.write_text(recipe.read_text("utf-8").replace('"ours"]', f'"ours", "{arm}"]'), encoding="utf-8")
    (settings / "baseline.sha256").unlink() if arm == "baseline" else None
    with pytest.raises(StageError) as error:
        train(watch := Watch())
    assert said in str(error.value)
    assert not watch.done


@pytest.mark.parametrize("option", ["larger", "wrong"])
def test_a_file_that_is_not_there_is_said_before_anything_is_done(train: Train, tmp_path: Path, option: str) -> None:
    with pytest.raises(UsageError, match=r"no\.gguf does not exist"):
        train(watch := Watch(), **{option: tmp_path / "no.gguf"})
    assert not watch.done


def test_too_few_validation_goals_are_said_before_a_teacher_is_asked(train: Train, settings: Path) -> None:
    recipe = settings / "recipe.toml"
    recipe.write_text(recipe.read_text("utf-8").replace("calibration = 12", "calibration = 19"), encoding="utf-8")
    with pytest.raises(GateError, match="on at least 19 validation goals, here are 18: make more of them"):
        train(watch := Watch())
    assert watch.done == STAGES[:1]


@pytest.mark.usefixtures("with_dataset")
def test_what_would_ship_otherwise_than_trained_is_not_even_measured(
    train: Train, workshop: Workshop, settings: Path
) -> None:
    workshop.parity, watch = False, Watch()
    ending = train(watch)
    assert (ending.verdict, ending.why) == ("parity failed", "KL 0.54")
    assert "evaluate" not in watch.done
    assert not registry_of(settings).exists()


@pytest.mark.usefixtures("with_dataset")
def test_a_verdict_is_a_paragraph_with_what_did_not_hold(train: Train, workshop: Workshop, settings: Path) -> None:
    workshop.stock = (-0.1, 0.2)
    ending = train(Watch())
    told = paragraph(ending.verdict, "settings", ending.scorecard, ending.why)
    assert told.startswith("settings: not better than its base: nothing shows that it is better than the stock model")
    assert "Verified success 80.0% (95 %: 70.0% to 90.0%) on 100 goals, 3.1 s each." in told
    assert "stock: +5.0 points (-10.0 to +20.0, 60 goals) against the stock base" in told
    assert not registry_of(settings).exists()


def test_a_skill_without_goals_is_not_verifiable(train: Train, settings: Path, tmp_path: Path) -> None:
    (settings / "goals.py").unlink()
    ending, watch = train(watch := Watch()), watch
    assert ending.verdict == "not verifiable"
    assert ending.why.endswith("has neither goals.py nor kinds.toml: nothing could check an answer")
    assert not watch.done
    assert not list((tmp_path / "runs" / "settings").iterdir())
