"""The whole way, `skillstill train SKILL`: from a skill folder to a release, or to the reason why there is none.

What the stages leave in the run folder is all the state there is. A stage whose artifact is younger than what it was
made from is left out, so the same command goes on where a kill or a budget ended it; a training counts if its plan
and its base are those that are asked for, an evaluation keeps its rows by what they depend on, and publishing twice is
publishing once. What would be missing at the end is said at the beginning.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import anyio
from skillstill.errors import StageError, UsageError
from skillstill.models.sources import locate, model_file
from skillstill.skills.skill import load_skill
from skillstill.types import ModelFile

from skillstill_training.authoring.families import is_askable
from skillstill_training.authoring.rubric import is_judged
from skillstill_training.evaluation.comparisons import Comparisons, check_arms, resolve_comparisons
from skillstill_training.evaluation.looks import check_fresh_test_set
from skillstill_training.executors.executor import IN_PROCESS, Executor
from skillstill_training.export.shipped import proof_file, proof_of
from skillstill_training.field.demonstrations import lesson_sources
from skillstill_training.learning.started import TrainingStart, is_complete, trained_file
from skillstill_training.report import write_report
from skillstill_training.run.base import write_base
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.judged import JudgedFigures
from skillstill_training.run.recipe import Recipe, TrainConfig, load_recipe
from skillstill_training.run.scorecard import Gate, Scorecard, Verdict
from skillstill_training.stages.dataset import make_dataset
from skillstill_training.stages.evaluate import EvaluationOptions, check_validation, evaluate
from skillstill_training.stages.goals import GoalsListener, make_goals
from skillstill_training.stages.judge import NEEDS_TEACHER
from skillstill_training.stages.publish import publish
from skillstill_training.teachers.batch import TeachingProgress as TraceProgress

TOKENS_A_MINUTE = 5_800  # that one core of 2020 trains on SmolLM2-135M; a budget in tokens is the same everywhere
JUDGED = "a rubric alone judges what it learned from and what it answers: nothing is verified; the adapter is {adapter}"
Tell = Callable[[int, int, str], None]  # how many are done, of how many, what else there is to say
Teach = Callable[[RunFolder, Callable[[TraceProgress], None]], TraceProgress]  # who solves the training goals
Judge = Callable[[RunFolder, ModelFile, Tell], JudgedFigures]  # who judges what an adapter of this base answers


class Screen(Protocol):
    """Who is told how far the way is."""

    def stage(self, name: str) -> AbstractContextManager[Tell]: ...

    def kept(self, name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class TrainingOrder:
    """What a person asked for. `base` takes the place of the skill's own; `larger` and `wrong` are compared with.

    judge  of a skill with a rubric
    size   of a further release beside the default one
    start  the adapter file of a release that training goes on from
    gates  further gates of what was measured, beside those of every release
    """

    teach: Teach
    registry: Path
    judge: Judge | None = None
    base: Path | None = None
    larger: Path | None = None
    wrong: Path | None = None
    minutes: int | None = None
    offline: bool = False
    executor: Executor = IN_PROCESS
    processes: int = 1
    size: str | None = None
    start: str = ""
    gates: Callable[[RunFolder, Scorecard], Sequence[Gate]] = lambda run, scorecard: ()


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """The verdict, and the page that tells why; without goals there is no page, and `why` says it all.

    judged   of a skill with a rubric, in place of the scorecard
    """

    verdict: Verdict
    scorecard: Scorecard | None = None
    report: Path | None = None
    why: str = ""
    judged: JudgedFigures | None = None


def train_skill(skill_folder: Path, run: RunFolder, order: TrainingOrder, screen: Screen) -> PipelineResult:
    """Make whatever is missing, from goals to verdict. Raise StageError, BaseError and ModelError."""
    if not is_askable(skill_folder):
        why = f"{skill_folder} has neither goals.py nor kinds.toml: nothing could check an answer"
        return PipelineResult("not verifiable", why=why)
    size = order.size or ""
    recipe, name = run.follow(load_recipe(skill_folder).sized(size)), skill_folder.absolute().name
    base = model_file(order.base) if order.base else load_skill(skill_folder).sized(size).subagent.base
    comparisons = resolve_comparisons(order.larger, order.wrong, order.registry, name, base)
    if not (judge := _needed_judge(skill_folder, order.judge)):  # else nobody is compared with: nothing is verified
        check_arms(skill_folder, recipe.evaluate.arms, comparisons)
    plan = limit_minutes(recipe.train.going_on(order.start) if order.start else recipe.train, order.minutes)
    check_shares(plan.batch, order.processes)
    weights = locate(base, offline=order.offline)
    stage = partial(_stage, screen)
    stage("goals", _ensure_goals(run).exists(), lambda tell: _make_goals(skill_folder, run, recipe, order, tell))
    if not judge:
        check_validation(run.frozen_goals(), recipe.evaluate)
    stage(
        "traces",
        _fresh(run.traces, run.goals) and _has_demonstrated(skill_folder, run),
        lambda tell: order.teach(run, partial(_solved, tell)),
    )
    stage("dataset", _fresh(run.dataset, run.traces, run.demonstrations), lambda _: make_dataset(skill_folder, run))
    write_base(run, base)
    if not (learned := _learned(run, base, plan)):
        check_fresh_test_set(run)
    stage(
        "training",
        learned,
        lambda tell: _train(skill_folder, run, weights, plan, order, tell),
    )
    stage("export", _proven(run, base), lambda _: _ship(skill_folder, run, weights))
    proof = proof_of(run)
    if not proof.gate.passed:  # measuring it would take an hour and change nothing
        return PipelineResult("parity failed", why=proof.gate.told)
    if judge:
        with screen.stage("judge") as tell:
            figures = judge(run, base, tell)
        return PipelineResult(
            "not verifiable", judged=figures, report=run.page, why=JUDGED.format(adapter=run.exported)
        )
    with screen.stage("evaluate") as tell:
        measured = measure(skill_folder, run, base, comparisons, tell, offline=order.offline, executor=order.executor)
    others = order.gates(run, measured)
    scorecard = publish(skill_folder, run, order.registry, proof, order.size, others)
    assert scorecard.verdict
    return PipelineResult(scorecard.verdict, scorecard, write_report(run))


def resume_run(runs: Path, skill_folder: Path, recipe: Recipe | None = None) -> RunFolder:
    """Return the newest run of this skill, if its goals still hold and the recipe makes the same ones.

    Else a new one. The recipe is that of today, if none is given.
    """
    name = skill_folder.absolute().name
    try:
        latest = RunFolder.latest(runs, name)
        latest.frozen_goals()
        same = latest.recipe().makes_what(recipe or load_recipe(skill_folder))
    except StageError:  # none yet, or one that nothing can go on from
        same = False
    return latest if same else RunFolder.new(runs, name)


def measure(
    skill_folder: Path,
    run: RunFolder,
    base: ModelFile,
    comparisons: Comparisons,
    tell: Tell,
    *,
    offline: bool = False,
    executor: Executor = IN_PROCESS,
) -> Scorecard:
    """Return what the exported adapter is worth against its rivals. Raise StageError if there is none yet."""
    work = partial(
        evaluate,
        skill_folder,
        run,
        exported_adapter(run, skill_folder.name),
        EvaluationOptions(base=base, comparisons=comparisons, offline=offline, executor=executor),
        on_progress=lambda one: tell(one.done, one.goals, f"{one.arm} on {one.split}: {one.solved} solved"),
    )
    return anyio.run(work)


def exported_adapter(run: RunFolder, skill: str) -> ModelFile:
    """Return the file that ships. Raise StageError if there is none yet."""
    if not run.exported.exists():
        raise StageError(f"{run.exported} is missing: type `skillstill export {skill}` first")
    return model_file(run.exported)


def limit_minutes(plan: TrainConfig, minutes: int | None) -> TrainConfig:
    """Return the plan with no more tokens than so many minutes take."""
    if minutes is None:
        return plan
    return plan.model_copy(update={"tokens": min(plan.tokens, minutes * TOKENS_A_MINUTE)})


def _needed_judge(skill_folder: Path, judge: Judge | None) -> Judge | None:
    """Return the judge of a skill with a rubric; None if programs check it. Raise UsageError if there is none."""
    if not is_judged(skill_folder):
        return None
    if judge is None:
        raise UsageError(f"{skill_folder.absolute().name}: {NEEDS_TEACHER}")
    return judge


def check_shares(batch: int, processes: int) -> None:
    """Raise UsageError if so many processes cannot share a step of so many conversations equally."""
    if batch % processes:
        fit = ", ".join(str(number) for number in range(1, batch + 1) if batch % number == 0)
        raise UsageError(f"--processes: a step of {batch} conversations is shared by {fit}, not by {processes}")


def _stage(screen: Screen, name: str, there: bool, work: Callable[[Tell], object]) -> None:
    if there:
        screen.kept(name)
        return
    with screen.stage(name) as tell:
        work(tell)


def _has_demonstrated(skill_folder: Path, run: RunFolder) -> bool:
    """Return whether the lessons from field questions are newer than what they are made of, or there are none."""
    made_of = lesson_sources(skill_folder)
    return not made_of or _fresh(run.demonstrations, *made_of)


def _fresh(made: Path, *sources: Path) -> bool:
    """Return whether it was made after its sources; one that is missing is none."""
    times = [source.stat().st_mtime_ns for source in sources if source.exists()]
    return made.exists() and made.stat().st_mtime_ns >= max(times, default=0)


def _learned(run: RunFolder, base: ModelFile, plan: TrainConfig) -> bool:
    """Return whether what was trained is of this dataset, this base and this plan, and of no less."""
    fresh = _fresh(trained_file(run.adapter), run.dataset)
    return fresh and is_complete(TrainingStart.of(run, base.sha256, plan).left(run.adapter), plan)


def _proven(run: RunFolder, base: ModelFile) -> bool:
    """Return whether that was exported, and compared with torch on this base."""
    fresh = _fresh(proof_file(run), trained_file(run.adapter))
    return fresh and proof_of(run).base in {"", base.sha256}


def _ensure_goals(run: RunFolder) -> Path:
    return run.path / "frozen.json"


def _make_goals(skill_folder: Path, run: RunFolder, recipe: Recipe, order: TrainingOrder, tell: Tell) -> None:
    listener = GoalsListener(
        lambda source: tell(0, 0, f"workspace {source.name}"),
        lambda tally: tell(tally.made, tally.wanted, f"{tally.split} {tally.family}"),
    )
    anyio.run(
        partial(
            make_goals,
            skill_folder,
            run,
            recipe=recipe,
            offline=order.offline,
            listener=listener,
            executor=order.executor,
        )
    )


def _solved(tell: Tell, progress: TraceProgress) -> None:
    tell(progress.done, progress.goals, f"{progress.kept} kept")


def _train(
    skill_folder: Path, run: RunFolder, weights: Path, plan: TrainConfig, order: TrainingOrder, tell: Tell
) -> None:
    from skillstill_training.stages.sft import make_adapter  # of the extra `training`, which measuring does without

    make_adapter(
        skill_folder,
        run,
        weights,
        plan,
        lambda one: tell(one.step, one.steps, one.note),
        offline=order.offline,
        executor=order.executor,
        processes=order.processes,
    )


def _ship(skill_folder: Path, run: RunFolder, weights: Path) -> None:
    from skillstill_training.stages.export import ship  # as above

    ship(run, weights, name=skill_folder.absolute().name)
