"""Stage 7, `skillstill evaluate SKILL`: measure the exported adapter in the loop that ships, and every other arm.

If it is interrupted, the same command continues it; with another adapter it starts anew. Each look at test results is a
line in `looks.jsonl`.
"""

import os
import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from anyio import to_thread
from pydantic import ValidationError
from skillstill.contract import serving_hash
from skillstill.errors import StageError
from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.skills.calibration import Calibration
from skillstill.skills.skill import load_skill
from skillstill.types import ModelFile, Models

from skillstill_training.authoring.families import families_by_name
from skillstill_training.authoring.goal import Goal, check_verifiable
from skillstill_training.evaluation.arm_runs import OnProgress, run_arm
from skillstill_training.evaluation.arms import Arm, ArmFactory
from skillstill_training.evaluation.calibration import (
    GradedField,
    calibrate,
    check_validation_count,
    selective_metrics,
)
from skillstill_training.evaluation.comparisons import Comparisons
from skillstill_training.evaluation.distributed_arm import distributed_arm
from skillstill_training.evaluation.looks import log_look
from skillstill_training.evaluation.scoring import compare_arms, count_causes, score_arm
from skillstill_training.evaluation.subset import Subset
from skillstill_training.executors.executor import IN_PROCESS, Executor
from skillstill_training.field.familiarity import fit_familiarity
from skillstill_training.field.measure import FieldOptions, Subject, load_field_set, measure_in_field
from skillstill_training.field.question import has_field_questions
from skillstill_training.field.score import graded_field
from skillstill_training.report.field_page import write_field_page
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import EvaluationConfig
from skillstill_training.run.scorecard import ARMS, ArmName, FieldArmName, FieldResult, Outcome, Scorecard, Trained
from skillstill_training.util.hashes import file_sha256
from skillstill_training.util.jsonl import write_text
from skillstill_training.workspaces import load_sources, workspace_roots

Arms = Mapping[ArmName, Arm]
OURS: tuple[FieldArmName, ...] = ("ours",)
FIELD_GATES: tuple[FieldArmName, ...] = ("ours", "baseline", "retrieval", "stock-direct", "larger-direct")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """What may differ between evaluations of an adapter.

    base   default: the base of the skill
    plan   default: the plan of the run's recipe
    arms   ours is always among them; default: the arms of the plan
    """

    base: ModelFile | None = None
    plan: EvaluationConfig | None = None
    arms: Collection[ArmName] | None = None
    comparisons: Comparisons = field(default_factory=Comparisons)
    offline: bool = False
    executor: Executor = IN_PROCESS


async def evaluate(
    skill_folder: Path,
    run: RunFolder,
    adapter: ModelFile,
    options: EvaluationOptions,
    *,
    models: Models | None = None,
    on_progress: OnProgress = lambda progress: None,
) -> Scorecard:
    """Run every arm, score it and write `7-scorecard.json`. The stage `publish` adds gates and verdict.

    Raises StageError; GateError if there are too few validation goals; BaseError and ModelError if a model cannot be
    loaded.
    """
    goals, trained = run.frozen_goals(), _read_trained(run)
    recipe = run.recipe()
    plan = options.plan or recipe.evaluate
    skill, families = load_skill(skill_folder).sized(recipe.size), families_by_name(skill_folder)
    asks_field = bool(plan.field) and has_field_questions(skill_folder, "validation")
    # A larger base has seen more than what it was taught here: it is asked any question.
    is_gated = asks_field and not recipe.size
    familiarity = await to_thread.run_sync(fit_familiarity, skill_folder) if is_gated else None
    factory = ArmFactory(
        folder=skill_folder,
        skill=skill,
        families=families,
        models=models or LocalModels(LocalOptions(offline=options.offline)),
        base=options.base or skill.subagent.base,
        adapter=adapter,
        comparisons=options.comparisons,
        familiarity=familiarity,
        offline=options.offline,
        size=recipe.size,
    )
    arms = _available_arms(factory, plan.arms if options.arms is None else options.arms, options.executor)
    subset = Subset.select(goals, {name for name, family in families.items() if family.held_out}, plan)
    check_validation(goals, plan)
    workspaces = {goal.workspace for goal in (*subset.validation, *subset.test)}
    roots = await to_thread.run_sync(workspace_roots, skill_folder, workspaces, options.offline)

    ask = partial(
        run_arm, roots=roots, places=run.outcomes, on_progress=on_progress, at_once=options.executor.at_once(1)
    )
    validated = await ask(arms["ours"], "validation", subset.validation)
    graded: GradedField | None = None
    if asks_field:
        subject = Subject(factory.base, adapter, familiarity=familiarity, size=recipe.size)
        graded = await _validate_in_field(skill_folder, run, subject, options, factory.models)
    calibration = calibrate(validated, graded, min_goals=plan.calibration).model_copy(
        update={"familiarity": familiarity}
    )
    log_look(run, tuple(arms), adapter)
    outcomes = {name: await ask(arm, "test", subset.for_arm(name)) for name, arm in arms.items()}
    scorecard = _score(factory, arms, outcomes, calibration, file_sha256(run.goals), trained)
    made = sum(bool(one.made_by) for one in load_sources(skill_folder) if one.split == "test")
    scorecard = scorecard.model_copy(update={"machine": scorecard.machine + options.executor.label, "made": made})
    if plan.field and has_field_questions(skill_folder, "test"):
        field = await _test_in_field(skill_folder, run, scorecard, options, factory.models)
        scorecard = scorecard.model_copy(update={"field": field})
    write_text(run.scorecard, scorecard.model_dump_json(indent=1) + "\n")
    return scorecard


