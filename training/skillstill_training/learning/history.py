"""The course of a training: told while it goes on, and written down."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillstill_training.learning.checkpoint_choice import CheckpointTrial

COURSE = "history.jsonl"


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """Step so many of so many, or validation goal so many of so many; `note` says how it goes."""

    step: int
    steps: int
    note: str


OnProgress = Callable[[TrainingProgress], None]


class History:
    """`history.jsonl`: the loss of each step, the success of each checkpoint; told to whoever watches."""

    def __init__(self, file: Path, tokens: int, dropped: Mapping[str, int], on_progress: OnProgress) -> None:
        self.file, self.tokens, self.on_progress = file, tokens, on_progress
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
        """Write what the trainer logs after a step."""
        self.steps = steps
        if "loss" in logs:
            self.loss = round(float(logs["loss"]), 4)
            self._append({"step": step, "loss": self.loss, "learning_rate": float(logs.get("learning_rate", 0.0))})
            speed = self.tokens * step / steps / max(self.seconds, 0.1)
            self.on_progress(TrainingProgress(step, steps, f"loss {self.loss:.3f}, {speed:.0f} tokens/s{self.longest}"))

    def watched(self, step: int, steps: int, logs: Mapping[str, Any]) -> None:
        """Announce a step of a training for the data curve, without writing it down."""
        if "loss" in logs:
            self.on_progress(TrainingProgress(step, steps, f"data curve, loss {float(logs['loss']):.3f}"))

    def watched_trial(self, choice: CheckpointTrial, done: int, goals: int) -> None:
        self.on_progress(TrainingProgress(done, goals, f"data curve: {choice.solved} goals solved"))

    def tried(self, choice: CheckpointTrial, done: int, goals: int) -> None:
        """Write how a checkpoint does so far with the validation goals."""
        self.on_progress(TrainingProgress(done, goals, f"checkpoint {choice.step}: {choice.solved} goals solved"))
        if done == goals and choice.step not in self.told:
            self._append({"step": choice.step, "success": choice.success})

    def _append(self, row: dict[str, Any]) -> None:
        tokens = round(self.tokens * row["step"] / self.steps)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**row, "tokens": tokens, "seconds": round(self.seconds, 1)}) + "\n")

    def _lines(self) -> Sequence[str]:
        return self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else ()
