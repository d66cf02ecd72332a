"""Stage 4, `skillstill sft SKILL`: from samples to the adapter that does best in the loop. Interrupted, it goes on.

samples -> masked rows of tokens -> LoRA training with checkpoints -> each solves validation goals -> the best one
"""

import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from skillstill.errors import GateError, StageError
from skillstill.models.engine import Engine, EngineOptions

from skillstill_training.executors.executor import IN_PROCESS, Executor
from skillstill_training.learning.bundles import bundle_rows
from skillstill_training.learning.checkpoint_choice import Trials
from skillstill_training.learning.checkpoints import cut_course, whole_checkpoints
from skillstill_training.learning.history import COURSE, History, OnProgress, TrainingProgress
from skillstill_training.learning.rows import RowTokenizer, TrainingRow, draw_rows, fit_rows
from skillstill_training.learning.started import TrainingStart, is_complete, started_file, trained_file
from skillstill_training.report import draw_curves
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import TrainConfig
from skillstill_training.run.scorecard import Trained
from skillstill_training.teachers import Sample
from skillstill_training.util.hashes import file_sha256
from skillstill_training.util.jsonl import read_lines, write_text

__all__ = ["TrainingProgress", "make_adapter"]

ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors")
OnLog = Callable[[int, int, Mapping[str, Any]], None]  # step, of how many, what the trainer says


def make_adapter(
    skill_folder: Path,
    run: RunFolder,
    base: Path,
    plan: TrainConfig,
    on_progress: OnProgress = lambda progress: None,
    *,
    offline: bool = False,
    executor: Executor = IN_PROCESS,
    processes: int = 1,
) -> Trained:
    """Leave `4-adapter/`: the chosen adapter in PEFT's format, the course of the training, and a picture of it.

    A data curve comes after it, and can be asked for later. Raise StageError; GateError if a mask lets through what
    is not the model's own, or if no row fits. So many `processes` train; an executor tries the checkpoints.
    """
    started = TrainingStart.of(run, file_sha256(base), plan)
    trained, seed = started.left(run.adapter), started.seed
    if trained and is_complete(trained, plan):
        return trained
    _prepare_folder(run.adapter, started)
    if not trained:
        cut_course(run.adapter)
    dropped: Counter[str] = Counter()
    on_progress(TrainingProgress(0, 0, "reading the samples, then loading torch and the base: about a minute"))
    rows = _rows(run, base, plan, dropped)
    chosen = draw_rows(rows, plan.tokens, seed, plan.traces, openings=plan.openings, field=plan.field)
    tokens = sum(len(bundle.tokens) for bundle in bundle_rows(chosen, plan.bundle_tokens, seed))
    history = History(run.adapter / COURSE, tokens, dropped, on_progress)
    trials = Trials(skill_folder, run, base, plan.episodes, offline=offline, executor=executor)
    course = _Course(run, base, _with_start_path(started.plan, skill_folder), seed, trials, history, processes)
    trained = trained or course.run(chosen)
    for traces in sorted(set(plan.curve) - trained.data_curve.keys()):
        success = course.point(
            traces, draw_rows(rows, plan.tokens, seed, traces, openings=plan.openings, field=plan.field)
        )
        trained = trained.model_copy(update={"data_curve": {**trained.data_curve, traces: success}})
        course.note(trained)
    return trained


@dataclass(frozen=True)
class _Course:
    """What the trainings of one run have in common."""

    folder: RunFolder
    base: Path
    plan: TrainConfig
    seed: int
    trials: Trials
    history: History
    processes: int

    def run(self, rows: Sequence[TrainingRow]) -> Trained:
        """Return the training that ships: its best checkpoint becomes the adapter."""
        adapter = self.folder.adapter
        self._tune(rows, adapter, self.plan, self.history.logged)
        choice = self.trials.best(whole_checkpoints(adapter), self.history.tried)
        for name in ADAPTER_FILES:
            shutil.copyfile(choice.checkpoint / name, adapter / name)
        traces = sum(row.whole for row in rows)
        trained = Trained(
            traces=traces,
            tokens=self.history.tokens,
            learned_tokens=sum(row.learned for row in rows),
            seconds=round(self.history.seconds, 1),
            seed=self.seed,
            loss=self.history.loss,
            data_curve={traces: choice.success},
        )
        draw_curves(self.folder)
        self.note(trained)
        return trained

    def point(self, traces: int, rows: Sequence[TrainingRow]) -> float:
        """Return a point of the data curve: the success of a training on these rows alone, with its own schedule."""
        target = self.folder.adapter / f"curve-{traces}"
        self._tune(rows, target, self.plan.model_copy(update={"checkpoints": 1}), self.history.watched)
        return self.trials.best(whole_checkpoints(target), self.history.watched_trial).success

    def note(self, trained: Trained) -> None:
        write_text(trained_file(self.folder.adapter), trained.model_dump_json(indent=1) + "\n")

    def _tune(self, rows: Sequence[TrainingRow], target: Path, plan: TrainConfig, on_log: OnLog) -> None:
        """Raise StageError if the extra is not installed."""
        try:
            from skillstill_training.learning.processes import tune_together
            from skillstill_training.learning.tuning import tune  # imports torch, which takes seconds and an extra
        except ImportError as error:
            raise StageError(f"training needs {error.name}: type `pip install 'skillstill[training]'`") from error
        train = tune if self.processes == 1 else partial(tune_together, self.processes)
        train(rows, self.base, target, plan, self.seed, on_log)


def _with_start_path(plan: TrainConfig, skill_folder: Path) -> TrainConfig:
    """Return the plan with the path of the adapter to begin with, if it names one. Raise StageError."""
    if not plan.start:
        return plan
    if not (file := skill_folder / plan.start).is_file():
        raise StageError(f"{file} is missing: [train] start in recipe.toml names the adapter to go on from")
    return plan.model_copy(update={"start": str(file)})


def _rows(run: RunFolder, base: Path, plan: TrainConfig, dropped: Counter[str]) -> Sequence[TrainingRow]:
    samples = read_lines(run.dataset, Sample)
    engine = Engine(base, EngineOptions(context=512))  # for its tokenizer
    try:
        vocabulary = RowTokenizer(engine.tokenize, engine.piece)
        rows = list(fit_rows(map(vocabulary.row, samples), plan.longest, plan.own or plan.longest, dropped))
    finally:
        engine.close()
    if not rows:
        raise GateError(f"none of the {len(samples)} samples fits: raise [train] longest ({plan.longest}) or own")
    return rows


def _prepare_folder(adapter: Path, started: TrainingStart) -> None:
    """Make an empty folder, or keep that of the same training if it was interrupted. Another training's is renamed."""
    if not started.begun(adapter):
        if adapter.exists():
            adapter.rename(_free_name(adapter))
        write_text(started_file(adapter), started.model_dump_json(indent=1) + "\n")


def _free_name(adapter: Path) -> Path:
    """Return a name for an earlier training, for an hour of work is not deleted because somebody edits a recipe."""
    numbers = (adapter.with_name(f"{adapter.name}-{number}") for number in count(1))
    return next(free for free in numbers if not free.exists())
