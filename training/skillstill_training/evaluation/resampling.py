"""Bootstrap intervals of success: the mean over families of equal weight, with whole workspaces as clusters.

The goals of one workspace share its code, its names and its oddities, so their outcomes are correlated. A bootstrap of
single goals would treat them as independent, and its intervals would be too narrow. So whole workspaces are drawn with
replacement.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skillstill_training.run.scorecard import Interval, Outcome

DRAWS = 2_000  # an end of the interval moves by less than its last printed digit between seeds
SEED = 1
ENDS = (2.5, 97.5)  # percentiles

Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClusteredValue:
    """The value of one goal, with its cluster (the workspace) and its family."""

    cluster: str
    family: str
    value: float


def success_interval(outcomes: Sequence[Outcome]) -> Interval:
    """Return the share of goals that passed, as the mean over families."""
    return bootstrap_mean([ClusteredValue(one.workspace, one.family, float(one.passed)) for one in outcomes])


def gain_interval(ours: Sequence[Outcome], theirs: Sequence[Outcome]) -> Interval:
    """Return our success less theirs, as the mean over families. Only goals that both were asked count."""
    other = {one.goal: one for one in theirs}
    pairs = [(one, other[one.goal]) for one in ours if one.goal in other]
    return bootstrap_mean(
        [ClusteredValue(one.workspace, one.family, float(one.passed) - float(two.passed)) for one, two in pairs]
    )


def bootstrap_mean(values: Sequence[ClusteredValue]) -> Interval:
    """Return the mean over families of equal weight, with a 95 % interval. Without values, all are 0.

    A draw that contains no goal of a family leaves this family out. If there is only one workspace, single goals are
    drawn; the interval then does not hold for other workspaces. With a dozen workspaces it is slightly too narrow, like
    every bootstrap of few clusters.
    """
    if not values:
        return Interval(value=0, low=0, high=0)
    sums, counts = _sums_and_counts(values)
    clusters = len(counts)
    draws = np.random.default_rng(SEED).multinomial(clusters, [1 / clusters] * clusters, DRAWS)
    low, high = np.percentile(_family_mean(draws @ sums, draws @ counts), ENDS)
    value = _family_mean(sums.sum(axis=0, keepdims=True), counts.sum(axis=0, keepdims=True))[0]
    return Interval(value=round(float(value), 4), low=round(float(low), 4), high=round(float(high), 4))


def bootstrap_share(parts: Sequence[float], wholes: Sequence[float]) -> Interval:
    """Return the sum of the parts as a share of the sum of their wholes, with a 95 % interval that draws pairs.

    Of no wholes, all are 0.
    """
    if not sum(wholes):
        return Interval(value=0, low=0, high=0)
    draws = np.random.default_rng(SEED).multinomial(len(wholes), [1 / len(wholes)] * len(wholes), DRAWS)
    drawn = draws @ np.array([parts, wholes]).T
    drawn = drawn[drawn[:, 1] > 0]
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], ENDS)
    return Interval(value=round(sum(parts) / sum(wholes), 4), low=round(float(low), 4), high=round(float(high), 4))


def _sums_and_counts(values: Sequence[ClusteredValue]) -> tuple[Table, Table]:
    """Return the sums and the counts of values by cluster (rows) and family (columns)."""
    names = [one.cluster for one in values]
    if len(set(names)) == 1:
        names = [str(at) for at in range(len(values))]
    rows = {name: at for at, name in enumerate(sorted(set(names)))}
    columns = {name: at for at, name in enumerate(sorted({one.family for one in values}))}
    sums, counts = np.zeros((len(rows), len(columns))), np.zeros((len(rows), len(columns)))
    for name, one in zip(names, values, strict=True):
        sums[rows[name], columns[one.family]] += one.value
        counts[rows[name], columns[one.family]] += 1
    return sums, counts


def _family_mean(sums: Table, counts: Table) -> Table:
    """Return the mean over the families of each row. A family without goals in a row is left out."""
    present = counts > 0
    shares = np.divide(sums, counts, out=np.zeros_like(sums), where=present)
    means: Table = shares.sum(axis=1) / present.sum(axis=1)
    return means
