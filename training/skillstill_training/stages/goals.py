"""Stage 1, `skillstill goals SKILL`: goals from real workspaces, proven and frozen before anybody solves them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skillstill_training.authoring.families import Family
from skillstill_training.authoring.goal import SPLITS, Goal
from skillstill_training.executors.executor import IN_PROCESS, Executor
from skillstill_training.report.page.page import write_page
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import Recipe, load_recipe
from skillstill_training.sampling.gates import check_judged, check_prompts, check_shares
from skillstill_training.sampling.sampler import FamilyTally, OnProgress, Sampler
from skillstill_training.sampling.setup import OnWorkspace, build_sampling, ignore
from skillstill_training.util.jsonl import write_lines


@dataclass(frozen=True, slots=True)
class MadeGoals:
    """What the stage made, and where. `idle` are the workspaces that no goal came from."""

    run: RunFolder
    goals: tuple[Goal, ...]
    tallies: tuple[FamilyTally, ...]
    families: tuple[Family, ...]
    idle: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoalsListener:
    """Who is told how far the stage is."""

    workspace: OnWorkspace = ignore
    goals: OnProgress = lambda tally: None


async def make_goals(
    skill_folder: Path,
    run: RunFolder,
    *,
    recipe: Recipe | None = None,
    offline: bool = False,
    listener: GoalsListener = GoalsListener(),
    executor: Executor = IN_PROCESS,
) -> MadeGoals:
    """Draw, prove, gate and freeze the goals of a skill. Raise StageError, and then freezes nothing."""
    recipe = recipe or load_recipe(skill_folder)
    tell = listener.workspace
    async with build_sampling(skill_folder, recipe, offline=offline, on_workspace=tell, executor=executor) as setup:
        families = setup.families
        goals, tallies = await _draw(setup.sampler, families, listener)
    run.save_recipe(recipe)
    write_lines(run.goals, goals)  # before the gates: whoever is refused can look at what was made
    write_page(run)
    check_prompts(goals)
    check_judged(goals)
    for split in SPLITS:
        check_shares([goal for goal in goals if goal.split == split], families, recipe.goals.shares, split)
    run.freeze(skill_folder)
    used = {goal.workspace for goal in goals}
    idle = tuple(one.name for one in setup.workspaces if one.name not in used)
    return MadeGoals(run, tuple(goals), tuple(tallies), families, idle)


async def _draw(
    sampler: Sampler, families: Sequence[Family], listener: GoalsListener
) -> tuple[list[Goal], list[FamilyTally]]:
    """Draw split by split, so that what training asks is known before a test may not ask it."""
    goals: list[Goal] = []
    tallies: list[FamilyTally] = []
    for split in SPLITS:
        for family in families:
            drawn, tally = await sampler.draw(family, split, listener.goals)
            goals += drawn
            tallies.append(tally)
    return goals, tallies
