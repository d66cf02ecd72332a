"""Any model as an orchestrator: our own loop with few tools, as MassGen has them: list, read, search, delegate."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from skillstill.models.remote import GREEDY
from skillstill.run import loop
from skillstill.skills.skill import Limits, Skill, Subagent
from skillstill.tools import TOOLS, Tool
from skillstill.types import DialectName, Model, ModelFile, Models, ModelSpec, Trace, Usage
from skillstill.workspace import Workspace

from skillstill_training.benchmarks.benchmark import Task
from skillstill_training.compare.arms import ARMS, Staff, spent
from skillstill_training.compare.outcome import (
    HAND_OVER,
    INSTRUCTIONS,
    ArmName,
    Outcome,
    inside_steps,
    trace_steps,
)
from skillstill_training.teachers.large_models import LargeModel
from skillstill_training.util.hashes import hash_parts

PRIMITIVES = ("list", "read", "search")
BESIDE: Mapping[str, tuple[str, ...]] = {"tables": ("describe", "sql")}  # no other tool reads a database
LIMITS = Limits(steps=20, turn_tokens=1_000, tokens=200_000, seconds=900, context=16_384)
SECONDS = 300.0  # of a turn
NO_BASE = ModelFile(source="file:/", sha256="0" * 64)  # a skill names one; the orchestrator brings its own model
KEY = "1"  # to be raised if a task is put otherwise


@dataclass(frozen=True)
class LargeModels:
    """A large model as the source of models of any specification."""

    model: LargeModel

    @asynccontextmanager
    async def lease(self, spec: ModelSpec) -> AsyncIterator[Model]:
        async with self.model.open(GREEDY, seconds=SECONDS) as opened:
            yield opened

    def label(self, spec: ModelSpec) -> str:
        return self.model.label


@dataclass(frozen=True)
class FileModels:
    """One GGUF file as the source of models, whatever base is asked for: subagents of the orchestrator's own model."""

    models: Models
    spec: ModelSpec

    @asynccontextmanager
    async def lease(self, spec: ModelSpec) -> AsyncIterator[Model]:
        """Lease it with the orchestrator's own context: another one would be a second copy in memory."""
        async with self.models.lease(self.spec) as model:
            yield model

    def label(self, spec: ModelSpec) -> str:
        return self.models.label(self.spec)


@dataclass(frozen=True)
class OwnLoop:
    """A model in our loop. Its answer counts as it stands: what the loop holds a subagent's answers to is not asked."""

    name: str
    model: str
    models: Models
    staff: Staff
    receiver: str = ""
    limits: Limits = LIMITS
    arms: Sequence[ArmName] = field(default=tuple(arm for arm in ARMS if arm != "script"))

    @classmethod
    def of_large(cls, model: LargeModel, name: str, staff: Staff) -> "OwnLoop":
        return cls(model.name, name, LargeModels(model), staff, model.receiver)

    @classmethod
    def of_file(cls, file: ModelFile, staff: Staff, context: int) -> "OwnLoop":
        spec = ModelSpec(base=file, dialect=DialectName.HERMES, context=context)
        name = Path(file.source.partition(":")[2]).stem
        limits = LIMITS.model_copy(update={"context": context, "turn_tokens": min(LIMITS.turn_tokens, context // 8)})
        return cls(name, name, FileModels(staff.models, spec), staff, limits=limits)

    @property
    def key(self) -> str:
        return hash_parts(KEY, self.model, self.limits.model_dump_json(), INSTRUCTIONS + HAND_OVER)

    async def solve(self, task: Task, arm: ArmName, usd: float | None) -> Outcome:
        start, inside = time.monotonic(), list[Trace]()
        subagents = self.staff.subagents(arm, self.models)
        tools = [*own_tools(task.skill), *(subagents.tools(inside) if subagents else ())]
        trace = await self._run(task, tools, has_subagents=subagents is not None)
        last = trace.messages[-1]
        has_failed = trace.report.status == "failed"
        return Outcome(
            answer=last.content.strip() if last.role == "assistant" and not has_failed else "",
            usage=Usage(
                prompt=trace.tally.prompt_tokens,
                reused=trace.tally.reused_tokens,
                completion=trace.tally.completion_tokens,
            ),
            seconds=round(time.monotonic() - start, 3),
            error=trace.report.answer if has_failed else "",
            steps=(*trace_steps(trace), *inside_steps(inside)),
            **spent(arm, inside),
        )

    async def _run(self, task: Task, tools: Sequence[Tool], *, has_subagents: bool) -> Trace:
        skill, system = orchestrating(self.limits), INSTRUCTIONS + HAND_OVER * has_subagents
        brief = loop.Brief(skill, task.prompt, system, model=self.model, dialect=DialectName.HERMES)
        spec = ModelSpec(base=NO_BASE, context=self.limits.context)
        return await loop.run(brief, self.models.lease(spec), Workspace(Path(task.folder)), tools=tools)


def own_tools(skill: str) -> Sequence[Tool]:
    """Return an orchestrator's own tools for a task that a skill is for."""
    return [TOOLS[name] for name in (*PRIMITIVES, *BESIDE.get(skill, ()))]


def orchestrating(limits: Limits) -> Skill:
    """Return what the loop has to know of an orchestrator's work."""
    subagent = Subagent(system="orchestrate", tools=PRIMITIVES, base=NO_BASE, limits=limits)
    return Skill(name="orchestrate", description="orchestrate", instructions=INSTRUCTIONS, subagent=subagent)
