"""Stage 4, `skillstill sft SKILL`: from samples to the adapter that does best in the loop. Interrupted, it goes on.

samples -> masked rows of tokens -> LoRA training with checkpoints -> each solves validation goals -> the best one
"""

import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from skillstill.errors import GateError, StageError
from skillstill.models.engine import Engine, EngineOptions
from skillstill.types import Frozen

from skillstill_training.folder import RunFolder
from skillstill_training.hashes import file_sha256
from skillstill_training.jsonl import read_lines, write_text
from skillstill_training.learning.choosing import Choice, Trials, step_of
from skillstill_training.learning.rows import Row, Vocabulary, drawn, fitting
from skillstill_training.learning.student import student_folder
from skillstill_training.recipe import TrainPlan
from skillstill_training.report import draw_curves
from skillstill_training.samples import Sample
from skillstill_training.scorecard import Trained

ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors")


@dataclass(frozen=True, slots=True)
class Progress:
    """Step so many of so many, or validation goal so many of so many; `note` says how it goes."""

    step: int
    steps: int
    note: str


OnProgress = Callable[[Progress], None]
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

    Raises StageError; GateError where a mask lets through what is not the model's own, or where no row fits.
    """
    seed = folder.recipe().seed
    started = Started(plan=plan, seed=seed, dataset=file_sha256(folder.dataset), base=file_sha256(base))
    if done := _done(folder.adapter, started):
        return done
    _begin(folder.adapter, started)
    dropped: Counter[str] = Counter()
    all_rows = _rows(folder, base, plan, dropped)
    rows = drawn(all_rows, plan.tokens, seed, plan.traces, plan.openings)
    history = _History(folder, sum(len(row.tokens) for row in rows), dropped, on_progress)
    trials = Trials(skill_folder, folder, base, plan.episodes)
    fewer = {count: drawn(all_rows, plan.tokens, seed, count, plan.openings) for count in plan.curve}
    curve = {count: _point(count, some, base, folder, plan, seed, trials, history) for count, some in fewer.items()}
    _tune(rows, base, folder.adapter, plan, seed, history.logged)
    choice = trials.best(_checkpoints(folder.adapter), history.tried)
    for name in ADAPTER_FILES:
        shutil.copyfile(choice.checkpoint / name, folder.adapter / name)
    traces = sum(row.whole for row in rows)
    trained = Trained(
        traces=traces,
        tokens=sum(len(row.tokens) for row in rows),
        learned_tokens=sum(row.learned for row in rows),
        seconds=round(history.seconds, 1),
        seed=seed,
        loss=history.loss,
        data_curve={**curve, traces: choice.success},
    )
    draw_curves(folder)
    write_text(folder.adapter / "trained.json", trained.model_dump_json(indent=1) + "\n")
    return trained


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


def _point(
    count: int,
    rows: Sequence[Row],
    base: Path,
    folder: RunFolder,
    plan: TrainPlan,
    seed: int,
    trials: Trials,
    history: "_History",
) -> float:
    """Of the data curve: the success of a training on these rows alone, with a schedule of its own."""
    target = folder.adapter / f"curve-{count}"
    _tune(rows, base, target, plan.model_copy(update={"checkpoints": 1}), seed, history.watched)
    return trials.best(_checkpoints(target), history.watched_trial).success


def _checkpoints(folder: Path) -> Sequence[Path]:
    return sorted(folder.glob("checkpoint-*"), key=step_of)


def _tune(rows: Sequence[Row], base: Path, target: Path, plan: TrainPlan, seed: int, on_log: OnLog) -> None:
    """Raises StageError where the extra is not installed."""
    try:
        from skillstill_training.learning.tuning import tune  # imports torch, which takes seconds and an extra
    except ImportError as error:
        raise StageError(f"training needs {error.name}: type `pip install 'skillstill[training]'`") from error
    tune(rows, student_folder(base), target, plan, seed, on_log)


class _History:
    """`history.jsonl`: the loss of each step, the success of each checkpoint; told to whoever watches."""

    def __init__(self, folder: RunFolder, tokens: int, dropped: Mapping[str, int], on_progress: OnProgress) -> None:
        self.file, self.tokens, self.on_progress = folder.adapter / "history.jsonl", tokens, on_progress
        self.began = time.monotonic()
        rows = [json.loads(line) for line in self._lines()]
        self.steps = max((row["step"] for row in rows), default=1)
        self.told = {row["step"] for row in rows if "success" in row}
        self.earlier = max((row.get("seconds", 0.0) for row in rows), default=0.0)  # before it was interrupted
        self.loss = next((row["loss"] for row in reversed(rows) if "loss" in row), float("nan"))
        self.longest = f"; {sum(dropped.values())} rows too long" if dropped else ""

    @property
    def seconds(self) -> float:
        return self.earlier + time.monotonic() - self.began

    def logged(self, step: int, steps: int, logs: Mapping[str, Any]) -> None:
        """What the trainer says after a step."""
        self.steps = steps
        if "loss" in logs:
            self.loss = round(float(logs["loss"]), 4)
            self._append({"step": step, "loss": self.loss, "learning_rate": float(logs.get("learning_rate", 0.0))})
            speed = self.tokens * step / steps / max(self.seconds, 0.1)
            self.on_progress(Progress(step, steps, f"loss {self.loss:.3f}, {speed:.0f} tokens/s{self.longest}"))

    def watched(self, step: int, steps: int, logs: Mapping[str, Any]) -> None:
        """A step of a training for the data curve, which is told and not written down."""
        if "loss" in logs:
            self.on_progress(Progress(step, steps, f"data curve, loss {float(logs['loss']):.3f}"))

    def watched_trial(self, choice: Choice, done: int, goals: int) -> None:
        self.on_progress(Progress(done, goals, f"data curve: {choice.solved} goals solved"))

    def tried(self, choice: Choice, done: int, goals: int) -> None:
        """How a checkpoint did so far with the validation goals."""
        self.on_progress(Progress(done, goals, f"checkpoint {choice.step}: {choice.solved} goals solved"))
        if done == goals and choice.step not in self.told:
            self._append({"step": choice.step, "success": choice.success})

    def _append(self, row: dict[str, Any]) -> None:
        tokens = round(self.tokens * row["step"] / self.steps)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**row, "tokens": tokens, "seconds": round(self.seconds, 1)}) + "\n")

    def _lines(self) -> Sequence[str]:
        return self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else ()


def _begin(adapter: Path, started: Started) -> None:
    """An empty folder, or that of the same training where it was interrupted."""
    file = adapter / "started.json"
    if _read(file, Started) != started:
        shutil.rmtree(adapter, ignore_errors=True)
        write_text(file, started.model_dump_json(indent=1) + "\n")


def _done(adapter: Path, started: Started) -> Trained | None:
    same = _read(adapter / "started.json", Started) == started
    return _read(adapter / "trained.json", Trained) if same else None


def _read(file: Path, kind: type[Any]) -> Any:
    try:
        return kind.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None
