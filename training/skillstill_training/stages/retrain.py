"""`skillstill retrain NAME`: feedback becomes lessons and a gate, and the present release goes on from its adapter.

A bundled skill is copied first, into the user's own folder: the package belongs to all users. A skill of the user's own
keeps its folder, where the questions are added to its field questions, in files that are rewritten each time.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import anyio
from skillstill.errors import StageError
from skillstill.models.sources import locate
from skillstill.run import store
from skillstill.run.feedback import all_feedback
from skillstill.skills.registry import DIGITS, ListedEntry, RegistryEntry, is_bundled, read_registry, user_registry
from skillstill.skills.releases import amend
from skillstill.util.storage import data_folder

from skillstill_training.field.feedback import OWN, OwnQuestions, own_questions
from skillstill_training.field.measure import FieldOptions, FieldSet, Subject, load_field_set, measure_in_field
from skillstill_training.field.plans import Plan, plans_file
from skillstill_training.field.question import FOLDER, FieldQuestion, questions_file
from skillstill_training.field.score import Judged, measure_gain
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import TrainConfig, load_recipe
from skillstill_training.run.scorecard import FieldArmName, Gate, Scorecard
from skillstill_training.stages.pipeline import (
    PipelineResult,
    Screen,
    TrainingOrder,
    limit_minutes,
    resume_run,
    train_skill,
)
from skillstill_training.util.hashes import hash_parts
from skillstill_training.util.jsonl import read_lines, write_lines, write_text
from skillstill_training.workspaces import Source
from skillstill_training.workspaces.sources import FILE

Line = TypeVar("Line", FieldQuestion, Plan)
LEAST = 3  # lessons, and questions at the gate: below that, neither says anything
ALSO = 60  # of the skill's own validation questions that both releases are asked
OURS: tuple[FieldArmName, ...] = ("ours",)
COPIES = "retrained"  # in the data folder: copies of bundled skills, by the release that they go on from
MARK = "# What feedback is about; `skillstill retrain` writes the rest of this file anew.\n"


@dataclass(frozen=True, slots=True)
class RetrainingPlan:
    """What a retraining starts from: the present release, the folder and registry of the next one, the questions."""

    listed: ListedEntry
    folder: Path
    registry: Path
    own: OwnQuestions
    train: TrainConfig

    @property
    def start(self) -> Path:
        """Return the adapter that training goes on from. Raise BaseError if it is missing or altered."""
        assert self.listed.entry.adapter
        return locate(self.listed.entry.adapter)

    @property
    def seed(self) -> int:
        """Return the seed of its goals: another retraining is measured on other ones, so each test set is fresh."""
        ids = [question.id for question in (*self.own.asked, *(question for question, _ in self.own.lessons))]
        assert self.listed.entry.adapter
        return int(hash_parts(self.listed.entry.adapter.sha256, *sorted(ids))[:6], 16)

    def why_not(self) -> str:
        """Return why there is too little to learn from, or to judge by; empty if there is enough."""
        counts = {"lessons": len(self.own.lessons), "questions for the gate": len(self.own.asked)}
        few = [f"{count} {what}" for what, count in counts.items() if count < LEAST]
        return f"feedback makes {' and '.join(few)} so far; at least {LEAST} of each are needed" if few else ""


def plan_retraining(listed: ListedEntry, minutes: int | None = None) -> RetrainingPlan:
    """Return what feedback on a release becomes. Nothing is written. Raise StageError and WorkspaceSourceError."""
    entry = listed.entry
    if entry.state != "released" or entry.adapter is None:
        raise StageError(f"{entry.name} has no release to go on from: type `skillstill train {entry.name}`")
    own = anyio.run(own_questions, listed.skill(), all_feedback(entry.name), list(store.readable()))
    bundled = is_bundled(listed.origin)
    place = data_folder() / COPIES / entry.adapter.sha256[:DIGITS] / entry.name
    train = limit_minutes(load_recipe(listed.skill_folder).train.going_on(""), minutes)
    return RetrainingPlan(
        listed=listed,
        folder=place if bundled else listed.skill_folder,
        registry=user_registry() if bundled else listed.origin,
        own=own,
        train=train,
    )


def retrain(plan: RetrainingPlan, run: RunFolder, order: TrainingOrder, screen: Screen) -> PipelineResult:
    """Train, measure and publish the next release, if every gate holds. Raise as `train_skill` does."""
    entry = plan.listed.entry
    base = None if plan.listed.skill().subagent.base.sha256 == entry.base.sha256 else locate(entry.base)

    def gates(run: RunFolder, scorecard: Scorecard) -> Sequence[Gate]:
        return anyio.run(compare_releases, plan, run, scorecard, order.offline)

    going_on = replace(order, base=base, start=str(plan.start), gates=gates, size=entry.size)
    ending = train_skill(plan.folder, run, going_on, screen)
    if ending.verdict == "released":
        _keep_texts(plan.registry, entry)
    return ending


def resume_retraining(runs: Path, plan: RetrainingPlan) -> RunFolder:
    """Return the run of this retraining, if it was begun, else a new one. Call it after `place_questions`."""
    recipe = load_recipe(plan.folder).changed(seed=plan.seed)
    run = resume_run(runs, plan.folder, recipe)
    run.save_recipe(recipe)
    return run


def place_questions(plan: RetrainingPlan) -> None:
    """Write the questions into the skill's folder, in place of those of earlier feedback. Raise StageError."""
    try:
        if not plan.folder.exists():
            shutil.copytree(plan.listed.skill_folder, plan.folder, ignore=shutil.ignore_patterns("__pycache__"))
    except OSError as error:
        raise StageError(f"{plan.folder} cannot be written: {error.strerror}") from error
    own, lessons = plan.own, [question for question, _ in plan.own.lessons]
    _rewrite(questions_file(plan.folder, "train"), FieldQuestion, lessons, lambda one: one.id)
    _rewrite(plans_file(plan.folder, "train"), Plan, [way for _, way in own.lessons], lambda one: one.question)
    _rewrite(questions_file(plan.folder, "validation"), FieldQuestion, own.asked, lambda one: one.id)
    file = plan.folder / FOLDER / FILE
    before = file.read_text(encoding="utf-8").partition(MARK)[0] if file.is_file() else ""
    write_text(file, before + MARK + "".join(map(_declared, own.sources)))


