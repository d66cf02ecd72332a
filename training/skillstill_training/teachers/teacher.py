"""The protocol between the stage `traces` and whoever solves goals for it, and the teacher that needs no model."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from skillstill.errors import OracleError, StageError
from skillstill.skills.skill import Skill
from skillstill.types import Frozen, Trace

from skillstill_training.authoring.families import Family
from skillstill_training.authoring.goal import Goal
from skillstill_training.episode import execute, oracle_context
from skillstill_training.run.recipe import OracleConfig

Verified = Literal["check", "agreement", "none"]


class TraceRow(Frozen):
    """One goal as one teacher solved it. Not kept: `reason` says why, and the trace is there if there was one.

    `verified`: by the goal's own check, or, where it has none, only by the agreement of two attempts. `transient`: the
    teacher could not be reached, so that this says nothing of it; the goal is solved again when the stage goes on.
    """

    goal: str
    sample: int = 0
    teacher: str
    kept: bool
    reason: str = ""
    verified: Verified = "none"
    transient: bool = False
    detours: Mapping[str, int] = {}
    trace: Trace | None = None


class Teacher(Protocol):
    """Solves one goal, as often as it has samples of it; a failure is a row with a reason."""

    @property
    def name(self) -> str: ...

    async def solve(self, goal: Goal, root: Path) -> Sequence[TraceRow]: ...


@dataclass(frozen=True)
class ConstructedTeacher:
    """Executes each family's plan, with detours at the recipe's rates: misses, wrong turns, and their mending."""

    skill: Skill
    families: Mapping[str, Family]
    rates: OracleConfig
    seed: int
    name: str = "constructed"

    async def solve(self, goal: Goal, root: Path) -> Sequence[TraceRow]:
        context = oracle_context(goal, self.seed, dict(self.rates.detours))
        if goal.family not in self.families:
            raise StageError(f"goals.py has no family {goal.family!r} any more: make the goals again")
        try:
            trace, judgement = await execute(goal, self.families[goal.family], self.skill, root, context)
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
