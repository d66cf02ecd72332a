"""The figures of a comparison: means by arm, and paired differences from the orchestrator alone, by task."""

from collections.abc import Callable, Collection, Mapping, Sequence

from pydantic import Field
from skillstill.types import Frozen, Usage

from skillstill_training.compare.arms import ARMS
from skillstill_training.compare.outcome import ArmName, Row
from skillstill_training.compare.savings import Savings
from skillstill_training.evaluation.resampling import ClusteredValue, bootstrap_mean
from skillstill_training.run.scorecard import Interval

THOUSAND = 1_000  # tasks that money is told of: that of one has too few digits
Measure = Callable[[Row], float | None]


class ArmFigures(Frozen):
    """An arm's means over its tasks, and what it gains over the orchestrator alone on the tasks that both did.

    means    by measure
    gains    differences by task, so that more is better: of the score, and of tokens, seconds and money saved
    pairs    tasks that the gains are of
    lost     tasks that the orchestrator alone did right and this arm did not
    savings  of an ideal orchestrator that may ask subagents
    """

    arm: ArmName
    tasks: int
    means: dict[str, Interval]
    gains: dict[str, Interval] = Field(default_factory=dict)
    pairs: int = 0
    lost: int = 0
    savings: Savings | None = None


class Summary(Frozen):
    """What `ORCHESTRATOR.json` holds. Attempts that failed are left out."""

    benchmark: str
    version: str
    orchestrator: str
    arms: tuple[ArmFigures, ...]


def fresh(usage: Usage) -> int:
    """Return the tokens that were read anew or written."""
    return usage.prompt - usage.reused + usage.completion


MEASURES: Mapping[str, Measure] = {
    "score": lambda row: row.score,
    "read": lambda row: row.outcome.paid.prompt - row.outcome.paid.reused,
    "cached": lambda row: row.outcome.paid.reused,
    "written": lambda row: row.outcome.paid.completion,
    "local": lambda row: row.outcome.local_tokens,
    "seconds": lambda row: row.outcome.seconds,
    "usd": lambda row: None if row.usd is None else THOUSAND * row.usd,
}


def summarize(benchmark: str, version: str, orchestrator: str, rows: Sequence[Row]) -> Summary:
    """Return the figures of all arms that have rows."""
    by_arm = {arm: {row.task: row for row in rows if row.arm == arm} for arm in ARMS}
    figures = (_figures(arm, of, by_arm["alone"]) for arm, of in by_arm.items() if of)
    return Summary(benchmark=benchmark, version=version, orchestrator=orchestrator, arms=tuple(figures))


def _figures(arm: ArmName, rows: Mapping[str, Row], alone: Mapping[str, Row]) -> ArmFigures:
    means = {name: found for name, measure in MEASURES.items() if (found := _mean(measure, rows.values()))}
    pairs = [] if arm == "alone" else [(row, alone[task]) for task, row in rows.items() if task in alone]
    return ArmFigures(
        arm=arm,
        tasks=len(rows),
        means=means,
        gains=_gains(pairs) if pairs else {},
        pairs=len(pairs),
        lost=sum(_is_lost(*pair) for pair in pairs),
        savings=Savings.of(list(rows.values())),
    )


def _gains(pairs: Sequence[tuple[Row, Row]]) -> dict[str, Interval]:
    """Return the differences for each task; `net` charges a lost task with the work that somebody has to do again."""
    gains = {
        "score": [row.score - alone.score for row, alone in pairs],
        "tokens": [float(_saved(row, alone)) for row, alone in pairs],
        "net": [float(_saved(row, alone) - _is_lost(row, alone) * _tokens(alone)) for row, alone in pairs],
        "seconds": [alone.outcome.seconds - row.outcome.seconds for row, alone in pairs],
        "usd": [
            THOUSAND * (alone.usd - row.usd) for row, alone in pairs if alone.usd is not None and row.usd is not None
        ],
    }
    tasks = [row.task for row, _ in pairs]
    return {name: _interval(tasks, values) for name, values in gains.items() if len(values) == len(tasks)}


def _mean(measure: Measure, rows: Collection[Row]) -> Interval | None:
    """Return the mean, None if it is not known of each row."""
    values = [measure(row) for row in rows]
    known = [value for value in values if value is not None]
    return _interval([row.task for row in rows], known) if len(known) == len(values) else None


def _interval(tasks: Sequence[str], values: Sequence[float]) -> Interval:
    """Return the mean with a 95 % interval by a bootstrap that draws tasks."""
    return bootstrap_mean([ClusteredValue(task, "", value) for task, value in zip(tasks, values, strict=True)])


def _tokens(row: Row) -> int:
    return fresh(row.outcome.paid)


def _saved(row: Row, alone: Row) -> int:
    return _tokens(alone) - _tokens(row)


def _is_lost(row: Row, alone: Row) -> bool:
    return row.score < alone.score
