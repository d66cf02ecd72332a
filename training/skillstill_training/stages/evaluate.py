"""Stage 7, `skillstill evaluate SKILL`: the file that ships, in the loop that ships, against every other arm.

Broken off, the same command goes on; another adapter starts anew. Each look at the test set is a line in `looks.jsonl`.
"""

import os
import platform
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from anyio import to_thread
from pydantic import ValidationError
from skillstill.contract import serving_hash
from skillstill.errors import StageError
from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.skills.calibration import Calibration
from skillstill.skills.skill import load_skill
from skillstill.types import ModelFile, Models

from skillstill_training.authoring.families import load_families
from skillstill_training.authoring.goal import Goal
from skillstill_training.evaluation.arm_runs import OnProgress, run_arm
from skillstill_training.evaluation.arms import Arm, ArmFactory
from skillstill_training.evaluation.calibration import calibrate, check_enough, selective
from skillstill_training.evaluation.looks import note_look
from skillstill_training.evaluation.scoring import causes, differences, score
from skillstill_training.evaluation.subset import Subset
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import EvaluationConfig
from skillstill_training.run.scorecard import ARMS, Outcome, Scorecard, Trained
from skillstill_training.run.scorecard import Arm as Name
from skillstill_training.util.hashes import file_sha256
from skillstill_training.util.jsonl import write_text
from skillstill_training.workspaces import workspace_roots

Arms = Mapping[Name, Arm]


async def evaluate(
    skill_folder: Path,
    folder: RunFolder,
    adapter: ModelFile,
    *,
    base: ModelFile | None = None,
    arms: Collection[Name] | None = None,
    larger: ModelFile | None = None,
    wrong: ModelFile | None = None,
    plan: EvaluationConfig | None = None,
    models: Models | None = None,
    offline: bool = False,
    on_progress: OnProgress = lambda progress: None,
) -> Scorecard:
    """Ask, sum up and write `7-scorecard.json`; gates and verdict are not judged here.

    Ours is always among the arms; by default they are those of the plan, and the plan is that of the run's recipe.

    Raise StageError; GateError if there are too few validation goals; BaseError and ModelError if a model cannot
    be had.
    """
    goals, trained = folder.frozen_goals(), _trained(folder)
    plan = plan or folder.recipe().evaluate
    skill, families = load_skill(skill_folder), {family.name: family for family in load_families(skill_folder)}
    models = models or LocalModels(LocalOptions(offline=offline))
    base = base or skill.subagent.base
    factory = ArmFactory(skill_folder, skill, families, models, base, adapter, larger, wrong)
    entered = _available_arms(factory, plan.arms if arms is None else arms)
    chosen = Subset.of(goals, {name for name, family in families.items() if family.held_out}, plan)
    check_validation(goals, plan)
    asked = {goal.workspace for goal in (*chosen.validation, *chosen.test)}
    roots = await to_thread.run_sync(workspace_roots, skill_folder, asked, offline)

    validated = await run_arm(entered["ours"], "validation", chosen.validation, roots, folder, on_progress)
    calibration = calibrate(validated, least=plan.calibration)
    note_look(folder, tuple(entered), adapter)
    solved = {
        name: await run_arm(arm, "test", chosen.for_arm(name), roots, folder, on_progress)
        for name, arm in entered.items()
    }
    scorecard = _summed_up(factory, entered, solved, calibration, file_sha256(folder.goals), trained)
    write_text(folder.scorecard, scorecard.model_dump_json(indent=1) + "\n")
    return scorecard


def check_validation(goals: Sequence[Goal], plan: EvaluationConfig) -> None:
    """Raise GateError if a confidence would be calibrated on too few of them: known before anyone is asked."""
    check_enough(sum(goal.split == "validation" for goal in goals), plan.calibration)


def _available_arms(factory: ArmFactory, names: Collection[Name]) -> Arms:
    """Return the named arms that can be had, and ours, in the order of the report."""
    arms = {name: factory.arm(name) for name in ARMS if name == "ours" or name in names}
    return {name: arm for name, arm in arms.items() if arm}


def _summed_up(
    factory: ArmFactory,
    entered: Arms,
    solved: Mapping[Name, Sequence[Outcome]],
    calibration: Calibration,
    goals: str,
    trained: Trained,
) -> Scorecard:
    ours = solved["ours"]
    hard = {name for name, family in factory.families.items() if family.hard}
    return Scorecard(
        skill=factory.skill.name,
        base=factory.base,
        adapter=factory.adapter,
        dialect=next((one.trace.dialect for one in ours if one.trace), ""),
        contract=serving_hash(factory.skill, factory.base, factory.adapter),
        goals=goals,
        machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        trained=trained,
        arms=tuple(score(name, entered[name].label, outcomes) for name, outcomes in solved.items()),
        differences=tuple(differences(solved, hard)),
        selective=selective(calibration, [one for one in ours if not one.held_out]),
        calibration=calibration,
        causes=tuple(causes(ours)),
    )


def _trained(folder: RunFolder) -> Trained:
    """Return what training left beside its adapter. Raise StageError."""
    file = folder.adapter / "trained.json"
    try:
        return Trained.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise StageError(f"{file} cannot be read: train the adapter first (`skillstill sft SKILL`)") from error