async def compare_releases(plan: RetrainingPlan, run: RunFolder, scorecard: Scorecard, offline: bool) -> Sequence[Gate]:
    """Return the gates of a retraining: the present release is asked the same validation questions.

    The user's own come first; of the skill's, so many that a release which forgot something is seen.
    """
    options = FieldOptions(arms=OURS, offline=offline)
    found = await load_field_set(plan.folder, options)
    own = [question for question in found.asked if question.workspace.startswith(OWN)]
    others = replace(found, asked=[question for question in found.asked if question not in own]).subset(ALSO)
    entry = plan.listed.entry
    subjects = {
        "present": Subject.served(entry.base, entry.adapter, entry.calibration),
        "next": Subject.served(scorecard.base, scorecard.adapter, scorecard.calibration),
    }
    asked = replace(found, asked=[*own, *others])
    judged = {name: await _judged(plan.folder, subject, asked, run, options) for name, subject in subjects.items()}
    names = {question.id for question in own}
    return [_own_gate(judged, names), _other_gate(judged, names)]


async def _judged(
    folder: Path, subject: Subject, asked: FieldSet, run: RunFolder, options: FieldOptions
) -> Sequence[Judged]:
    return (await measure_in_field(folder, subject, asked, run.field, options)).judged["ours"]


def _own_gate(judged: Mapping[str, Sequence[Judged]], own: set[str]) -> Gate:
    """Return the gate that fails if fewer of the user's own questions are right, or more wrong without a warning."""
    mine = {name: [one.judgement for one in rows if one.question.id in own] for name, rows in judged.items()}
    good = {name: sum(one.is_good for one in rows) for name, rows in mine.items()}
    silent = {name: sum(one.is_silently_wrong for one in rows) for name, rows in mine.items()}
    told = (
        f"of {len(own)} questions of feedback {good['next']} right, {silent['next']} wrong without a warning; the "
        f"present release {good['present']} and {silent['present']}; expected no fewer and no more"
    )
    holds = good["next"] >= good["present"] and silent["next"] <= silent["present"]
    return Gate(name="feedback", passed=holds, told=told)


def _other_gate(judged: Mapping[str, Sequence[Judged]], own: set[str]) -> Gate:
    """Return the gate that fails if it is surely worse than the present release on the skill's own questions."""
    rows = {name: [one for one in found if one.question.id not in own] for name, found in judged.items()}
    gain = measure_gain("ours", rows["next"], rows["present"])
    if gain is None:
        return Gate(name="present", passed=True, told="the skill has no field questions of its own", measured=False)
    low, high = 100 * gain.points.low, 100 * gain.points.high
    told = f"{100 * gain.points.value:+.1f} points ({low:+.1f} to {high:+.1f}, {gain.questions} validation questions)"
    return Gate(
        name="present",
        passed=gain.points.high >= 0,
        told=f"{told} against the present release; expected an upper bound of 0 or above",
    )


def _rewrite(file: Path, kind: type[Line], own: Sequence[Line], name: Callable[[Line], str]) -> None:
    """Replace the lines of feedback in a file of questions or plans. One that says so already is not touched."""
    lines: Sequence[Line] = read_lines(file, kind) if file.is_file() else []
    wanted = [*(line for line in lines if not name(line).startswith(OWN)), *own]
    if wanted != list(lines):  # what is newer than a stage's artifact makes the stage run again
        write_lines(file, wanted)


def _declared(source: Source) -> str:
    fields = source.model_dump(include={"name", "split", "source", "sha256"})
    return "\n[[workspace]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items())


def _keep_texts(registry: Path, present: RegistryEntry) -> None:
    """Let the next release say of itself what the present one does: its title, its description."""
    entry = next(one for one in read_registry(registry).entries if one.label == present.label)
    texts = {name: getattr(present, name) for name in ("title", "description", "search_hint")}
    amend(registry, entry.model_copy(update=texts))