async def _validate_in_field(
    skill_folder: Path, run: RunFolder, subject: Subject, options: EvaluationOptions, models: Models
) -> GradedField:
    """Return the answers of the adapter to the validation questions: what its confidence is fitted to."""
    field = FieldOptions(arms=OURS, offline=options.offline, executor=options.executor)
    questions = await load_field_set(skill_folder, field)
    test = await measure_in_field(skill_folder, subject, questions, run.field, field, models=models)
    return graded_field(test.judged["ours"])


async def _test_in_field(
    skill_folder: Path, run: RunFolder, scorecard: Scorecard, options: EvaluationOptions, models: Models
) -> FieldResult:
    """Return what the adapter, the script and the stock models in their best form answer to the test questions."""
    field = FieldOptions(
        split="test",
        arms=FIELD_GATES,
        larger=options.comparisons.larger,
        reason=f"evaluation of {run.path.name}",
        offline=options.offline,
        executor=options.executor,
    )
    subject = Subject.served(scorecard.base, scorecard.adapter, scorecard.calibration, run.recipe().size)
    questions = await load_field_set(skill_folder, field)
    test = await measure_in_field(skill_folder, subject, questions, run.field, field, models=models)
    write_field_page(run.field, test)
    return test.result


def check_validation(goals: Sequence[Goal], plan: EvaluationConfig) -> None:
    """Raise GateError if there are too few validation goals to calibrate a confidence, before any arm runs.

    Raise it too if a rubric judges them.
    """
    check_verifiable(goals)
    check_validation_count(sum(goal.split == "validation" for goal in goals), plan.calibration)


def _available_arms(factory: ArmFactory, names: Collection[ArmName], executor: Executor) -> Arms:
    """Return ours and those of the named arms that can run, in the order of ARMS."""
    arms = {name: distributed_arm(factory, name, executor) for name in ARMS if name == "ours" or name in names}
    return {name: arm for name, arm in arms.items() if arm}


def _score(
    factory: ArmFactory,
    arms: Arms,
    outcomes: Mapping[ArmName, Sequence[Outcome]],
    calibration: Calibration,
    goals: str,
    trained: Trained,
) -> Scorecard:
    ours = outcomes["ours"]
    hard = {name for name, family in factory.families.items() if family.hard}
    return Scorecard(
        skill=factory.skill.name,
        base=factory.base,
        adapter=factory.adapter,
        dialect=next((outcome.trace.dialect for outcome in ours if outcome.trace), ""),
        contract=serving_hash(factory.skill, factory.base, factory.adapter),
        goals=goals,
        machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        trained=trained,
        arms=tuple(score_arm(name, arms[name].label, results) for name, results in outcomes.items()),
        differences=tuple(compare_arms(outcomes, hard)),
        selective=selective_metrics(calibration, [outcome for outcome in ours if not outcome.held_out]),
        calibration=calibration,
        causes=tuple(count_causes(ours)),
    )


def _read_trained(run: RunFolder) -> Trained:
    """Read the facts that training wrote beside its adapter. Raises StageError."""
    file = run.adapter / "trained.json"
    try:
        return Trained.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise StageError(f"{file} cannot be read: train the adapter first (`skillstill sft SKILL`)") from error
