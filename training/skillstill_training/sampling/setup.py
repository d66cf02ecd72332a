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
from skillstill_training.episode import code_hash
from skillstill_training.executors.executor import IN_PROCESS, Executor
from skillstill_training.run.recipe import Recipe
from skillstill_training.sampling.gates import check_origins
from skillstill_training.sampling.goal_builder import GoalBuilder, Prover, ProvingJob
from skillstill_training.sampling.proofs import Proofs
from skillstill_training.sampling.sampler import BATCH, Sampler
from skillstill_training.workspaces import BuiltWorkspace, Source, build_workspace, load_sources

OnWorkspace = Callable[[Source], None]


def ignore(source: Source) -> None:
    """Do nothing, as an OnWorkspace."""


@dataclass(frozen=True, slots=True)
class SamplingSetup:
    """The families, the workspaces, and what draws goals from both."""

    families: tuple[Family, ...]
    workspaces: Sequence[BuiltWorkspace]
    sampler: Sampler


@asynccontextmanager
async def build_sampling(
    folder: Path,
    recipe: Recipe,
    *,
    offline: bool = False,
    on_workspace: OnWorkspace = ignore,
    executor: Executor = IN_PROCESS,
) -> AsyncIterator[SamplingSetup]:
    """Set up the sampling of a skill's folder, as long as its proofs are open.

    Raise StageError; GateError if wordings or workspaces of a test serve training too.
    """
    skill, families = load_skill(folder), load_families(folder)
    train, test = (load_wordings(folder, kind, families) for kind in ("train", "test"))
    _check_names(skill, families, recipe)
    sources = load_sources(folder)
    workspaces = await workspaces_of(folder, sources, offline=offline, on_workspace=on_workspace)
    check_origins(train, test, workspaces, sources)
    by_split = _by_split(workspaces, folder)
    with Proofs(folder) as proofs:
        prover = Prover(skill, {one.name: one for one in families}, recipe.seed)
        prove = executor.distribute(prover.prove, lambda pack: ProvingJob(pack(folder), recipe.seed, code_hash(skill)))
        builder = GoalBuilder(skill, recipe.goals.speech, recipe.seed, proofs, prove)
        sampler = Sampler(builder, recipe.goals, train, test, by_split, executor.at_once(BATCH))
        yield SamplingSetup(families, workspaces, sampler)


async def workspaces_of(
    folder: Path, sources: Sequence[Source], *, offline: bool = False, on_workspace: OnWorkspace = ignore
) -> Sequence[BuiltWorkspace]:
    """Return the workspaces, fetched and made if they are not at hand. Raise WorkspaceSourceError."""
    found = []
    for source in sources:
        on_workspace(source)
        found.append(await to_thread.run_sync(build_workspace, source, folder, offline))
    return found


def _check_names(skill: Skill, families: Sequence[Family], recipe: Recipe) -> None:
    """Raise GoalsError if the recipe counts goals of a family that there is not."""
    if unknown := recipe.goals.families.keys() - {family.name for family in families}:
        raise GoalsError(f"recipe.toml: [goals.families] names {min(unknown)!r}, which is no family of {skill.name}")


def _by_split(workspaces: Sequence[BuiltWorkspace], folder: Path) -> Mapping[Split, Sequence[BuiltWorkspace]]:
    """Raise GoalsError if a split has none."""
    found = {split: [one for one in workspaces if one.split == split] for split in SPLITS}
    if lacking := [split for split in SPLITS if not found[split]]:
        raise GoalsError(f"{folder / 'sources.toml'}: no workspace for the split {lacking[0]!r}")
    return found
