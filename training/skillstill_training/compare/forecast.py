"""What the rest of a comparison will take, told from its first tasks."""

from collections.abc import Sequence
from statistics import fmean
from typing import Self

from skillstill.types import Frozen

from skillstill_training.benchmarks.benchmark import Task
from skillstill_training.compare.outcome import ArmName, Row

FIRST = 3  # tasks that are tried in all arms before anybody is asked


class Forecast(Frozen):
    """What is left by the mean of each arm so far. `usd` is None if nobody knows the price."""

    attempts: int
    seen: int
    tokens: int
    usd: float | None
    hours: float

    @classmethod
    def of(cls, rows: Sequence[Row], left: Sequence[tuple[Task, ArmName]]) -> Self:
        """Tell it from the rows so far for the attempts that are left."""
        by_arm = {arm: [row for row in rows if row.arm == arm] or list(rows) for arm in {arm for _, arm in left}}
        tokens = {arm: fmean([_tokens(row) for row in of] or [0]) for arm, of in by_arm.items()}
        seconds = {arm: fmean([row.outcome.seconds for row in of] or [0]) for arm, of in by_arm.items()}
        is_priced = bool(rows) and all(row.usd is not None for row in rows)
        usd = {arm: fmean([row.usd or 0.0 for row in of] or [0]) for arm, of in by_arm.items()}
        return cls(
            attempts=len(left),
            seen=len(rows),
            tokens=round(sum(tokens[arm] for _, arm in left)),
            usd=round(sum(usd[arm] for _, arm in left), 4) if is_priced else None,
            hours=round(sum(seconds[arm] for _, arm in left) / 3_600, 3),
        )

    def __str__(self) -> str:
        cost = "money: unknown without --prices" if self.usd is None else f"about {self.usd:,.2f} USD"
        return (
            f"{self.attempts:,} attempts: about {self.tokens:,} tokens, {cost}, {self.hours:.1f} hours "
            f"(from {self.seen} attempts)"
        )


def _tokens(row: Row) -> int:
    return row.outcome.paid.prompt + row.outcome.paid.completion
