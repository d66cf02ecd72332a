"""What a confidence is fitted to, and what it is worth: right answers among the sure ones, goals that get one.

The regression is written out here: it is a dozen lines of numpy, which is there anyway, where the library that holds
one weighs as much as everything else that runs.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from skillstill.errors import GateError
from skillstill.skills.calibration import FEATURES, Calibration

from skillstill_training.run.scorecard import Outcome, Point, Selective

LEAST = 400  # validation goals: a share of 0.95 is then known to some 0.02
TARGET = 0.95
# Answers that must lie above a threshold. It is chosen among hundreds of levels, and of few answers the best is luck:
# where 350 are right 90 % of the time, however sure they look, a threshold for 95 % is found in 43 % of draws at 20, in
# 20 % at 60, in 7 % at 100; where they are right 85 % of the time, in 19, 1 and 0 %.
SUREST = 60
FOLDS = 5
RIDGE = 1.0  # pull of the standardised weights to 0, as one goal's worth
LOOSE = 1e-3  # that of the bias, which only keeps it finite where all answers are right, or all wrong
ROUNDS = 50  # Newton's method is there after some ten
POINTS = 50  # of a curve

Table = NDArray[np.float64]


def calibrate(outcomes: Sequence[Outcome], *, least: int = LEAST, target: float = TARGET) -> Calibration:
    """Fitted to the answers among the validation outcomes; what was handed back needs no confidence.

    Raises GateError where there are fewer than `least` outcomes.
    """
    check_enough(len(outcomes), least)
    told = [one for one in outcomes if _answered(one) and one.features]
    answered = sorted(told, key=lambda one: one.goal)  # in whatever order they were solved
    table = np.array([one.features for one in answered]).reshape(-1, len(FEATURES))
    right = np.array([one.passed for one in answered], dtype=np.float64)
    threshold = _threshold(_foreign(table, right), right, target)
    return _fit(table, right).model_copy(update={"threshold": threshold, "goals": len(outcomes)})


def check_enough(goals: int, least: int) -> None:
    """Raises GateError where there are fewer validation goals than `least`."""
    if goals < least:
        raise GateError(
            f"a confidence is calibrated on at least {least} validation goals, here are {goals}: "
            "make more of them ([goals.per_family] in recipe.toml)"
        )


def selective(calibration: Calibration, outcomes: Sequence[Outcome], *, target: float = TARGET) -> Selective:
    """What the confidence is worth on these outcomes: those of all test goals.

    An escalation is right unless it withholds a right answer: work that is to be handed back, a run without an answer
    and a wrong answer all belong with the caller.
    """
    answered = list(filter(_answered, outcomes))
    sure = np.array([calibration.confidence(one.features) for one in answered])
    right = np.array([one.passed for one in answered], dtype=np.bool_)
    point = _point(calibration.threshold, sure, right, len(outcomes))
    escalated = len(outcomes) - int((sure >= calibration.threshold).sum())
    withheld = int(right[sure < calibration.threshold].sum())
    levels = np.unique(sure)
    chosen = levels[np.unique(np.linspace(0, len(levels) - 1, min(POINTS, len(levels))).astype(int))]
    return Selective(
        target=target,
        calibrated_on=calibration.goals,
        threshold=calibration.threshold,
        coverage=point.coverage,
        accuracy=point.accuracy,
        escalated=escalated,
        rightly=round((escalated - withheld) / max(1, escalated), 4),
        curve=tuple(_point(float(level), sure, right, len(outcomes)) for level in chosen),
    )


def _answered(outcome: Outcome) -> bool:
    return outcome.status == "answered"


def _point(threshold: float, sure: Table, right: NDArray[np.bool_], goals: int) -> Point:
    covered = sure >= threshold
    accuracy = float(right[covered].mean()) if covered.any() else 0.0
    return Point(threshold=threshold, coverage=round(covered.sum() / max(1, goals), 4), accuracy=round(accuracy, 4))


def _foreign(table: Table, right: Table) -> Table:
    """How sure each answer looks to a fit that has not seen it: else the threshold would be fitted to itself."""
    folds = np.arange(len(right)) % FOLDS
    sure = np.zeros(len(right))
    for fold in set(folds.tolist()):
        fitted = _fit(table[folds != fold], right[folds != fold])
        sure[folds == fold] = [fitted.confidence(row) for row in table[folds == fold].tolist()]
    return sure


def _threshold(sure: Table, right: Table, target: float) -> float:
    """The least confidence at which the answers so sure or surer are right often enough; 1.0 where there is none."""
    for level in np.unique(sure):
        covered = sure >= level
        if covered.sum() >= SUREST and right[covered].mean() >= target:
            return float(level)
    return 1.0


def _fit(table: Table, right: Table) -> Calibration:
    """Logistic regression with a ridge, by Newton's method (iteratively reweighted least squares)."""
    if not len(right):
        return _ignorant()
    means, scales = table.mean(axis=0), table.std(axis=0)
    scales[scales < 1e-9] = 1.0  # a feature that is always the same
    columns = np.hstack([(table - means) / scales, np.ones((len(right), 1))])
    pull = np.array([RIDGE] * table.shape[1] + [LOOSE])
    weights = np.zeros(len(pull))
    for _ in range(ROUNDS):
        likely = 1 / (1 + np.exp(-np.clip(columns @ weights, -30, 30)))
        curvature = (columns.T * (likely * (1 - likely))) @ columns + np.diag(pull)
        step = np.linalg.solve(curvature, columns.T @ (right - likely) - pull * weights)
        weights += step
        if np.abs(step).max() < 1e-8:
            break
    *slopes, bias = weights.tolist()
    return Calibration(means=tuple(means.tolist()), scales=tuple(scales.tolist()), weights=tuple(slopes), bias=bias)


def _ignorant() -> Calibration:
    """What no answer teaches: every confidence is one half, and none is enough."""
    nothing = (0.0,) * len(FEATURES)
    return Calibration(means=nothing, scales=(1.0,) * len(FEATURES), weights=nothing, bias=0.0)
