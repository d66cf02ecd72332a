"""How far a figure can be trusted: families of equal weight, workspaces drawn again and again with replacement.

Goals of one workspace share its code, its names, its oddities: they succeed and fail together. Whoever draws goals one
by one takes them for independent and comes to intervals that are too narrow; so whole workspaces are drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skillstill_training.run.scorecard import Interval, Outcome

DRAWS = 2_000  # an end of the interval moves by less than its last told digit from one seed to the next
SEED = 1
ENDS = (2.5, 97.5)  # percentiles

Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClusteredValue:
    """What one goal counts, in a workspace (or another cluster) and a family."""

    cluster: str
    family: str
    value: float


def success(outcomes: Sequence[Outcome]) -> Interval:
    """The share that passed, as the mean over families."""
    return mean([ClusteredValue(one.workspace, one.family, float(one.passed)) for one in outcomes])


def gain(ours: Sequence[Outcome], theirs: Sequence[Outcome]) -> Interval:
    """How much more of the same goals we solved than they, as the mean over families; goals of both alone count."""
    other = {one.goal: one for one in theirs}
    pairs = [(one, other[one.goal]) for one in ours if one.goal in other]
    return mean(
        [ClusteredValue(one.workspace, one.family, float(one.passed) - float(two.passed)) for one, two in pairs]
    )


def mean(worths: Sequence[ClusteredValue]) -> Interval:
    """The equal-weight mean over families; nothing is 0 for sure.

    A family that is absent from a draw is left out of that draw. A single workspace cannot be drawn in two ways: then
    single goals are, and the interval says nothing of other workspaces. With a dozen of them it is a little narrow too,
    as every bootstrap of few clusters is.
    """
    if not worths:
        return Interval(value=0, low=0, high=0)
    sums, counts = _tables(worths)
    clusters = len(counts)
    drawn = np.random.default_rng(SEED).multinomial(clusters, [1 / clusters] * clusters, DRAWS)
    low, high = np.percentile(_family_mean(drawn @ sums, drawn @ counts), ENDS)
    value = _family_mean(sums.sum(axis=0, keepdims=True), counts.sum(axis=0, keepdims=True))[0]
    return Interval(value=round(float(value), 4), low=round(float(low), 4), high=round(float(high), 4))


def _tables(worths: Sequence[ClusteredValue]) -> tuple[Table, Table]:
    """Sums and counts by cluster (rows) and family (columns)."""
    names = [one.cluster for one in worths]
    if len(set(names)) == 1:
        names = [str(at) for at in range(len(worths))]
    rows = {name: at for at, name in enumerate(sorted(set(names)))}
    columns = {name: at for at, name in enumerate(sorted({one.family for one in worths}))}
    sums, counts = np.zeros((len(rows), len(columns))), np.zeros((len(rows), len(columns)))
    for name, one in zip(names, worths, strict=True):
        sums[rows[name], columns[one.family]] += one.value
        counts[rows[name], columns[one.family]] += 1
    return sums, counts


def _family_mean(sums: Table, counts: Table) -> Table:
    """Of each row, the mean over the families that it holds."""
    held = counts > 0
    shares = np.divide(sums, counts, out=np.zeros_like(sums), where=held)
    means: Table = shares.sum(axis=1) / held.sum(axis=1)
    return means
