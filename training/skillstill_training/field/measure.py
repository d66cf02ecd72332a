"""Measure arms on field questions: choose the questions, ask each arm, judge and score what it says.

Rows are kept by what they depend on, so that the same measurement goes on where it was interrupted.
"""

import os
import platform
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from anyio import to_thread
from skillstill.contract import serving_hash
from skillstill.errors import StageError
from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.skills.calibration import Calibration
from skillstill.skills.familiarity import Familiarity
from skillstill.skills.skill import Skill, load_skill
from skillstill.types import DialectName, ModelFile, Models, ModelSpec

from skillstill_training.authoring.goal import FieldSplit
from skillstill_training.evaluation.arms import file_stem
from skillstill_training.executors.executor import IN_PROCESS, Distributed, Executor, Work, check_same_code
from skillstill_training.executors.parcels import Packer, Parcel, SentModel, found_models, send_models
from skillstill_training.field.arms import (
    Asked,
    DirectArm,
    FieldArm,
    FieldRow,
    LoopArm,
    PlanArm,
    RetrievalArm,
    ScriptArm,
)
from skillstill_training.field.forms import form_of, reader_of
from skillstill_training.field.looks import log_field_look
from skillstill_training.field.plans import load_plans
from skillstill_training.field.question import FOLDER, TESTS, FieldQuestion, load_questions
from skillstill_training.field.runs import OnField, ask_all
from skillstill_training.field.score import Judged, judge_rows, measure_gain, score_field
from skillstill_training.run.base import read_base
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import FieldArmName, FieldResult, Scorecard
from skillstill_training.util.hashes import drawn, file_sha256
from skillstill_training.util.turns import interleave
from skillstill_training.workspaces import workspace_roots

