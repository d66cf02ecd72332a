"""Stage 1, `skillstill goals SKILL`: goals from real workspaces, proven and frozen before anybody solves them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anyio import to_thread
from skillstill.errors import GoalsError
from skillstill.skill import load_skill

from skillstill_training.drawing import Drawing, OnProgress, Tally
from skillstill_training.drawing.composing import Composer
from skillstill_training.drawing.gates import check_origins, check_prompts, check_shares
from skillstill_training.drawing.proofs import Proofs
from skillstill_training.families import Family, load_families, load_wordings
from skillstill_training.folder import RunFolder
from skillstill_training.goal import SPLITS, Goal, Split
from skillstill_training.jsonl import write_lines
from skillstill_training.material import Material, Source, load_sources, prepare
from skillstill_training.page import write_page
from skillstill_training.recipe import Recipe, load_recipe

OnMaterial = Callable[[Source], None]


@dataclass(frozen=True, slots=True)
class Goals:
    """What the stage made, and where. `idle` are the workspaces that no goal came from."""

    folder: RunFolder
    goals: tuple[Goal, ...]
    tallies: tuple[Tally, ...]
    families: tuple[Family, ...]
    idle: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told how far the stage is."""

    material: OnMaterial = lambda source: None
    goals: OnProgress = lambda tally: None


async def make_goals(
    skill_folder: Path,
    folder: RunFolder,
    *,
    recipe: Recipe | None = None,
    offline: bool = False,
    listener: Listener = Listener(),
) -> Goals:
    """Draw, prove, gate and freeze the goals of a skill. Raises StageError, and then freezes nothing."""
    skill = load_skill(skill_folder)
    families = load_families(skill_folder)
    train, test = (load_wordings(skill_folder, kind, families) for kind in ("train", "test"))
    recipe = recipe or load_recipe(skill_folder)
    if unknown := recipe.goals.families.keys() - {family.name for family in families}:
        raise GoalsError(f"recipe.toml: [goals.families] names {min(unknown)!r}, which is no family of {skill.name}")
    sources = load_sources(skill_folder)
    materials = await _materials(skill_folder, sources, offline, listener.material)
    check_origins(train, test, materials, sources)
    by_split = _by_split(materials, skill_folder)
    with Proofs(skill_folder) as proofs:
        composer = Composer(skill, recipe.goals.speech, recipe.seed, proofs)
        goals, tallies = await _drawn(Drawing(composer, recipe.goals, train, test, by_split), families, listener)
    folder.save_recipe(recipe)
    write_lines(folder.goals, goals)  # before the gates: whoever is refused can look at what was made
    write_page(folder)
    check_prompts(goals)
    for split in SPLITS:
        check_shares([goal for goal in goals if goal.split == split], families, recipe.goals.shares, split)
    folder.freeze(skill_folder)
    used = {goal.workspace for goal in goals}
    idle = tuple(one.name for one in materials if one.name not in used)
    return Goals(folder, tuple(goals), tuple(tallies), families, idle)


async def _drawn(drawing: Drawing, families: Sequence[Family], listener: Listener) -> tuple[list[Goal], list[Tally]]:
    """Split by split, so that what training asks is known before a test may not ask it."""
    goals: list[Goal] = []
    tallies: list[Tally] = []
    for split in SPLITS:
        for family in families:
            drawn, tally = await drawing.draw(family, split, listener.goals)
            goals += drawn
            tallies.append(tally)
    return goals, tallies


async def _materials(
    skill: Path, sources: Sequence[Source], offline: bool, on_material: OnMaterial
) -> Sequence[Material]:
    """The workspaces, fetched and made where they are not at hand. Raises MaterialError."""
    found = []
    for source in sources:
        on_material(source)
        found.append(await to_thread.run_sync(partial(prepare, source, skill, offline=offline)))
    return found


def _by_split(materials: Sequence[Material], skill: Path) -> Mapping[Split, Sequence[Material]]:
    """Raises GoalsError where a split has none."""
    found = {split: [one for one in materials if one.split == split] for split in SPLITS}
    if lacking := [split for split in SPLITS if not found[split]]:
        raise GoalsError(f"{skill / 'sources.toml'}: no workspace for the split {lacking[0]!r}")
    return found
