"""A designed skill is proven by drawing a few real goals of it: each solved by its plan, each check put to the test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillstill.errors import GoalsError

from skillstill_training.authoring.families import Family
from skillstill_training.authoring.goal import SPLITS, Goal
from skillstill_training.run.recipe import load_recipe
from skillstill_training.sampling.sampler import OnProgress, Sampler
from skillstill_training.sampling.setup import OnWorkspace, build_sampling, ignore


@dataclass(frozen=True, slots=True)
class Proven:
    """The goals, and the families that yield none in a split, each with the reason."""

    goals: tuple[Goal, ...]
    dropped: tuple[tuple[str, str], ...]


async def prove(
    folder: Path,
    few: int,
    *,
    offline: bool = False,
    on_workspace: OnWorkspace = ignore,
    on_progress: OnProgress = lambda tally: None,
) -> Proven:
    """Return at most so many goals a family and split. Raise StageError, GateError if workspaces overlap."""
    goals: list[Goal] = []
    dropped: list[tuple[str, str]] = []
    recipe = load_recipe(folder).changed(few=few)
    async with build_sampling(folder, recipe, offline=offline, on_workspace=on_workspace) as setup:
        for family in setup.families:
            try:
                goals += await _draw(setup.sampler, family, on_progress)
            except GoalsError as error:
                dropped.append((family.name, str(error)))
    return Proven(tuple(goals), tuple(dropped))


async def _draw(sampler: Sampler, family: Family, on_progress: OnProgress) -> list[Goal]:
    return [goal for split in SPLITS for goal in (await sampler.draw(family, split, on_progress))[0]]


def by_family(goals: Sequence[Goal]) -> Mapping[str, Mapping[str, int]]:
    """Return how many of each split."""
    return {
        name: {split: sum(goal.family == name and goal.split == split for goal in goals) for split in SPLITS}
        for name in dict.fromkeys(goal.family for goal in goals)
    }
