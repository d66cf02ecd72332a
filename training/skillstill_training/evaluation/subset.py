"""Which goals an evaluation asks: drawn by their ids, which are hashes, so that they are the same for every adapter."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from skillstill.errors import StageError

from skillstill_training.authoring.goal import Goal
from skillstill_training.run.recipe import EvaluationConfig
from skillstill_training.run.scorecard import Arm
from skillstill_training.teachers.probing import spread

FAST: Collection[Arm] = ("ours", "baseline")  # the others are slow: they are asked a part, and compared on that part


@dataclass(frozen=True, slots=True)
class Subset:
    """`validation` for the confidence; `test` for ours and the baseline; `paired`, of these, for every other arm."""

    validation: Sequence[Goal]
    test: Sequence[Goal]
    paired: Sequence[Goal]

    @classmethod
    def of(cls, goals: Sequence[Goal], held_out: Collection[str], plan: EvaluationConfig) -> "Subset":
        """The families take turns, but those held out, which have no part in differences. Raises StageError."""
        ordered = sorted(goals, key=lambda goal: goal.id)
        validation = [goal for goal in ordered if goal.split == "validation"]
        test = list(_test(ordered, plan))
        if not (headline := [goal for goal in test if goal.family not in held_out]):
            raise StageError("there are no test goals to be measured on: make the goals again")
        return cls(spread(validation, plan.calibration), test, spread(headline, plan.paired))

    def for_arm(self, arm: Arm) -> Sequence[Goal]:
        return self.test if arm in FAST else self.paired


def unseen(goal: Goal) -> bool:
    """Whether its wording comes from another hand than those of training."""
    return goal.wording.startswith("test/")


def _test(ordered: Sequence[Goal], plan: EvaluationConfig) -> Iterator[Goal]:
    for family in sorted({goal.family for goal in ordered}):
        asked = [goal for goal in ordered if goal.split == "test" and goal.family == family]
        yield from [goal for goal in asked if unseen(goal)][: plan.per_family]
        yield from [goal for goal in asked if not unseen(goal)][: plan.seen]
