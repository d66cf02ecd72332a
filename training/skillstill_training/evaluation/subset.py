"""The goals of an evaluation. They are chosen by their ids, which are hashes, and so are the same for every adapter."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from skillstill.errors import StageError

from skillstill_training.authoring.goal import Goal
from skillstill_training.run.recipe import EvaluationConfig
from skillstill_training.run.scorecard import ArmName
from skillstill_training.teachers.probe import interleave_families

ALL_GOALS: Collection[ArmName] = ("ours", "baseline")  # the other arms are slow: they run on a part of the goals


@dataclass(frozen=True, slots=True)
class Subset:
    """The selected goals.

    validation   to calibrate the confidence
    test         for ours and the baseline
    paired       some of the test goals, for every other arm: differences are measured on them
    """

    validation: Sequence[Goal]
    test: Sequence[Goal]
    paired: Sequence[Goal]

    @classmethod
    def select(cls, goals: Sequence[Goal], held_out: Collection[str], plan: EvaluationConfig) -> "Subset":
        """Select goals from all families in turn. Held-out families are not `paired`. Raises StageError."""
        ordered = sorted(goals, key=lambda goal: goal.id)
        validation = [goal for goal in ordered if goal.split == "validation"]
        test = list(_select_test_goals(ordered, plan))
        if not (headline := [goal for goal in test if goal.family not in held_out]):
            raise StageError("there are no test goals to be measured on: make the goals again")
        return cls(
            validation=interleave_families(validation, plan.calibration),
            test=test,
            paired=interleave_families(headline, plan.paired),
        )

    def for_arm(self, arm: ArmName) -> Sequence[Goal]:
        return self.test if arm in ALL_GOALS else self.paired


def has_unseen_wording(goal: Goal) -> bool:
    """Return whether the wording of a goal is held out: written by another author than the wordings of training."""
    return goal.wording.startswith("test/")


def _select_test_goals(ordered: Sequence[Goal], plan: EvaluationConfig) -> Iterator[Goal]:
    for family in sorted({goal.family for goal in ordered}):
        goals = [goal for goal in ordered if goal.split == "test" and goal.family == family]
        yield from [goal for goal in goals if has_unseen_wording(goal)][: plan.per_family]
        yield from [goal for goal in goals if not has_unseen_wording(goal)][: plan.seen]
