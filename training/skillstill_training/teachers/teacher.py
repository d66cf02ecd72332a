"""The `Teacher` protocol, the rows that teachers write, the samples made of them, and the teacher without a model."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from skillstill.errors import OracleError, StageError
from skillstill.skills.skill import Skill, load_skill
from skillstill.types import Frozen, Message, ToolSchema, Trace

from skillstill_training.authoring.families import Family, families_by_name
from skillstill_training.authoring.goal import Goal
from skillstill_training.episode import execute, oracle_context, replay
from skillstill_training.run.recipe import OracleConfig
from skillstill_training.teachers.scripting import in_scripts, writes_scripts

Verified = Literal["check", "agreement", "judged", "none"]
RECORDED = "recorded"  # the family of all recorded goals
FIELD = "field"  # the family of all field questions


class CriterionVerdict(Frozen):
    """What a judge says of one criterion of a rubric: whether it holds, and the words of the attempt that show it."""

    asks: str
    holds: bool
    evidence: str = ""


class TraceRow(Frozen):
    """One attempt of a teacher at a goal.

    reason      why the trace is not kept, else empty
    verified    by the goal's own check; by the agreement of two attempts, if it has none; or merely judged by a rubric
    judged      what the judge said of each criterion
    transient   the teacher could not be reached; the goal is solved again when the stage continues
    trace       None if the run did not start
    """

    goal: str
    sample: int = 0
    teacher: str
    kept: bool
    reason: str = ""
    verified: Verified = "none"
    judged: tuple[CriterionVerdict, ...] = ()
    transient: bool = False
    detours: Mapping[str, int] = {}
    trace: Trace | None = None


class Sample(Frozen):
    """One conversation to learn, which the stage `dataset` writes and the stage `sft` reads.

    messages   as the tuned model will see them: one system line, no tool schemas
    tools      the schemas, which name the arguments that refer to lines
    also       other wordings of the question
    """

    goal: str
    family: str
    wording: str
    teacher: str
    verified: Verified
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    also: tuple[str, ...] = ()


class Teacher(Protocol):
    """Solves goals. `solve` returns a row for each sample; a failed attempt is a row with a reason."""

    @property
    def name(self) -> str: ...

    async def solve(self, goal: Goal, root: Path) -> Sequence[TraceRow]: ...


@dataclass(frozen=True)
class ConstructedTeacher:
    """Executes the plan of each family, with detours at the rates of the recipe: mistakes and their corrections.

    If the skill has the tool `script`, the plan is written in scripts, without detours.
    """

    skill: Skill
    families: Mapping[str, Family]
    rates: OracleConfig
    seed: int
    name: str = "constructed"

    @classmethod
    def of(cls, folder: Path, rates: OracleConfig, seed: int, size: str = "") -> "ConstructedTeacher":
        """Return the teacher of a skill folder, for the tools of a size. Raise SkillError and GoalsError."""
        return cls(load_skill(folder).sized(size), families_by_name(folder), rates, seed)

    async def solve(self, goal: Goal, root: Path) -> Sequence[TraceRow]:
        in_calls = not writes_scripts(self.skill)
        context = oracle_context(goal, self.seed, dict(self.rates.detours) if in_calls else {})
        if goal.family not in self.families:
            raise StageError(f"goals.py has no family {goal.family!r} any more: make the goals again")
        try:
            trace, judgement = await execute(goal, self.families[goal.family], self.skill, root, context)
            if not in_calls:
                trace, judgement = await replay(goal, self.skill, in_scripts(trace, self.skill), root)
        except OracleError as error:
            return [TraceRow(goal=goal.id, teacher=self.name, kept=False, reason=str(error))]
        row = TraceRow(
            goal=goal.id,
            teacher=self.name,
            kept=judgement.passed,
            reason=judgement.why,
            verified="check" if judgement.passed else "none",
            detours={kind: count for kind, count in sorted(Counter(context.taken).items()) if count},
            trace=trace,
        )
        return [row]
