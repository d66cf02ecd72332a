"""What a teacher's work will take, told from a few attempts before the rest is paid for."""

from collections.abc import Sequence
from typing import Self

from skillstill.types import Frozen

from skillstill_training.teachers.ledger import LedgerEntry

FIRST = 5  # goals that are measured before anybody is asked: one of each family, mostly


class Forecast(Frozen):
    """What is left to do and what that takes, by the mean of the teacher's attempts so far.

    goals      to be solved
    attempts   at them, and at the goals that the teacher has yet to be measured on
    tokens     read or written; usd: None if nobody knows the price
    seen       attempts that this is told from
    """

    goals: int
    attempts: int
    tokens: int
    usd: float | None
    seen: int

    @classmethod
    def of(cls, entries: Sequence[LedgerEntry], goals: int, attempts: int) -> Self:
        """Tell it from a teacher's lines of the ledger; attempts that it did not answer at all tell nothing.

        What it judged is a part of what its attempts took.
        """
        used = [entry for entry in entries if entry.requests]
        seen = [entry for entry in used if entry.purpose != "judge"]
        tokens = sum(entry.prompt + entry.completion for entry in used)
        costs = [entry.usd for entry in used if entry.usd is not None]
        return cls(
            goals=goals,
            attempts=attempts,
            tokens=round(attempts * tokens / max(1, len(seen))),
            usd=round(attempts * sum(costs) / max(1, len(seen)), 4) if costs else None,
            seen=len(seen),
        )

    def __str__(self) -> str:
        cost = "money: unknown without --price" if self.usd is None else f"about {self.usd:,.2f} USD"
        return (
            f"{self.goals:,} goals, {self.attempts:,} attempts with what is still measured: about {self.tokens:,} "
            f"tokens, {cost} (from {self.seen} attempts)"
        )
