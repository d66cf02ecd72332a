"""What a training depends on and what it left: the same is asked by who trains and by who finds that done already."""

from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from skillstill.types import Frozen

from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import TrainConfig
from skillstill_training.run.scorecard import Trained
from skillstill_training.util.hashes import file_sha256

Value = TypeVar("Value", bound=Frozen)


class TrainingStart(Frozen):
    """What a training depends on: one that depends on anything else starts anew. A data curve comes after it."""

    plan: TrainConfig
    seed: int
    dataset: str
    base: str

    @classmethod
    def of(cls, run: RunFolder, base: str, plan: TrainConfig) -> "TrainingStart":
        """Return the start of a training. `base` is its hash."""
        alone = plan.model_copy(update={"curve": ()})
        return cls(plan=alone, seed=run.recipe().seed, dataset=file_sha256(run.dataset), base=base)

    def begun(self, adapter: Path) -> bool:
        """Return whether this is the training that the folder holds."""
        return _read(started_file(adapter), TrainingStart) == self

    def left(self, adapter: Path) -> Trained | None:
        """Return what it came to; None if it has not ended."""
        return _read(trained_file(adapter), Trained) if self.begun(adapter) else None


def started_file(adapter: Path) -> Path:
    return adapter / "started.json"


def trained_file(adapter: Path) -> Path:
    """Return what training writes last."""
    return adapter / "trained.json"


def is_complete(trained: Trained | None, plan: TrainConfig) -> bool:
    """Return whether nothing is left to be trained, no point of the data curve either."""
    return trained is not None and trained.data_curve.keys() >= set(plan.curve)


def _read(file: Path, kind: type[Value]) -> Value | None:
    try:
        return kind.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None
