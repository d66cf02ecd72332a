"""Stage 4, `skillstill sft SKILL`: from samples to the adapter that does best in the loop. Interrupted, it goes on.

samples -> masked rows of tokens -> LoRA training with checkpoints -> each solves validation goals -> the best one
"""

import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from skillstill.errors import GateError, StageError
from skillstill.models.engine import Engine, EngineOptions
from skillstill.types import Frozen

from skillstill_training.folder import RunFolder
from skillstill_training.hashes import file_sha256
from skillstill_training.jsonl import read_lines, write_text
from skillstill_training.learning.choosing import Trials, step_of
from skillstill_training.learning.history import History, OnProgress, Progress
from skillstill_training.learning.rows import Row, Vocabulary, drawn, fitting
from skillstill_training.learning.student import student_folder
from skillstill_training.recipe import TrainPlan
from skillstill_training.report import draw_curves
from skillstill_training.samples import Sample
from skillstill_training.scorecard import Trained

__all__ = ["Progress", "make_adapter"]

ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors")
OnLog = Callable[[int, int, Mapping[str, Any]], None]  # step, of how many, what the trainer says


class Started(Frozen):
    """What a training depends on: one that depends on anything else starts anew."""

    plan: TrainPlan
    seed: int
    dataset: str
    base: str


def make_adapter(
    skill_folder: Path, folder: RunFolder, base: Path, plan: TrainPlan, on_progress: OnProgress = lambda progress: None
) -> Trained:
    """Leave `4-adapter/`: the chosen adapter in PEFT's format, the course of the training, and a picture of it.

    A data curve comes after it, and can be asked for later. Raises StageError; GateError where a mask lets through what
    is not the model's own, or where no row fits.
    """
    seed = folder.recipe().seed
    alone = plan.model_copy(update={"curve": ()})
    started = Started(plan=alone, seed=seed, dataset=file_sha256(folder.dataset), base=file_sha256(base))
    trained = _done(folder.adapter, started)
    if trained and trained.data_curve.keys() >= set(plan.curve):
        return trained
    _begin(folder.adapter, started)
    dropped: Counter[str] = Counter()
    rows = _rows(folder, base, plan, dropped)
    chosen = drawn(rows, plan.tokens, seed, plan.traces, plan.openings)
    tokens = sum(len(row.tokens) for row in chosen)
    history = History(folder.adapter / "history.jsonl", tokens, dropped, on_progress)
    course = _Course(folder, base, alone, seed, Trials(skill_folder, folder, base, plan.episodes), history)
    trained = trained or course.run(chosen)
    for traces in sorted(set(plan.curve) - trained.data_curve.keys()):
        success = course.point(traces, drawn(rows, plan.tokens, seed, traces, plan.openings))
        trained = trained.model_copy(update={"data_curve": {**trained.data_curve, traces: success}})
        course.note(trained)
    return trained


@dataclass(frozen=True)
class _Course:
    """What the trainings of one run have in common."""

    folder: RunFolder
    base: Path
    plan: TrainPlan
    seed: int
    trials: Trials
    history: History

    def run(self, rows: Sequence[Row]) -> Trained:
        """The training that ships: its best checkpoint becomes the adapter."""
        adapter = self.folder.adapter
        self._tune(rows, adapter, self.plan, self.history.logged)
        choice = self.trials.best(_checkpoints(adapter), self.history.tried)
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

    def point(self, traces: int, rows: Sequence[Row]) -> float:
        """Of the data curve: the success of a training on these rows alone, with a schedule of its own."""
        target = self.folder.adapter / f"curve-{traces}"
        self._tune(rows, target, self.plan.model_copy(update={"checkpoints": 1}), self.history.watched)
        return self.trials.best(_checkpoints(target), self.history.watched_trial).success

    def note(self, trained: Trained) -> None:
        write_text(self.folder.adapter / "trained.json", trained.model_dump_json(indent=1) + "\n")

    def _tune(self, rows: Sequence[Row], target: Path, plan: TrainPlan, on_log: OnLog) -> None:
        """Raises StageError where the extra is not installed."""
        try:
            from skillstill_training.learning.tuning import tune  # imports torch, which takes seconds and an extra
        except ImportError as error:
            raise StageError(f"training needs {error.name}: type `pip install 'skillstill[training]'`") from error
        tune(rows, student_folder(self.base), target, plan, self.seed, on_log)


def _rows(folder: RunFolder, base: Path, plan: TrainPlan, dropped: Counter[str]) -> Sequence[Row]:
    samples = read_lines(folder.dataset, Sample)
    engine = Engine(base, EngineOptions(context=512))  # for its tokenizer
    try:
        vocabulary = Vocabulary(engine.tokenize, engine.piece)
        rows = list(fitting(map(vocabulary.row, samples), plan.longest, dropped))
    finally:
        engine.close()
    if not rows:
        raise GateError(f"none of the {len(samples)} samples fits into {plan.longest} tokens: raise [train] longest")
    return rows


def _checkpoints(folder: Path) -> Sequence[Path]:
    return sorted(folder.glob("checkpoint-*"), key=step_of)


def _begin(adapter: Path, started: Started) -> None:
    """An empty folder, or that of the same training where it was interrupted; another training's is put aside."""
    file = adapter / "started.json"
    if _read(file, Started) != started:
        if adapter.exists():
            adapter.rename(_aside(adapter))
        write_text(file, started.model_dump_json(indent=1) + "\n")


def _aside(adapter: Path) -> Path:
    """A name for an earlier training, for an hour of work is not deleted because somebody edits a recipe."""
    numbers = (adapter.with_name(f"{adapter.name}-{number}") for number in count(1))
    return next(free for free in numbers if not free.exists())


def _done(adapter: Path, started: Started) -> Trained | None:
    same = _read(adapter / "started.json", Started) == started
    return _read(adapter / "trained.json", Trained) if same else None


def _read(file: Path, kind: type[Any]) -> Any:
    try:
        return kind.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None
