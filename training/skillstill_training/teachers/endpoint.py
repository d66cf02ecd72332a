"""The `model` teacher: any OpenAI-compatible chat endpoint solves goals in our own loop, with our own tools.

It is told what an untrained model is told, the skill's full text. Its run leaves a trace like any other; what the
student will see in its place, one line, is put in when the dataset is rendered.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from skillstill.errors import TeacherError
from skillstill.models.remote import GREEDY, Endpoint, RemoteChat, Sampling
from skillstill.run.loop import ANSWER_CHARACTERS
from skillstill.skills.skill import Limits, Skill
from skillstill.types import Trace

from skillstill_training import episode
from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.checks import judge
from skillstill_training.authoring.goal import Goal
from skillstill_training.episode import EpisodeTask
from skillstill_training.teachers.ledger import Ledger, LedgerEntry, Purpose, total
from skillstill_training.teachers.patience import Patience, PatientModel
from skillstill_training.teachers.teacher import TraceRow

FAILURES = 20  # in a row: an outage, which each further goal would only pay for with waits
TEMPERATURE = 0.8  # of all samples but the first: other ways to the answer, still in well-formed calls


# Why a run was handed back, without what differs from goal to goal, so that like reasons can be counted.
def roomy(limits: Limits) -> Limits:
    """A skill's budgets, widened where a teacher is told more than a student: its text and schemas at every turn.

    A turn may hold thoughts; most servers do not say what they had cached; time goes by in waits. The steps stay: what
    takes a teacher more of them cannot be learned.
    """
    return limits.model_copy(
        update={"turn_tokens": 5 * limits.turn_tokens, "tokens": 12 * limits.tokens, "seconds": 3_600.0}
    )


@dataclass
class EndpointTeacher:
    """`samples` attempts at each goal: the first one greedy, the others at `temperature`, each with its own seed."""

    skill: Skill
    endpoint: Endpoint
    ledger: Ledger
    samples: int = 1
    temperature: float = TEMPERATURE
    seed: int = 1
    patience: Patience = field(default_factory=Patience)
    failures: int = FAILURES
    limits: Limits | None = None
    _failed: int = field(default=0, init=False)

    @property
    def name(self) -> str:
        """Fit for the name of a file."""
        return f"model-{re.sub(r'[^a-z0-9.]+', '-', self.endpoint.model.lower()).strip('-.')[:60]}"

    @property
    def label(self) -> str:
        return f"endpoint:{self.endpoint.url}#{self.endpoint.model}"

    async def solve(self, goal: Goal, root: Path) -> Sequence[TraceRow]:
        """Raises BudgetSpent and TeacherError; the goal's rows are then lost, and it is not solved."""
        return [await self.attempt(goal, root, sample) for sample in range(self.samples)]

    async def attempt(self, goal: Goal, root: Path, sample: int, purpose: Purpose = "traces") -> TraceRow:
        """One sample of one goal, held to its check. Raises BudgetSpent and TeacherError."""
        row = await self.run(goal, root, sample, purpose)
        if row.trace is None or row.transient:
            return row
        judgement = judge(goal.check, attempt := Attempt.of_trace(row.trace))
        why = "" if judgement.passed else handed_back(row.trace, attempt) or judgement.why
        why = why or unfit(row.trace)
        return row.model_copy(update={"kept": not why, "reason": why, "verified": "none" if why else "check"})

    async def run(self, asked: EpisodeTask, root: Path, sample: int, purpose: Purpose) -> TraceRow:
        """One run, not judged. Raises BudgetSpent and TeacherError."""
        self.ledger.check()
        async with RemoteChat(self.endpoint, self._sampling(asked, sample), seconds=self.patience.request) as remote:
            model = PatientModel(remote, self.ledger, self.patience)
            try:
                trace = await episode.solve(asked, self._roomy, model, root, self.label, told=self.skill.instructions)
            finally:
                self.ledger.write(self._entry(model, asked, sample, purpose))
        if model.stop:
            raise model.stop
        why = str(model.failure or (trace.report.answer if trace.report.status == "failed" else ""))
        self._watch(why)
        return TraceRow(
            goal=asked.id, sample=sample, teacher=self.name, kept=False, reason=why, transient=bool(why), trace=trace
        )

    @property
    def _roomy(self) -> Skill:
        limits = self.limits or roomy(self.skill.subagent.limits)
        return self.skill.model_copy(update={"subagent": self.skill.subagent.model_copy(update={"limits": limits})})

    def _sampling(self, asked: EpisodeTask, sample: int) -> Sampling:
        if sample == 0:
            return GREEDY
        digest = hashlib.sha256(f"{self.seed}/{asked.id}/{sample}".encode()).digest()
        return Sampling(self.temperature, int.from_bytes(digest[:4]) >> 1)  # a signed 32-bit number everywhere

    def _entry(self, model: PatientModel, asked: EpisodeTask, sample: int, purpose: Purpose) -> LedgerEntry:
        usage = total(model.usages)
        return LedgerEntry(
            when=datetime.now(UTC),
            teacher=self.name,
            purpose=purpose,
            goal=asked.id,
            sample=sample,
            requests=len(model.usages),
            prompt=usage.prompt,
            cached=usage.reused,
            completion=usage.completion,
        )

    def _watch(self, failure: str) -> None:
        """Raises TeacherError after too many failures in a row that say nothing of the teacher."""
        self._failed = self._failed + 1 if failure else 0
        if self._failed >= self.failures:
            raise TeacherError(
                f"the endpoint failed {self._failed} times in a row, at last so: {failure}; what is done is kept: "
                "run the same command again when it works"
            )


def handed_back(trace: Trace, attempt: Attempt) -> str:
    """Why a run ended without an answer, in words that are the same for like runs; empty where it has one."""
    if trace.report.status == "answered":
        return ""
    if attempt.gave_up:
        return "it gave up"
    unread = sum(message.malformed is not None for message in trace.messages)
    if unread > len(trace.receipts):
        return "it wrote calls that cannot be read"
    return trace.report.reason.general if trace.report.reason else ""


def unfit(trace: Trace) -> str:
    """Why nobody should learn from a trace, however right its answer is; empty where one can."""
    if not all(message.receipt for message in trace.messages if message.role == "tool"):
        return "right, but it holds a call that was not executed"
    if trace.messages[-1].truncated or len(trace.messages[-1].content) > ANSWER_CHARACTERS:
        return f"right, but its answer was cut off or has over {ANSWER_CHARACTERS:,} characters"
    return ""
