"""The course of a training, as the stage `sft` keeps it in `4-adapter/history.jsonl`."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict


class TrainedPoint(BaseModel):
    """One row: the loss at a step, or the success at a checkpoint. Other fields are no matter of a report's."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    step: int
    tokens: int | None = None
    loss: float | None = None
    success: float | None = None


def read_by(history: Sequence[TrainedPoint]) -> str:
    """What the rows are placed by: tokens, where each row has them; else steps."""
    return "tokens" if all(row.tokens is not None for row in history) else "steps"


def losses(history: Sequence[TrainedPoint]) -> Sequence[tuple[float, float]]:
    by = read_by(history)
    return [(_where(row, by), row.loss) for row in history if row.loss is not None]


def successes(history: Sequence[TrainedPoint]) -> Sequence[tuple[float, float]]:
    by = read_by(history)
    return [(_where(row, by), row.success) for row in history if row.success is not None]


def _where(row: TrainedPoint, by: str) -> float:
    return float(row.tokens or 0) if by == "tokens" else float(row.step)
