"""A designed skill is proven by drawing a few real goals of it: each solved by its plan, each check put to the test."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread
from skillstill.errors import GoalsError
from skillstill.skill import load_skill

from skillstill_training.drawing import Drawing, OnProgress
from skillstill_training.drawing.composing import Composer
from skillstill_training.drawing.gates import check_origins
from skillstill_training.drawing.proofs import Proofs
from skillstill_training.families import Family, load_families, load_wordings
from skillstill_training.goal import SPLITS, Goal
from skillstill_training.material import Material, Source, load_sources, prepare
from skillstill_training.recipe import load_recipe


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
    on_material: Callable[[Source], None] = lambda source: None,
    on_progress: OnProgress = lambda tally: None,
) -> Proven:
    """At most so many goals a family and split. Raises StageError, GateError where workspaces overlap."""
    families, recipe = load_families(folder), load_recipe(folder).changed(few=few)
    train, test = (load_wordings(folder, kind, families) for kind in ("train", "test"))
    sources = load_sources(folder)
    materials = await materials_of(folder, sources, offline=offline, on_material=on_material)
    check_origins(train, test, materials, sources)
    by_split = {split: [one for one in materials if one.split == split] for split in SPLITS}
    goals: list[Goal] = []
    dropped: list[tuple[str, str]] = []
    with Proofs(folder) as proofs:
        composer = Composer(load_skill(folder), recipe.goals.speech, recipe.seed, proofs)
        drawing = Drawing(composer, recipe.goals, train, test, by_split)
        for family in families:
            try:
                goals += await _drawn(drawing, family, on_progress)
            except GoalsError as error:
                dropped.append((family.name, str(error)))
    return Proven(tuple(goals), tuple(dropped))


async def _drawn(drawing: Drawing, family: Family, on_progress: OnProgress) -> list[Goal]:
    return [goal for split in SPLITS for goal in (await drawing.draw(family, split, on_progress))[0]]


async def materials_of(
    folder: Path,
    sources: Sequence[Source],
    *,
    offline: bool = False,
    on_material: Callable[[Source], None] = lambda source: None,
) -> Sequence[Material]:
    """The workspaces, fetched and made where they are not at hand. Raises MaterialError."""
    found = []
    for source in sources:
        on_material(source)
        found.append(await to_thread.run_sync(prepare, source, folder, offline))
    return found


def by_family(goals: Sequence[Goal]) -> Mapping[str, Mapping[str, int]]:
    """How many of each split."""
    return {
        name: {split: sum(goal.family == name and goal.split == split for goal in goals) for split in SPLITS}
        for name in dict.fromkeys(goal.family for goal in goals)
    }
