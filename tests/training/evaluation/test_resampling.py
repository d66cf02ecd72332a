"""Families of equal weight, and intervals that know how alike the goals of one workspace are."""

from random import Random

import pytest
from skillstill_training.evaluation.resampling import bootstrap_share, gain_interval, success_interval
from skillstill_training.run.scorecard import Interval, Outcome


def outcome(at: int, passed: bool, workspace: str = "", family: str = "a") -> Outcome:
    return Outcome(
        goal=f"{at:016x}", family=family, workspace=workspace or f"w{at % 10}", unseen=True, held_out=False, calls=1,
        passed=passed, status="answered",
    )  # fmt: skip


def width(interval: Interval) -> float:
    return interval.high - interval.low


def coins(count: int = 200, seed: int = 1) -> list[Outcome]:
    """Goals of ten workspaces, each solved or not for itself."""
    rng = Random(seed)
    return [outcome(at, rng.random() < 0.5) for at in range(count)]


def test_each_family_has_the_same_weight_however_many_goals_it_has() -> None:
    outcomes = [outcome(at, True, family="large") for at in range(90)]
    outcomes += [outcome(at, False, family="small") for at in range(90, 100)]
    assert success_interval(outcomes).value == 0.5


def test_an_arm_against_itself_gains_nothing_for_sure() -> None:
    assert gain_interval(coins(), coins()) == Interval(value=0, low=0, high=0)


def test_a_gain_is_told_on_the_goals_that_both_were_asked() -> None:
    ours = [outcome(at, True) for at in range(40)]
    theirs = [outcome(at, at % 4 > 0) for at in range(20)]
    found = gain_interval(ours, theirs)
    assert found.value == 0.25
    assert 0 < found.low < 0.25 < found.high


def test_goals_that_succeed_and_fail_by_workspace_make_the_interval_wider() -> None:
    alone = [outcome(at, at // 10 % 2 == 0) for at in range(200)]  # half of each workspace's goals
    together = [outcome(at, at % 2 == 0) for at in range(200)]  # all goals of half the workspaces
    assert success_interval(alone).value == success_interval(together).value == 0.5
    assert width(success_interval(together)) > 5 * max(width(success_interval(alone)), 0.05)


def test_goals_that_stand_for_themselves_have_the_interval_of_a_share() -> None:
    found = success_interval([outcome(at, at % 2 == 0, workspace=f"w{at}") for at in range(400)])
    assert width(found) == pytest.approx(2 * 1.96 * 0.5 / 20, rel=0.1)


def test_within_a_single_workspace_goals_are_drawn_for_an_interval_without_width_would_be_a_lie() -> None:
    assert width(success_interval([outcome(at, at % 2 == 0, workspace="only") for at in range(100)])) == pytest.approx(
        0.2, abs=0.03
    )


def test_a_family_that_a_draw_lacks_is_left_out_of_that_draw() -> None:
    rare = [outcome(at, False, workspace="w0", family="rare") for at in range(100, 105)]
    common = [outcome(at, True) for at in range(100)]
    found = success_interval([*common, *rare])
    assert (found.value, found.low, found.high) == (0.5, 0.5, 1.0)


def test_the_same_outcomes_have_the_same_interval_in_whatever_order() -> None:
    assert success_interval(coins()) == success_interval(coins()[::-1])


def test_nothing_asked_is_nothing_solved() -> None:
    assert success_interval([]) == gain_interval([], coins()) == Interval(value=0, low=0, high=0)


def test_a_share_is_of_all_wholes_together_so_that_a_small_one_counts_little() -> None:
    assert bootstrap_share([900, -90], [1_000, 10]).value == pytest.approx(810 / 1_010, abs=1e-4)
    found = bootstrap_share([one % 3 * 10 for one in range(90)], [20] * 90)
    assert found.low < found.value == 0.5 < found.high
    assert bootstrap_share([-5, -7], [0, 0]) == Interval(value=0, low=0, high=0)
