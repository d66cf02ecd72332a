"""What a field test comes to, as a file for people and programs."""

from skillstill.types import Frozen, ModelFile

from skillstill_training.authoring.goal import Split
from skillstill_training.field.arms import FieldArmName
from skillstill_training.field.score import FieldScore
from skillstill_training.run.scorecard import Interval


class FieldGain(Frozen):
    """Our share of good answers less that of another arm, on the questions that both were asked."""

    other: FieldArmName
    questions: int
    points: Interval


class FieldResult(Frozen):
    """The scores of all arms on one split. `contract` is the serving hash of what was tested."""

    skill: str
    split: Split
    base: ModelFile
    adapter: ModelFile | None = None
    contract: str
    machine: str
    scores: tuple[FieldScore, ...]
    gains: tuple[FieldGain, ...] = ()

    def score(self, arm: FieldArmName) -> FieldScore | None:
        return next((one for one in self.scores if one.arm == arm), None)