SLOW: Collection[FieldArmName] = ("stock", "larger", "largest", "stock-direct", "larger-direct", "largest-direct")
PAIRED = 60  # questions that slow arms are asked
NEEDED: Mapping[FieldArmName, tuple[str, ...]] = {  # model files, by the fields of Subject and FieldOptions
    "ours": ("base", "adapter"),
    "stock": ("base",),
    "stock-direct": ("base",),
    "larger": ("larger",),
    "larger-direct": ("larger",),
    "largest": ("largest",),
    "largest-direct": ("largest",),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What is tested: an adapter on its base, with the confidence that it is served with, if there is one yet.

    `familiarity` knows the questions that it is asked; None: any. `size` is empty for the default release.
    """

    base: ModelFile
    adapter: ModelFile | None = None
    calibration: Calibration | None = None
    familiarity: Familiarity | None = None
    size: str = ""

    @classmethod
    def served(
        cls, base: ModelFile, adapter: ModelFile | None, calibration: Calibration | None, size: str = ""
    ) -> "Subject":
        """Return it as it is served."""
        return cls(base, adapter, calibration, calibration.familiarity if calibration else None, size)

    def to_calibrate(self, familiarity: Familiarity | None) -> "Subject":
        """Return it without a confidence: a new one is fitted to what the model says itself."""
        return replace(self, calibration=None, familiarity=familiarity)

    def arm(self, skill: Skill, models: Models) -> LoopArm:
        """Return it in the loop that ships; without an adapter it is told the skill's text."""
        dialect = DialectName.LINES if self.adapter else DialectName.HERMES
        context = skill.subagent.limits.context
        spec = ModelSpec(base=self.base, adapter=self.adapter, dialect=dialect, context=context)
        return LoopArm("ours", "ours", skill, models, spec, self.calibration, self.familiarity)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldOptions:
    """What is asked of whom.

    arms        default: ours, the script, the retrieval
    larger      the file of a several times larger stock model; `largest` of a still larger one
    paired      questions that the slow arms are asked
    unchecked   also ask questions whose gold nobody has checked
    reason      why the test questions are looked at; each look is logged with it
    """

    split: FieldSplit = "validation"
    arms: Collection[FieldArmName] = ("ours", "baseline", "retrieval")
    larger: ModelFile | None = None
    largest: ModelFile | None = None
    paired: int = PAIRED
    unchecked: bool = False
    reason: str = ""
    offline: bool = False
    threads: int | None = None
    executor: Executor = IN_PROCESS


@dataclass(frozen=True, slots=True)
class FieldSet:
    """Questions with the folders that they are about. `known` are all questions by id, also those not asked."""

    asked: Sequence[FieldQuestion]
    known: Mapping[str, FieldQuestion]
    roots: Mapping[str, Path]

    def subset(self, count: int) -> Sequence[FieldQuestion]:
        """Return so many of the questions, from all workspaces in turn, drawn by their ids: the same for each arm."""
        ordered = sorted(self.asked, key=lambda one: drawn(one.id))
        return interleave(ordered, lambda one: one.workspace, count)


def subject_of_run(run: RunFolder) -> Subject:
    """Return the exported adapter of a run, with its confidence if it was evaluated. Raise StageError."""
    if not run.exported.is_file():
        raise StageError(f"{run.exported} is missing: type `skillstill export` first")
    adapter = ModelFile(source=f"file:{run.exported.absolute()}", sha256=file_sha256(run.exported))
    calibration = None
    if run.scorecard.is_file():
        scorecard = Scorecard.model_validate_json(run.scorecard.read_text(encoding="utf-8"))
        calibration = scorecard.calibration if scorecard.adapter.sha256 == adapter.sha256 else None
    if base := read_base(run):
        return Subject.served(base, adapter, calibration, run.recipe().size)
    raise StageError(f"{run.path} does not say what it was trained on: train it again")


async def load_field_set(skill_folder: Path, options: FieldOptions) -> FieldSet:
    """Return the questions of the split, their workspaces built. Raise StageError."""
    questions = load_questions(skill_folder, options.split)
    asked = [question for question in questions if options.unchecked or question.checked != "no"]
    if not asked:
        raise StageError(f"no {options.split} question has been checked: try --unchecked for a first look")
    names = {question.workspace for question in asked}
    roots = await to_thread.run_sync(workspace_roots, skill_folder / FOLDER, names, options.offline)
    if lost := names - roots.keys():
        raise StageError(f"{skill_folder / FOLDER / 'sources.toml'} has no workspace {min(lost)}")
    return FieldSet(asked, {question.id: question for question in questions}, roots)


@dataclass(frozen=True, slots=True)
class FieldTest:
    """The scores, and each answer behind them."""

    result: FieldResult
    judged: Mapping[FieldArmName, Sequence[Judged]]


async def measure_in_field(
    skill_folder: Path,
    subject: Subject,
    questions: FieldSet,
    results: Path,
    options: FieldOptions,
    *,
    models: Models | None = None,
    on_progress: OnField = lambda progress: None,
) -> FieldTest:
    """Ask each arm and judge its answers. Rows go into the folder `results`.

    Raise StageError, BaseError and ModelError; UsageError for a look at test questions without a reason.
    """
    skill = load_skill(skill_folder).sized(subject.size)
    models = models or LocalModels(LocalOptions(offline=options.offline, threads=options.threads))
    arms = list(field_arms(skill_folder, skill, subject, models, options))
    if options.split in TESTS:
        adapter = subject.adapter.sha256 if subject.adapter else ""
        log_field_look(skill_folder, options.split, [arm.name for arm in arms], adapter, options.reason)
    judged: dict[FieldArmName, Sequence[Judged]] = {}
    for arm in arms:
        asked = _asked(arm, questions, options)
        rows = await ask_all(
            _distributed(arm, skill_folder, subject, options),
            asked,
            questions.known,
            questions.roots,
            results / f"{options.split}.{arm.name}.{arm.key}.jsonl",
            on_progress,
            options.executor.at_once(1),
        )
        judged[arm.name] = judge_rows(asked, rows)
    gains = (measure_gain(other, judged.get("ours", ()), judged[other]) for other in judged if other != "ours")
    result = FieldResult(
        skill=skill.name,
        split=options.split,
        base=subject.base,
        adapter=subject.adapter,
        contract=serving_hash(skill, subject.base, subject.adapter),
        machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors{options.executor.label}",
        scores=tuple(score_field(arm.name, arm.label, judged[arm.name]) for arm in arms),
        gains=tuple(gain for gain in gains if gain),
    )
    return FieldTest(result, judged)


def _distributed(arm: FieldArm, skill_folder: Path, subject: Subject, options: FieldOptions) -> FieldArm:
    work = options.executor.distribute(arm.solve, lambda pack: FieldJob.of(arm, skill_folder, subject, options, pack))
    return Distributed(arm.name, work, arm.label, arm.key)


def _asked(arm: FieldArm, questions: FieldSet, options: FieldOptions) -> Sequence[FieldQuestion]:
    if isinstance(arm, PlanArm):
        return [question for question in questions.asked if question.id in arm.plans]
    return questions.subset(options.paired) if arm.name in SLOW else questions.asked


def field_arms(
    skill_folder: Path, skill: Skill, subject: Subject, models: Models, options: FieldOptions
) -> Iterator[FieldArm]:
    """Yield the arms that are wanted and can be had, ours first."""
    context = skill.subagent.limits.context
    wanted = set(options.arms)
    if "ours" in wanted:
        yield subject.arm(skill, models)
    if "baseline" in wanted and (skill_folder / "baseline.py").is_file():
        yield ScriptArm.load(skill_folder)
    if "retrieval" in wanted:
        yield RetrievalArm(reader_of(skill))
    files: dict[FieldArmName, ModelFile | None] = {
        "stock": subject.base,
        "larger": options.larger,
        "largest": options.largest,
    }
    for name, file in files.items():
        if name in wanted and file:
            spec = ModelSpec(base=file, context=context)
            yield LoopArm(name, f"{file_stem(file)} in the loop, told the skill", skill, models, spec)
    direct: dict[FieldArmName, ModelFile | None] = {
        "stock-direct": subject.base, "larger-direct": options.larger, "largest-direct": options.largest,
    }  # fmt: skip
    for name, file in direct.items():
        if name in wanted and file:
            yield DirectArm(name, file, form_of(skill), options.threads)
    if "plan" in wanted and (plans := load_plans(skill_folder, options.split)):
        yield PlanArm(skill, plans)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldJob:
    """The work of an arm as it travels: what it is built from. `key` is that of the arm that was sent."""

    name: FieldArmName
    key: str
    skill: Parcel
    models: Mapping[str, SentModel]  # by the fields of Subject and FieldOptions
    calibration: Calibration | None
    familiarity: Familiarity | None
    size: str
    offline: bool

    @classmethod
    def of(cls, arm: FieldArm, skill_folder: Path, subject: Subject, options: FieldOptions, pack: Packer) -> "FieldJob":
        files = {"base": subject.base, "adapter": subject.adapter, "larger": options.larger, "largest": options.largest}
        needed = NEEDED.get(arm.name, ())
        return cls(
            name=arm.name,
            key=arm.key,
            skill=pack(skill_folder),
            models=send_models(files, needed, pack),
            calibration=subject.calibration,
            familiarity=subject.familiarity,
            size=subject.size,
            offline=options.offline,
        )

    def start(self) -> Work[Asked, FieldRow]:
        skill = load_skill(folder := self.skill.place()).sized(self.size)
        files = found_models(self.models)
        base, adapter = files.get("base", skill.subagent.base), files.get("adapter")
        subject = Subject(base, adapter, self.calibration, self.familiarity, self.size)
        larger, largest, threads = files.get("larger"), files.get("largest"), 1  # a worker is one processor
        options = FieldOptions(arms=(self.name,), larger=larger, largest=largest, threads=threads)
        models = LocalModels(LocalOptions(offline=self.offline, threads=threads))
        arm = next(field_arms(folder, skill, subject, models, options))
        check_same_code(self.key, arm.key)
        return arm.solve
