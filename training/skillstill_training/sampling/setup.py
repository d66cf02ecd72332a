"""Set up all that the goals of a skill are sampled from: its families and wordings, its workspaces, its proofs."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread
from skillstill.errors import GoalsError
from skillstill.skills.skill import Skill, load_skill

from skillstill_training.authoring.families import Family, load_families, load_wordings
from skillstill_training.authoring.goal import SPLITS, Split
from skillstill_training.run.recipe import Recipe
from skillstill_training.sampling.composer import Composer
from skillstill_training.sampling.gates import check_origins
from skillstill_training.sampling.proofs import Proofs
from skillstill_training.sampling.sampler import Drawing
from skillstill_training.workspaces import Material, Source, load_sources, prepare

OnMaterial = Callable[[Source], None]


def unheard(source: Source) -> None:
    """An OnMaterial that tells nobody."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The families, the workspaces, and what draws goals from both."""

    families: tuple[Family, ...]
    materials: Sequence[Material]
    drawing: Drawing


@asynccontextmanager
async def setting_of(
    folder: Path, recipe: Recipe, *, offline: bool = False, on_material: OnMaterial = unheard
) -> AsyncIterator[Setting]:
    """Of a skill's folder, as long as its proofs are open.

    Raises StageError; GateError where wordings or workspaces of a test serve training too.
    """
    skill, families = load_skill(folder), load_families(folder)
    train, test = (load_wordings(folder, kind, families) for kind in ("train", "test"))
    _check_names(skill, families, recipe)
    sources = load_sources(folder)
    materials = await materials_of(folder, sources, offline=offline, on_material=on_material)
    check_origins(train, test, materials, sources)
    by_split = _by_split(materials, folder)
    with Proofs(folder) as proofs:
        composer = Composer(skill, recipe.goals.speech, recipe.seed, proofs)
        yield Setting(families, materials, Drawing(composer, recipe.goals, train, test, by_split))


async def materials_of(
    folder: Path, sources: Sequence[Source], *, offline: bool = False, on_material: OnMaterial = unheard
) -> Sequence[Material]:
    """The workspaces, fetched and made where they are not at hand. Raises MaterialError."""
    found = []
    for source in sources:
        on_material(source)
        found.append(await to_thread.run_sync(prepare, source, folder, offline))
    return found


def _check_names(skill: Skill, families: Sequence[Family], recipe: Recipe) -> None:
    """Raises GoalsError where the recipe counts goals of a family that there is not."""
    if unknown := recipe.goals.families.keys() - {family.name for family in families}:
        raise GoalsError(f"recipe.toml: [goals.families] names {min(unknown)!r}, which is no family of {skill.name}")


def _by_split(materials: Sequence[Material], folder: Path) -> Mapping[Split, Sequence[Material]]:
    """Raises GoalsError where a split has none."""
    found = {split: [one for one in materials if one.split == split] for split in SPLITS}
    if lacking := [split for split in SPLITS if not found[split]]:
        raise GoalsError(f"{folder / 'sources.toml'}: no workspace for the split {lacking[0]!r}")
    return found
