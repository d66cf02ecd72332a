"""`skillstill goals`, `floor`, `traces`, `dataset`: what a person types. Each calls its stage and prints one table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from skillstill_training.folder import RunFolder
    from skillstill_training.recipe import Recipe

Skill = Annotated[str, typer.Argument(help="A skill folder, or the name of a bundled skill.")]
Runs = Annotated[Path, typer.Option("--runs", help="Where run folders are kept.")]
Run = Annotated[Path | None, typer.Option("--run", help="The run folder. Default: the newest one of the skill.")]
Offline = Annotated[bool, typer.Option("--offline", envvar="SKILLSTILL_OFFLINE", help="Fetch no workspace.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value for a program.")]


def goals(
    skill: Skill,
    runs: Runs = Path("runs"),
    seed: Annotated[int | None, typer.Option(help="In place of the recipe's: other goals.")] = None,
    few: Annotated[
        int | None,
        typer.Option(min=1, help="Only so many goals a family and split, whatever their mix: to look at a skill."),
    ] = None,
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Make goals for a skill from real workspaces: each proven with the real tools, then frozen.

    Example: skillstill goals explore --few 5
    """
    import anyio

    from skillstill_training import telling
    from skillstill_training.folder import RunFolder
    from skillstill_training.goals import make_goals

    folder = _folder(skill)
    run = RunFolder.new(runs, folder.absolute().name)
    with telling.drawing() as listener:
        made = anyio.run(
            lambda: make_goals(folder, run, recipe=_recipe(folder, seed, few), offline=offline, listener=listener)
        )
    telling.goals_made(made, as_json=json)
    return 0


def traces(
    skill: Skill,
    runs: Runs = Path("runs"),
    run: Run = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many goals.")] = None,
    at_once: Annotated[int, typer.Option(min=1, max=64, help="Goals that are solved at the same time.")] = 2,
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Let a teacher solve the frozen goals with the real tools. Interrupted, the same command goes on.

    Example: skillstill traces explore
    """
    import anyio
    from skillstill.skill import load_skill

    from skillstill_training import telling
    from skillstill_training.families import load_families
    from skillstill_training.teacher import ConstructedTeacher
    from skillstill_training.traces import make_traces

    folder = _folder(skill)
    where = _run(run, runs, folder)
    recipe = where.recipe()
    families = {family.name: family for family in load_families(folder)}
    teacher = ConstructedTeacher(load_skill(folder), families, recipe.constructed, recipe.seed)
    with telling.solving() as on_progress:
        progress = anyio.run(
            lambda: make_traces(
                folder, where, teacher, limit=limit, at_once=at_once, offline=offline, on_progress=on_progress
            )
        )
    telling.traces_made(progress, where, as_json=json)
    return 0


def dataset(skill: Skill, runs: Runs = Path("runs"), run: Run = None, json: Json = False) -> int:
    """Choose what is learned from: no duplicates, no leaks, every required cell filled.

    Example: skillstill dataset explore
    """
    from skillstill_training import telling
    from skillstill_training.dataset import make_dataset

    folder = _folder(skill)
    where = _run(run, runs, folder)
    telling.dataset_made(make_dataset(folder, where), where, as_json=json)
    return 0


def floor(
    skill: Skill,
    runs: Runs = Path("runs"),
    run: Run = None,
    split: Annotated[str, typer.Option(help="train or validation; test only to report a release.")] = "validation",
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Measure the script without a model that a subagent has to beat.

    Example: skillstill floor explore
    """
    import anyio

    from skillstill_training import telling
    from skillstill_training.floor import load_floor, measure_floor
    from skillstill_training.material import roots_of

    folder = _folder(skill)
    where = _run(run, runs, folder)
    goals = [goal for goal in where.frozen_goals() if goal.split == split]
    roots = roots_of(folder, {goal.workspace for goal in goals}, offline)
    telling.floor_stands(anyio.run(measure_floor, load_floor(folder), goals, roots), as_json=json)
    return 0


def _folder(skill: str) -> Path:
    """Raises UnknownName."""
    from skillstill.errors import UnknownName
    from skillstill.registry import bundled

    for folder in (Path(skill).expanduser(), bundled() / "skills" / skill):
        if (folder / "SKILL.md").is_file():
            return folder
    known = ", ".join(sorted(file.parent.name for file in (bundled() / "skills").glob("*/goals.py")))
    raise UnknownName(f"{skill!r} is no skill folder (one that holds SKILL.md) and no bundled skill: {known}")


def _run(run: Path | None, runs: Path, skill: Path) -> "RunFolder":
    from skillstill_training.folder import RunFolder

    return RunFolder(run) if run else RunFolder.latest(runs, skill.absolute().name)


def _recipe(skill: Path, seed: int | None, few: int | None) -> "Recipe":
    from skillstill_training.recipe import load_recipe

    recipe = load_recipe(skill)
    return recipe.changed(seed, few)
