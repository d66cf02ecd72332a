"""From validation outcomes to a confidence, and what it is worth on a test."""

import math
from dataclasses import replace
from random import Random

import pytest
from skillstill.errors import GateError
from skillstill.skills.calibration import FEATURES
from skillstill_training.evaluation.calibration import (
    GradedAnswer,
    GradedField,
    calibrate,
    raised_for_field,
    selective_metrics,
)
from skillstill_training.run.scorecard import Outcome


def outcome(at: int, passed: bool, features: tuple[float, ...] = (), **changed: object) -> Outcome:
    plain = Outcome(
        goal=f"{at:016x}", family="a", workspace="w", unseen=True, held_out=False, calls=1, passed=passed,
        status="answered", features=features,
    )  # fmt: skip
    return plain.model_copy(update=changed)


def answers(count: int, seed: int, knowing: float = 4.0) -> list[Outcome]:
    """Answers whose first feature tells how likely they are right, the more `knowing` the better; the rest is noise."""
    rng = Random(seed)
    found = []
    for at in range(count):
        features = tuple(rng.gauss(0, 1) for _ in FEATURES)
        likely = 1 / (1 + math.exp(-(1 + knowing * features[0])))
        found.append(outcome(at, rng.random() < likely, features))
    return found


def test_what_tells_right_from_wrong_gets_the_weight() -> None:
    calibration = calibrate(answers(600, seed=1))
    first, *others = map(abs, calibration.weights)
    assert first > 5 * max(others)
    assert calibration.goals == 600


def test_a_confidence_is_the_share_that_is_right() -> None:
    calibration, test = calibrate(answers(2_000, seed=1)), answers(2_000, seed=2)
    for low in (0.1, 0.3, 0.5, 0.7, 0.9):
        near = [one.passed for one in test if abs(calibration.confidence(one.features) - low) < 0.1]
        assert sum(near) / len(near) == pytest.approx(low, abs=0.09)


def test_at_the_threshold_the_answers_of_a_test_are_as_right_as_promised() -> None:
    found = [selective_metrics(calibrate(answers(400, seed)), answers(2_000, seed + 100)) for seed in range(8)]
    assert sum(one.accuracy for one in found) / 8 == pytest.approx(0.95, abs=0.015)
    assert all(0.3 < one.coverage < 0.8 for one in found)


def test_the_threshold_is_not_fitted_to_itself() -> None:
    """Features that know nothing, and a share of right answers below the target: noise must not look like knowledge."""
    for seed in range(5):
        found = selective_metrics(calibrate(answers(400, seed, knowing=0)), answers(400, seed + 100, knowing=0))
        assert found.coverage < 0.1, seed


def test_what_is_right_too_seldom_and_tells_nothing_is_hardly_ever_found_sure() -> None:
    """A threshold is the best of hundreds of levels: with 88 % right, one that looks like 95 % is soon found."""
    found = 0
    for seed in range(40):
        rng = Random(seed)
        told = [outcome(at, rng.random() < 0.88, tuple(rng.gauss(0, 1) for _ in FEATURES)) for at in range(400)]
        found += calibrate(told).threshold < 1
    assert found <= 3


def test_where_no_confidence_is_enough_the_threshold_is_one_and_everything_is_handed_back() -> None:
    wrong = [one.model_copy(update={"passed": False}) for one in answers(400, seed=1)]
    found = selective_metrics(calibrate(wrong), wrong)
    assert (found.threshold, found.coverage, found.accuracy, found.escalated, found.rightly) == (1, 0, 0, 400, 1)


def test_where_all_are_right_all_are_answered() -> None:
    right = [one.model_copy(update={"passed": True}) for one in answers(400, seed=1)]
    found = selective_metrics(calibrate(right), answers(100, seed=2))
    assert found.coverage > 0.95


