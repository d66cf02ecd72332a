"""Calibrate the confidence on validation answers, and measure its accuracy and coverage on test outcomes.

The logistic regression is written out here. It is a dozen lines of numpy, which is installed anyway; a library with a
regression is as large as all other dependencies together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from skillstill.errors import GateError
from skillstill.skills.calibration import FEATURES, Calibration

from skillstill_training.run.scorecard import Outcome, Point, Selective

MIN_GOALS = 400  # validation goals: a share of 0.95 is then known to some 0.02
TARGET_ACCURACY = 0.95
# The least number of answers above a threshold. The threshold is the best of hundreds of levels, and with few answers
# the best one is luck. If 350 answers are right 90 % of the time, whatever their confidence, a threshold for 95 % is
# found in 43 % of draws with at least 20 answers, in 20 % with 60, in 7 % with 100. If they are right 85 % of the time,
# it is found in 19, 1 and 0 %.
MIN_ANSWERS = 60
FOLDS = 5
RIDGE = 1.0  # the L2 penalty of the standardised weights, as much as one goal
BIAS_RIDGE = 1e-3  # the L2 penalty of the bias: keeps it finite if all answers are right, or all wrong
MOST_WRONG = 0.03  # of all field questions without a warning: other folders may then have a point more
MAX_ITERATIONS = 50  # Newton's method converges after some ten
CURVE_POINTS = 50

Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """An answer to a question: its features, by FEATURES, and whether it is right.

    `unwarned_wrong` is one to a field question that is wrong and has no warning but that of its confidence.
    """

    question: str
    features: tuple[float, ...]
    right: bool
    unwarned_wrong: bool = False


@dataclass(frozen=True, slots=True)
class GradedField:
    """The answers to so many field questions that were asked."""

    asked: int
    answers: Sequence[GradedAnswer]


def calibrate(
    outcomes: Sequence[Outcome],
    field: GradedField | None = None,
    *,
    min_goals: int = MIN_GOALS,
    target: float = TARGET_ACCURACY,
) -> Calibration:
    """Fit the confidence to the answers among the validation outcomes. Escalations need no confidence.

    If there are answers to field questions, it is fitted to both, and the threshold rises to where few of these
    questions are answered wrongly without a warning. Raises GateError if there are fewer than `min_goals` outcomes.
    """
    check_validation_count(len(outcomes), min_goals)
    made = [GradedAnswer(one.goal, one.features, one.passed) for one in outcomes if _is_answer(one) and one.features]
    asked = field.answers if field else ()
    answers = [*sorted(made, key=_question), *sorted(asked, key=_question)]  # whatever the order of the runs was
    table = np.array([answer.features for answer in answers]).reshape(-1, len(FEATURES))
    right = np.array([answer.right for answer in answers], dtype=np.float64)
    counted = slice(0, len(made))
    threshold = _choose_threshold(_out_of_fold_confidences(table, right)[counted], right[counted], target)
    goals = len(outcomes) + (field.asked if field else 0)
    fitted = _fit(table, right).model_copy(update={"threshold": threshold, "goals": goals})
    return raised_for_field(fitted, field) if field else fitted


def raised_for_field(calibration: Calibration, field: GradedField) -> Calibration:
    """Return the calibration with a threshold from which on few field questions are answered wrongly unwarned.

    It never falls. The questions have to be others than those that it is tested on.
    """
    sure = [(calibration.confidence(one.features), one.unwarned_wrong) for one in field.answers]
    levels = sorted({calibration.threshold, *(level for level, _ in sure if level > calibration.threshold), 1.0})
    room = MOST_WRONG * field.asked
    threshold = next(level for level in levels if sum(wrong for own, wrong in sure if own >= level) <= room)
    return calibration.model_copy(update={"threshold": threshold})


def _question(answer: GradedAnswer) -> str:
    return answer.question


def check_validation_count(goals: int, min_goals: int) -> None:
    """Raise GateError if there are fewer than `min_goals` validation goals."""
    if goals < min_goals:
        raise GateError(
            f"a confidence is calibrated on at least {min_goals} validation goals, here are {goals}: "
            "make more of them ([goals.per_family] in recipe.toml), give it more validation workspaces, or be content "
            f"with a rougher one (calibration = {goals} under [evaluate])"
        )


def selective_metrics(
    calibration: Calibration, outcomes: Sequence[Outcome], *, target: float = TARGET_ACCURACY
) -> Selective:
    """Measure the accuracy and coverage of the confidence on the outcomes of all test goals.

    An escalation is right unless it withholds a right answer. A goal that is to be handed back, a run without an answer
    and a wrong answer are all to be escalated.
    """
    answers = list(filter(_is_answer, outcomes))
    confidences = np.array([calibration.confidence(answer.features) for answer in answers])
    right = np.array([answer.passed for answer in answers], dtype=np.bool_)
    point = _curve_point(calibration.threshold, confidences, right, len(outcomes))
    escalated = len(outcomes) - int((confidences >= calibration.threshold).sum())
    withheld = int(right[confidences < calibration.threshold].sum())
    levels = np.unique(confidences)
    plotted = levels[np.unique(np.linspace(0, len(levels) - 1, min(CURVE_POINTS, len(levels))).astype(int))]
    return Selective(
        target=target,
        calibrated_on=calibration.goals,
        threshold=calibration.threshold,
        coverage=point.coverage,
        accuracy=point.accuracy,
        escalated=escalated,
        rightly=round((escalated - withheld) / max(1, escalated), 4),
        curve=tuple(_curve_point(float(level), confidences, right, len(outcomes)) for level in plotted),
    )


def _is_answer(outcome: Outcome) -> bool:
    return outcome.status == "answered"


def _curve_point(threshold: float, confidences: Table, right: NDArray[np.bool_], goals: int) -> Point:
    covered = confidences >= threshold
    accuracy = float(right[covered].mean()) if covered.any() else 0.0
    return Point(threshold=threshold, coverage=round(covered.sum() / max(1, goals), 4), accuracy=round(accuracy, 4))


def _out_of_fold_confidences(table: Table, right: Table) -> Table:
    """Return the confidence of each answer by a fit to the other folds, so that the threshold is not overfitted."""
    folds = np.arange(len(right)) % FOLDS
    confidences = np.zeros(len(right))
    for fold in set(folds.tolist()):
        fitted = _fit(table[folds != fold], right[folds != fold])
        confidences[folds == fold] = [fitted.confidence(row) for row in table[folds == fold].tolist()]
    return confidences


def _choose_threshold(confidences: Table, right: Table, target: float) -> float:
    """Return the lowest confidence at or above which the accuracy reaches the target; 1.0 if there is none."""
    for level in np.unique(confidences):
        covered = confidences >= level
        if covered.sum() >= MIN_ANSWERS and right[covered].mean() >= target:
            return float(level)
    return 1.0


def _fit(table: Table, right: Table) -> Calibration:
    """Fit a logistic regression with an L2 penalty by Newton's method (iteratively reweighted least squares)."""
    if not len(right):
        return _null_model()
    means, scales = table.mean(axis=0), table.std(axis=0)
    scales[scales < 1e-9] = 1.0  # a feature that is always the same
    columns = np.hstack([(table - means) / scales, np.ones((len(right), 1))])
    penalty = np.array([RIDGE] * table.shape[1] + [BIAS_RIDGE])
    weights = np.zeros(len(penalty))
    for _ in range(MAX_ITERATIONS):
        predicted = 1 / (1 + np.exp(-np.clip(columns @ weights, -30, 30)))
        curvature = (columns.T * (predicted * (1 - predicted))) @ columns + np.diag(penalty)
        step = np.linalg.solve(curvature, columns.T @ (right - predicted) - penalty * weights)
        weights += step
        if np.abs(step).max() < 1e-8:
            break
    *slopes, bias = weights.tolist()
    return Calibration(means=tuple(means.tolist()), scales=tuple(scales.tolist()), weights=tuple(slopes), bias=bias)


def _null_model() -> Calibration:
    """Return the fit to no answers: every confidence is 0.5."""
    zeros = (0.0,) * len(FEATURES)
    return Calibration(means=zeros, scales=(1.0,) * len(FEATURES), weights=zeros, bias=0.0)
