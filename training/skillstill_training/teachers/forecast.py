"""What a teacher's work will take, told from a few attempts before the rest is paid for."""

from collections.abc import Iterator, Sequence
from typing import Self

from skillstill.types import Frozen

from skillstill_training.teachers.ledger import LedgerEntry, sum_costs

FIRST = 5  # goals that are measured before anybody is asked: one of each family, mostly


class Forecast(Frozen):
    """What is left to do and what that takes, by the mean of the teacher's attempts so far.

    goals      to be solved
    attempts   at them, and at the goals that the teacher has yet to be measured on
    judged     answers of the student and of its untrained base that the teacher will judge
    tokens     read or written; usd: None if nobody knows the price
    seen       attempts that this is told from; of judging alone, verdicts
    """

    goals: int
    attempts: int
    judged: int = 0
    tokens: int
    usd: float | None
    seen: int

    @classmethod
    def of(cls, entries: Sequence[LedgerEntry], goals: int, attempts: int, judged: int = 0) -> Self:
        """Tell it from a teacher's lines of the ledger; attempts that it did not answer at all tell nothing.

        What it judged is a part of what its attempts took.
        """
        used = [entry for entry in entries if entry.requests and entry.purpose != "figures"]
        seen = sum(entry.purpose != "judge" for entry in used)
        tokens, usd = sum_costs(used)
        judging = cls.of_judging(entries, judged)
        return cls(
            goals=goals,
            attempts=attempts,
            judged=judged,
            tokens=round(attempts * tokens / max(1, seen)) + judging.tokens,
            usd=None if usd is None else round(attempts * usd / max(1, seen) + (judging.usd or 0), 4),
            seen=seen,
        )

    @classmethod
    def of_judging(cls, entries: Sequence[LedgerEntry], judged: int) -> Self:
        """Tell what it takes to judge so many answers, from what was judged before."""
        seen = [entry for entry in entries if entry.requests and entry.purpose in {"judge", "figures"}]
        tokens, usd = sum_costs(seen)
        return cls(
            goals=0,
            attempts=0,
            judged=judged,
            tokens=round(judged * tokens / max(1, len(seen))),
            usd=None if usd is None else round(judged * usd / max(1, len(seen)), 4),
            seen=len(seen),
        )

    def __str__(self) -> str:
        cost = "money: unknown without --price" if self.usd is None else f"about {self.usd:,.2f} USD"
        told_from = f"{self.seen} {'verdicts' if self.judged and not self.attempts else 'attempts'}"
        return f"{', '.join(self._parts())}: about {self.tokens:,} tokens, {cost} (from {told_from})"

    def _parts(self) -> Iterator[str]:
        if self.attempts or not self.judged:
            yield f"{self.goals:,} goals, {self.attempts:,} attempts with what is still measured"
        if self.judged:
            yield f"{self.judged:,} answers to judge"