def test_coverage_counts_every_goal_and_an_escalation_is_right_unless_it_withholds_a_right_answer() -> None:
    validation = answers(600, seed=1, knowing=20)
    calibration = calibrate(validation)
    sure, unsure = (3.0, *[0.0] * (len(FEATURES) - 1)), (-3.0, *[0.0] * (len(FEATURES) - 1))
    test = [
        *(outcome(at, True, sure) for at in range(5)),
        *(outcome(at, True, unsure) for at in range(5, 7)),  # right answers that are withheld
        *(outcome(at, False, unsure) for at in range(7, 8)),
        *(outcome(at, True, unsure, status="escalate") for at in range(8, 9)),  # work that is to be handed back
        *(outcome(at, False, unsure, status="escalate") for at in range(9, 10)),
    ]
    found = selective_metrics(calibration, test)
    assert (found.coverage, found.accuracy, found.escalated, found.rightly) == (0.5, 1, 5, 0.6)


def test_the_curve_goes_from_all_answers_to_the_surest() -> None:
    test = [*answers(300, seed=2), *(outcome(at, False, status="escalate") for at in range(300, 400))]
    curve = selective_metrics(calibrate(answers(400, seed=1)), test).curve
    assert len(curve) == 50
    assert curve[0].coverage == 0.75
    assert curve[0].accuracy == pytest.approx(sum(one.passed for one in test) / 300, abs=1e-3)
    assert curve[-1].coverage == pytest.approx(1 / 400)
    coverages = [point.coverage for point in curve]
    assert coverages == sorted(coverages, reverse=True)


def test_too_few_validation_goals_are_refused_unless_one_asks_for_fewer() -> None:
    with pytest.raises(GateError, match=r"on at least 400 validation goals, here are 399: .*calibration = 399"):
        calibrate(answers(399, seed=1))
    assert calibrate(answers(30, seed=1), min_goals=30).goals == 30


def test_the_order_in_which_goals_were_solved_changes_nothing() -> None:
    validation = answers(400, seed=1)
    assert calibrate(validation[::-1]) == calibrate(validation)


def test_answers_of_a_model_that_tells_nothing_are_never_sure() -> None:
    silent = [outcome(at, True) for at in range(400)]
    found = selective_metrics(calibrate(silent), silent)
    assert (found.threshold, found.coverage) == (1, 0)


def graded(found: list[Outcome], names: str) -> GradedField:
    answers = [GradedAnswer(f"{names}/{at}", one.features, one.passed, not one.passed) for at, one in enumerate(found)]
    return GradedField(len(found), answers)


def test_the_threshold_rises_to_where_few_field_questions_are_answered_wrongly_without_a_warning() -> None:
    """Of what families ask nearly all is right, of what people ask half, and a model is as sure of both."""
    sure = [outcome(at, passed=True, features=(1.0,) * len(FEATURES)) for at in range(400)]
    unlike = [outcome(at, at % 2 == 0, (1.0,) * len(FEATURES)) for at in range(200)]
    assert calibrate(sure).threshold < 1
    assert calibrate(sure, graded(unlike, "field")).threshold == 1
    knowing = calibrate(answers(400, seed=1), graded(answers(400, seed=2), "field"))
    assert knowing.threshold < 1
    assert knowing.goals == 800


def test_of_a_hundred_field_questions_three_may_be_answered_wrongly_without_a_warning() -> None:
    calibration = calibrate(answers(400, seed=1))
    found = graded(answers(300, seed=3), "field")
    raised = raised_for_field(calibration, found)
    unwarned = [one for one in found.answers if raised.confidence(one.features) >= raised.threshold]
    assert raised.threshold >= calibration.threshold
    assert sum(one.unwarned_wrong for one in unwarned) <= 9
    assert raised_for_field(raised, found) == raised, "it is low enough for no fewer"


def test_what_is_wrong_and_warned_of_anyway_raises_no_threshold() -> None:
    calibration = calibrate(answers(400, seed=1))
    warned = [replace(one, unwarned_wrong=False) for one in graded(answers(300, seed=3), "field").answers]
    assert raised_for_field(calibration, GradedField(300, warned)) == calibration
