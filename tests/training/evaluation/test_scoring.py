"""Outcomes summed up: like causes are counted together, whatever they name."""

import pytest
from skillstill.types import Status
from skillstill_training.evaluation.scoring import count_causes, score_arm
from skillstill_training.run.scorecard import Cause, Outcome


def outcome(at: int, status: Status, why: str, **changed: object) -> Outcome:
    plain = Outcome(
        goal=f"{at:016x}", family="a", workspace="w", unseen=True, held_out=False, calls=1, passed=not why,
        status=status, why=why,
    )  # fmt: skip
    return plain.model_copy(update=changed)


@pytest.mark.parametrize(
    ("status", "one", "other", "kind"),
    [
        ("answered", "it states '3'", "it states 'x y'", "it states …"),
        ("answered", "it names 1 of 3", "it names 0 of 2", "it names … of …"),
        ("escalate", "the budget of 8 steps is used up", "the budget of 9 steps is used up", "the budget of … steps"),
    ],
)
def test_causes_are_told_without_what_differs_from_run_to_run(status: Status, one: str, other: str, kind: str) -> None:
    [found] = count_causes([outcome(1, status, one), outcome(2, status, other)])
    assert (found.count, found.kind.startswith(f"{status}: {kind}")) == (2, True)


def test_the_commonest_cause_comes_first_with_a_few_of_its_goals() -> None:
    outcomes = [outcome(at, "answered", "it names no place") for at in range(7)]
    outcomes += [
        outcome(7, "failed", "no memory"),
        outcome(8, "answered", ""),
        outcome(9, "failed", "x", held_out=True),
    ]
    assert list(count_causes(outcomes)) == [
        Cause(kind="answered: it names no place", count=7, goals=tuple(f"{at:016x}" for at in range(5))),
        Cause(kind="failed: no memory", count=1, goals=(f"{7:016x}",)),
    ]


def test_goals_are_told_by_their_calls_three_and_more_together() -> None:
    outcomes = [outcome(at, "answered", "no" if at % 2 else "", calls=at) for at in range(6)]
    told = score_arm("ours", "ours", outcomes).by_calls
    assert {calls: (count.solved, count.asked) for calls, count in told.items()} == {
        "0": (1, 1), "1": (0, 1), "2": (1, 1), "3+": (1, 3),
    }  # fmt: skip


def test_shares_and_means_are_those_of_the_headline() -> None:
    outcomes = [outcome(0, "answered", "", repeated=True, turns=2), outcome(1, "answered", "", turns=4)]
    told = score_arm("ours", "ours", [*outcomes, outcome(2, "answered", "", turns=99, misused=True, held_out=True)])
    assert (told.repeated, told.misused, told.turns) == (0.5, 0, 3)
