"""The values of the stage `evaluate`: how each arm did with each goal, and the scorecard that sums them up."""

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import Field
from skillstill.skills.calibration import Calibration
from skillstill.types import Frozen, ModelFile, Status, Trace

from skillstill_training.authoring.goal import FieldSplit

Share = Annotated[float, Field(ge=0, le=1)]
ArmName = Literal["baseline", "stock", "larger", "ours", "wrong", "teacher"]
ARMS: tuple[ArmName, ...] = ("baseline", "stock", "larger", "ours", "wrong", "teacher")
FieldArmName = Literal[
    "ours",
    "baseline",
    "retrieval",
    "stock",
    "larger",
    "largest",
    "stock-direct",
    "larger-direct",
    "largest-direct",
    "plan",
]
FIELD_ARMS: tuple[FieldArmName, ...] = get_args(FieldArmName)
Verdict = Literal[
    "released",
    "not better than its base",
    "better as a plain script",
    "not verifiable",
    "parity failed",
    "not good enough",
]


class Outcome(Frozen):
    """One goal as one arm did it.

    unseen      the goal's wording comes from another hand than those of training
    calls       of the goal's shortest plan
    why         not passed: what the check says; else empty
    repeated    a call was made twice
    misused     a call was refused or could not be read
    tokens      read anew and written; seconds are wall time of the run
    saved       tokens of the calls and results between the question and its right answer: what a caller that had made
                the calls itself would have in its context. Nothing if the answer is wrong or the goal handed back
    features    what a confidence is made of, by `skillstill.skills.calibration`; nothing without a model
    """

    goal: str
    family: str
    workspace: str
    unseen: bool
    held_out: bool
    calls: int
    passed: bool
    why: str = ""
    status: Status
    repeated: bool = False
    misused: bool = False
    turns: int = 0
    read_tokens: int = 0
    written_tokens: int = 0
    saved_tokens: int = 0
    seconds: float = 0.0
    features: tuple[float, ...] = ()
    trace: Trace | None = None


class Interval(Frozen):
    """A value and the 95 % interval around it, by a bootstrap that draws whole workspaces."""

    value: float
    low: float
    high: float


class Count(Frozen):
    solved: int
    asked: int


class ArmScore(Frozen):
    """How one arm did on the goals that it was asked; `success` is the equal-weight mean over families."""

    arm: ArmName
    label: str
    success: Interval
    goals: Count
    families: Mapping[str, Count]
    held_out: Mapping[str, Count] = {}
    unseen: Count
    seen: Count
    by_calls: Mapping[str, Count]
    repeated: Share = 0.0
    misused: Share = 0.0
    turns: float = 0.0
    read_tokens: float = 0.0
    written_tokens: float = 0.0
    saved_tokens: float = 0.0
    seconds: float = 0.0


class Difference(Frozen):
    """Ours less another arm on the `n` goals that both were asked, in so many workspaces, each family of one weight.

    on   all of them, those in wordings from another hand, or those of hard families
    """

    other: ArmName
    on: Literal["all", "unseen", "hard"]
    n: int
    workspaces: int = 0
    points: Interval


class Point(Frozen):
    """Of all goals, the share whose answers are at least so sure; of those answers, the share that is right."""

    threshold: Share
    coverage: Share
    accuracy: Share


class Selective(Frozen):
    """What the confidence is worth.

    threshold    from `calibrated_on` validation goals: the least confidence at which `target` of the answers were right
    coverage     of all test goals, those that are answered at least so surely; `accuracy` of those answers
    escalated    test goals that the subagent or the threshold hands back; `rightly`: share of them that it had wrong
    curve        on the test goals, from all answers to the surest
    """

    target: Share = 0.95
    calibrated_on: int
    threshold: Share
    coverage: Share
    accuracy: Share
    escalated: int
    rightly: Share
    curve: tuple[Point, ...]


class Cause(Frozen):
    """One way to fail: of which kind, how often, and the goals that did, the first few."""

    kind: str
    count: int
    goals: tuple[str, ...]


class Gate(Frozen):
    """One condition of a release: what was wanted and what came, in a sentence. Not `measured`: nobody looked."""

    name: str
    passed: bool
    told: str
    measured: bool = True


class ExportProof(Frozen):
    """The parity gate of the adapter with this hash on the base with that one; earlier proofs name no base."""

    adapter: str
    base: str = ""
    gate: Gate


class Trained(Frozen):
    """What the adapter learned from. `data_curve`: success on validation goals after so many traces."""

    traces: int
    tokens: int
    learned_tokens: int
    seconds: float
    seed: int
    loss: float
    data_curve: Mapping[int, Share] = {}


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
    split: FieldSplit
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


class Scorecard(Frozen):
    """All that a release is worth, measured on the file that ships.

    contract    the serving hash at that time; earlier ones have none, and are told but no longer published
    field       the field test; None: there was none
    made        test workspaces that a model has made: figures in them are none of anybody's real files
    """

    skill: str
    base: ModelFile
    adapter: ModelFile
    dialect: str
    contract: str = ""
    goals: str
    machine: str
    trained: Trained
    arms: tuple[ArmScore, ...]
    differences: tuple[Difference, ...]
    selective: Selective
    calibration: Calibration | None = None
    causes: tuple[Cause, ...]
    field: FieldResult | None = None
    made: int = 0
    gates: tuple[Gate, ...] = ()
    verdict: Verdict | None = None

    def arm(self, name: ArmName) -> ArmScore | None:
        return next((one for one in self.arms if one.arm == name), None)
