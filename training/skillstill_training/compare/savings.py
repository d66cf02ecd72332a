"""What an ideal orchestrator saves: the work of its tasks, and what a session reads once, apart and together."""

from collections.abc import Mapping, Sequence
from typing import Literal, Self

from skillstill.types import Frozen

from skillstill_training.compare.outcome import Row, Work
from skillstill_training.evaluation.resampling import ClusteredValue, bootstrap_mean, bootstrap_share
from skillstill_training.run.scorecard import Interval

SESSIONS = (1, 10, 50)  # tasks a session
Basis = Literal["all", "right", "net"]
BASES: Mapping[Basis, str] = {
    "all": "all tasks",
    "right": "answered rightly",
    "net": "net of mistakes",
}


class Saved(Frozen):
    """Tokens saved on a task, and what share that is of the tokens that it would have read inline."""

    tokens: Interval
    share: Interval

    @classmethod
    def of(cls, tokens: Sequence[float], inline: Sequence[float]) -> Self:
        return cls(tokens=_mean(tokens), share=bootstrap_share(tokens, inline))


class WorkSavings(Frozen):
    """What is saved on some tasks, with 95 % intervals by a bootstrap that draws tasks.

    inline    tokens a task that the plans' calls and their results take
    work      those, less the call of a subagent and its report
    sessions  the same, less the fixed cost, by tasks a session
    """

    tasks: int
    inline: Interval
    work: Saved
    sessions: dict[int, Saved]

    @classmethod
    def of(cls, pairs: Sequence[tuple[Work, int]]) -> Self:
        """Return it for works and what each saves."""
        inline = [work.inline for work, _ in pairs]
        return cls(
            tasks=len(pairs),
            inline=_mean(inline),
            work=Saved.of([saved for _, saved in pairs], inline),
            sessions={
                count: Saved.of([saved - work.fixed / count for work, saved in pairs], inline) for count in SESSIONS
            },
        )


class Savings(Frozen):
    """What an arm saves an ideal orchestrator.

    fixed  tokens that a session reads once, however many tasks it has
    bases  `all` tasks; those that are answered `right` and without a warning; `net`, all tasks, of which the others
           save nothing and cost the call and its report: the work is done inline after all
    """

    fixed: int
    bases: dict[Basis, WorkSavings]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Self | None:
        """Return the savings on the rows of an arm, None if they are not of an ideal orchestrator."""
        works = [(work, row.score >= 1 and work.is_believed) for row in rows if (work := row.outcome.work)]
        pairs: Mapping[Basis, Sequence[tuple[Work, int]]] = {
            "all": [(work, work.saved) for work, _ in works],
            "right": [(work, work.saved) for work, is_right in works if is_right],
            "net": [(work, work.saved if is_right else -work.handed) for work, is_right in works],
        }
        bases = {basis: WorkSavings.of(of) for basis, of in pairs.items()}
        return cls(fixed=works[0][0].fixed, bases=bases) if works else None


def _mean(values: Sequence[float]) -> Interval:
    return bootstrap_mean([ClusteredValue(str(at), "", value) for at, value in enumerate(values)])
