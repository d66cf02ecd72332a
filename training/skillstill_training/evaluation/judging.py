"""The judge of a rubric at work on what an arm has answered: each verdict is stored, and no attempt is judged twice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillstill.run.finish import finish
from skillstill.types import Frozen

from skillstill_training.authoring.checks import Judged
from skillstill_training.evaluation.arms import Arm
from skillstill_training.evaluation.resampling import ClusteredValue, bootstrap_mean
from skillstill_training.run.judged import CriterionShare, JudgedArm
from skillstill_training.run.scorecard import Interval, Outcome
from skillstill_training.teachers.rubric import RubricJudge, rubric_hash
from skillstill_training.teachers.teacher import CriterionVerdict
from skillstill_training.util.hashes import hash_parts
from skillstill_training.util.jsonl import Appender, read_lines, write_lines
from skillstill_training.util.tasks import each

FEWEST = 8  # workspaces that can be drawn: two that happen to be alike would make an interval of no width
Verdicts = Mapping[str, tuple[CriterionVerdict, ...]]  # by goal


class JudgedAttempt(Frozen):
    """What was said of one attempt. `key`: a hash of all that this depends on, except the goal."""

    key: str
    goal: str
    verdicts: tuple[CriterionVerdict, ...]


@dataclass(frozen=True)
class Attempts:
    """What became of each goal in one arm."""

    arm: Arm
    outcomes: Sequence[Outcome]

    @property
    def answered(self) -> Sequence[Outcome]:
        """Return what a judge is shown: what failed or was handed back is asked of nobody."""
        return [one for one in self.outcomes if one.status == "answered"]


@dataclass(frozen=True)
class StoredJudge:
    """A judge, the rubric that it judges by, and the file of all that it has said."""

    judge: RubricJudge
    rubric: Judged
    file: Path

    def left(self, attempts: Attempts) -> Sequence[Outcome]:
        """Return the answers that it has yet to judge."""
        said = self._said(attempts.arm)
        return [one for one in attempts.answered if one.goal not in said]

    async def judge_attempts(self, attempts: Attempts, at_once: int, on_judged: Callable[[int], None]) -> Verdicts:
        """Return what it says of each answer, as its caller reads it. Raise BudgetSpent and TeacherError."""
        said, key, left = self._said(attempts.arm), self._key(attempts.arm), self.left(attempts)
        with Appender(self.file) as kept:

            async def work(outcome: Outcome) -> None:
                assert outcome.trace
                said[outcome.goal] = found = await self.judge.judge(self.rubric, finish(outcome.trace))
                kept.append([JudgedAttempt(key=key, goal=outcome.goal, verdicts=found)])
                on_judged(len(said))

            await each(left, work, at_once)
        return {one.goal: said[one.goal] for one in attempts.answered}

    def _key(self, arm: Arm) -> str:
        return hash_parts(arm.key, self.judge.model.label, rubric_hash(self.rubric))

    def _said(self, arm: Arm) -> dict[str, tuple[CriterionVerdict, ...]]:
        """Return what was said of an arm's answers before. The last line of the file may be torn."""
        if not self.file.exists():
            return {}
        write_lines(self.file, rows := read_lines(self.file, JudgedAttempt, torn=True))
        return {row.goal: row.verdicts for row in rows if row.key == self._key(arm)}


def score_judged(attempts: Attempts, rubric: Judged, verdicts: Verdicts) -> JudgedArm:
    """Return the shares of all attempts of an arm that hold every criterion, and each of them."""
    outcomes = attempts.outcomes
    held = [{one.asks for one in verdicts.get(outcome.goal, ()) if one.holds} for outcome in outcomes]
    shares = ((one.asks, sum(one.asks in asks for asks in held) / len(held)) for one in rubric.criteria)
    return JudgedArm(
        arm=attempts.arm.name,
        label=attempts.arm.label,
        answered=len(attempts.answered),
        good=_mean(outcomes, lambda goal: is_good(verdicts, goal)),
        criteria=tuple(CriterionShare(asks=asks, share=round(share, 4)) for asks, share in shares),
    )


def judged_gain(outcomes: Sequence[Outcome], ours: Verdicts, theirs: Verdicts) -> Interval:
    """Return our share of good answers less theirs, on the goals of these outcomes."""
    return _mean(outcomes, lambda goal: is_good(ours, goal) - is_good(theirs, goal))


def is_good(verdicts: Verdicts, goal: str) -> bool:
    """Return whether every criterion holds; of an attempt that nobody judged, none does."""
    said = verdicts.get(goal, ())
    return bool(said) and all(one.holds for one in said)


def _mean(outcomes: Sequence[Outcome], of: Callable[[str], float]) -> Interval:
    """Return the mean over goals. Families have no weight of their own: a teacher drew them, of any size.

    Of few workspaces, single goals are drawn: the interval then does not hold for other workspaces.
    """
    few = len({one.workspace for one in outcomes}) < FEWEST
    clusters = ((one.goal if few else one.workspace, one.goal) for one in outcomes)
    return bootstrap_mean([ClusteredValue(cluster, "", float(of(goal))) for cluster, goal in clusters])
