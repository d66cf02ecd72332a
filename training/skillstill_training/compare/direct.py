"""No orchestrator: each task goes to the subagent as it stands. What subagents are worth by themselves."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillstill_training.benchmarks.benchmark import Task
from skillstill_training.compare.arms import Staff, spent
from skillstill_training.compare.outcome import ArmName, Outcome, Step, inside_steps
from skillstill_training.field.arms import Asked, ScriptArm
from skillstill_training.util.hashes import hash_parts

KEY = "1"  # to be raised if a task is put otherwise


@dataclass(frozen=True)
class NoOrchestrator:
    """`skills` is the folder of the bundled skills, each with the script that its release is compared with."""

    skills: Path
    staff: Staff
    name: str = "none"
    model: str = ""
    receiver: str = ""
    key: str = hash_parts(KEY)
    arms: Sequence[ArmName] = field(default=("script", "stock", "ours", "router"))

    async def solve(self, task: Task, arm: ArmName, usd: float | None) -> Outcome:
        """Raise SkillstillError."""
        start = time.monotonic()
        subagents = self.staff.subagents(arm)
        if subagents is None:
            return await self._script(task)
        trace = await subagents.ask(task.prompt, Path(task.folder), "" if subagents.routed else task.skill)
        return Outcome(
            answer=(trace.report.context or trace.report.answer) if trace.report.status != "failed" else "",
            seconds=round(time.monotonic() - start, 3),
            error=trace.report.answer if trace.report.status == "failed" else "",
            steps=inside_steps([trace]),
            **spent(arm, [trace]),
        )

    async def _script(self, task: Task) -> Outcome:
        """Return what the skill's script says, an empty answer if it breaks down. Raise StageError and GateError."""
        row = await ScriptArm.load(self.skills / task.skill).solve(
            Asked(id=task.id, prompt=task.prompt), Path(task.folder)
        )
        answer = row.answer.text if row.answer.status != "failed" else ""
        return Outcome(answer=answer, seconds=row.seconds, steps=(Step(kind="said", text=row.answer.text),))
