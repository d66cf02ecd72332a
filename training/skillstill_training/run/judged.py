"""`7-judged.json`: what the judge of a rubric makes of a trained student. A model says so, and nothing verifies it."""

from pydantic import ValidationError
from skillstill.errors import StageError
from skillstill.types import Frozen, ModelFile

from skillstill_training.authoring.goal import Split
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import ArmName, Interval, Share
from skillstill_training.util.hashes import file_sha256


class CriterionShare(Frozen):
    """Of all attempts of an arm, the share that holds a criterion."""

    asks: str
    share: Share


class JudgedArm(Frozen):
    """How the answers of one arm were judged. What failed or was handed back is asked of nobody and holds nothing.

    answered   goals that it answered
    good       share of all goals whose answers hold every criterion, each goal of the same weight; the interval draws
               single goals if there are few workspaces
    """

    arm: ArmName
    label: str
    answered: int
    good: Interval
    criteria: tuple[CriterionShare, ...]


class JudgedFigures(Frozen):
    """What a judge makes of the student and of its untrained base, on goals that training has not seen.

    judge       the large model; `rubric` is a hash of the criteria and of how it is asked for them
    contract    the serving hash of what was judged; `goals` is a hash of the goals' file
    splits      that the `n` goals are from, in so many `workspaces`
    gain        the student's share of good answers less that of the base
    tokens      read or written for judged figures of this run, as its ledger has them; usd: None if nobody knows
    """

    skill: str
    judge: str
    rubric: str
    base: ModelFile
    adapter: ModelFile
    contract: str
    goals: str
    splits: tuple[Split, ...]
    n: int
    workspaces: int
    student: JudgedArm
    untrained: JudgedArm
    gain: Interval
    tokens: int
    usd: float | None = None

    @property
    def by(self) -> str:
        """Return what has to stand beside each of these figures."""
        return f"judged by {self.judge}"

    @property
    def arms(self) -> tuple[JudgedArm, JudgedArm]:
        return self.student, self.untrained


def read_judged(run: RunFolder) -> JudgedFigures | None:
    """Return the figures of what a run has exported; None if there are none. Raise StageError."""
    try:
        figures = JudgedFigures.model_validate_json(run.judged.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise StageError(f"{run.judged} cannot be read: type `skillstill judge SKILL` again") from error
    same = run.exported.exists() and file_sha256(run.exported) == figures.adapter.sha256
    return figures if same else None
