"""What a field test comes to, as values: the score of each arm on one split of natural questions."""

from collections.abc import Mapping
from typing import Literal, get_args

from skillstill.types import Frozen, ModelFile

from skillstill_training.authoring.goal import Split
from skillstill_training.run.scorecard import Interval

FieldArmName = Literal[
    "ours", "baseline", "retrieval", "stock", "larger", "stock-direct", "larger-direct", "largest-direct", "plan"
]
FIELD_ARMS: tuple[FieldArmName, ...] = get_args(FieldArmName)


class FieldScore(Frozen):
    """How one arm did on the questions that it was asked. Intervals are clustered by workspace.

    good             right, or rightly handed back
    right            right, with a warning or without
    silently_wrong   wrong without a warning, of all questions
    unwarned         right ones among the answers without a warning; `unwarned_answers` are there
    led              a wanted place is among those handed over, of the answerable questions with places
    verdicts         how many of each kind, `wrong, no warning` and `wrong, with a warning` apart
    by_sort          good of so many, by sort of question; `by_workspace` likewise
    seconds          the median of one question; the tokens are means
    """

    arm: FieldArmName
    label: str
    questions: int
    workspaces: int
    good: Interval
    right: Interval
    silently_wrong: Interval
    unwarned: Interval
    unwarned_answers: int
    led: Interval
    verdicts: Mapping[str, int]
    by_sort: Mapping[str, tuple[int, int]]
    by_workspace: Mapping[str, tuple[int, int]]
    seconds: float = 0.0
    read_tokens: float = 0.0
    written_tokens: float = 0.0


class FieldGain(Frozen):
    """Our share of good answers less that of another arm, on the questions that both were asked."""

    other: FieldArmName
    questions: int
    workspaces: int
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

    def gain(self, other: FieldArmName) -> FieldGain | None:
        return next((one for one in self.gains if one.other == other), None)
