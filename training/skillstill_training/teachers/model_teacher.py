"""The `model` teacher: a large model solves goals in our own loop, with our own tools.

Its prompt is that of an untrained model, with the skill's full text. Its run is recorded as a trace like any other. The
stage `dataset` replaces the text by the one line that the student will see.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillstill.errors import BudgetSpent, TeacherError
from skillstill.models.remote import GREEDY, Sampling
from skillstill.run.loop import ANSWER_CHARACTERS
from skillstill.skills.skill import Limits, Skill
from skillstill.types import Trace

from skillstill_training import episode
from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.checks import Judged, judge
from skillstill_training.authoring.goal import Goal
from skillstill_training.episode import EpisodeTask
from skillstill_training.teachers.large_models import LargeModel
from skillstill_training.teachers.ledger import Ledger, Purpose
from skillstill_training.teachers.metered import open_metered
from skillstill_training.teachers.retries import RetryPolicy
from skillstill_training.teachers.rubric import RubricJudge, rubric_reason
from skillstill_training.teachers.teacher import TraceRow

FAILURES = 20  # in a row: an outage, in which each further goal would only wait
TEMPERATURE = 0.8  # of all samples but the first: other ways to the answer, but calls are still well-formed


def widen_limits(limits: Limits) -> Limits:
    """Return a skill's limits with larger budgets for a teacher, which reads the text and the schemas every turn.

    A turn may also contain thoughts, most servers do not report cached tokens, and retries take time. The number of
    steps stays: a student could not learn a longer run.
    """
    return limits.model_copy(
        update={"turn_tokens": 5 * limits.turn_tokens, "tokens": 12 * limits.tokens, "seconds": 3_600.0}
    )


@dataclass
class ModelTeacher:
    """Makes `samples` attempts at each goal: the first is greedy, each other has `temperature` and its own seed.

    Models that know neither draw all of them alike.
    """

    skill: Skill
    model: LargeModel
    ledger: Ledger
    samples: int = 1
    temperature: float = TEMPERATURE
    seed: int = 1
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    failures: int = FAILURES
    limits: Limits | None = None
    _failed: Counter[Purpose] = field(default_factory=Counter, init=False)

    @property
    def name(self) -> str:
        """Return a name that fits into a file name."""
        return self.model.name

    @property
    def label(self) -> str:
        return self.model.label

    async def solve(self, goal: Goal, root: Path) -> Sequence[TraceRow]:
        """Attempt the goal `samples` times. Raises BudgetSpent and TeacherError; its rows are then lost."""
        return [await self.attempt(goal, root, sample) for sample in range(self.samples)]

    async def attempt(self, goal: Goal, root: Path, sample: int, purpose: Purpose = "traces") -> TraceRow:
        """Run one sample of a goal and judge it by the goal's check. Raises BudgetSpent and TeacherError."""
        row = await self.run(goal, root, sample, purpose)
        if row.trace is None or row.transient:
            return row
        if isinstance(goal.check, Judged):
            return await self._judged(row, row.trace, goal.check)
        judgement = judge(goal.check, attempt := Attempt.of_trace(row.trace))
        why = "" if judgement.passed else escalation_reason(row.trace, attempt) or judgement.why
        why = why or unfit_reason(row.trace)
        return row.model_copy(update={"kept": not why, "reason": why, "verified": "none" if why else "check"})

    @property
    def judge(self) -> RubricJudge:
        """Return itself as the judge of a rubric."""
        return RubricJudge(self.model, self.ledger, self.retries)

    async def _judged(self, row: TraceRow, trace: Trace, rubric: Judged) -> TraceRow:
        """Return the row as the rubric has it. What is unfit without it is not judged."""
        if why := escalation_reason(trace, Attempt.of_trace(trace)) or unfit_reason(trace):
            return row.model_copy(update={"reason": why})
        try:
            verdicts = await self.judge.judge(rubric, trace)
        except BudgetSpent:
            raise
        except TeacherError as error:  # as if it had not been reached: the goal is solved again
            self._count_failure("judge", str(error))
            return row.model_copy(update={"reason": str(error), "transient": True})
        self._count_failure("judge", "")
        why = rubric_reason(verdicts)
        fields = {"kept": not why, "reason": why, "verified": "none" if why else "judged", "judged": verdicts}
        return row.model_copy(update=fields)

    async def run(self, task: EpisodeTask, root: Path, sample: int, purpose: Purpose) -> TraceRow:
        """Run one sample without judging it. Raises BudgetSpent and TeacherError."""
        self.ledger.check()
        metered = open_metered(
            self.model,
            self.ledger,
            self.retries,
            self._sampling(task, sample),
            purpose=purpose,
            goal=task.id,
            sample=sample,
        )
        async with metered as model:
            trace = await episode.solve(
                task, self._widened_skill, model, root, self.label, told=self.skill.instructions
            )
        if model.stop:
            raise model.stop
        why = str(model.failure or (trace.report.answer if trace.report.status == "failed" else ""))
        self._count_failure(purpose, why)
        return TraceRow(
            goal=task.id, sample=sample, teacher=self.name, kept=False, reason=why, transient=bool(why), trace=trace
        )

    @property
    def _widened_skill(self) -> Skill:
        limits = self.limits or widen_limits(self.skill.subagent.limits)
        return self.skill.model_copy(update={"subagent": self.skill.subagent.model_copy(update={"limits": limits})})

    def _sampling(self, task: EpisodeTask, sample: int) -> Sampling:
        if sample == 0:
            return GREEDY
        digest = hashlib.sha256(f"{self.seed}/{task.id}/{sample}".encode()).digest()
        return Sampling(self.temperature, int.from_bytes(digest[:4]) >> 1)  # a signed 32-bit number everywhere

    def _count_failure(self, purpose: Purpose, failure: str) -> None:
        """Count the failures of the model in a row. Raises TeacherError if there are too many."""
        self._failed[purpose] = self._failed[purpose] + 1 if failure else 0
        if self._failed[purpose] >= self.failures:
            raise TeacherError(
                f"the teacher failed {self._failed[purpose]} times in a row, at last so: {failure}; what is done is "
                "kept: run the same command again when it works"
            )


def escalation_reason(trace: Trace, attempt: Attempt) -> str:
    """Return why a run ended without an answer, or an empty string if it has one.

    The reason contains no details of the goal, so that runs with the same reason can be counted.
    """
    if trace.report.status == "answered":
        return ""
    if attempt.gave_up:
        return "it gave up"
    unreadable = sum(message.malformed is not None for message in trace.messages)
    if unreadable > len(trace.receipts):
        return "it wrote calls that cannot be read"
    return trace.report.reason.general if trace.report.reason else ""


def unfit_reason(trace: Trace) -> str:
    """Return why a trace is unfit to learn from although its answer is right, or an empty string if it is fit."""
    if not all(message.receipt for message in trace.messages if message.role == "tool"):
        return "right, but it holds a call that was not executed"
    if trace.messages[-1].truncated or len(trace.messages[-1].content) > ANSWER_CHARACTERS:
        return f"right, but its answer was cut off or has over {ANSWER_CHARACTERS:,} characters"
    return ""
