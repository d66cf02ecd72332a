"""`skillstill goals`, `baseline`, `traces`, `dataset`: each calls its stage and prints one table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from skillstill.console.options import Json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from skillstill_training.cli.teachers import HiredTeacher
    from skillstill_training.executors.executor import Executor
    from skillstill_training.run.folder import RunFolder
    from skillstill_training.run.recipe import Recipe
    from skillstill_training.teachers.batch import OnProgress, TeachingProgress
    from skillstill_training.teachers.recorded import RecordedGoal

    Work = Callable[[OnProgress], Awaitable[TeachingProgress]]

Skill = Annotated[str, typer.Argument(help="A skill folder, or the name of a bundled skill.")]
Runs = Annotated[Path, typer.Option("--runs", help="Where run folders are kept.")]
Run = Annotated[Path | None, typer.Option("--run", help="The run folder. Default: the newest one of the skill.")]
Offline = Annotated[bool, typer.Option("--offline", envvar="SKILLSTILL_OFFLINE", help="Fetch no workspace, no model.")]
Ray = Annotated[
    str,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Spread the work over a Ray cluster: local, auto, HOST:PORT or ray://HOST:PORT.",
    ),
]
Rates = Annotated[str, typer.Option("--price", help="USD for a million tokens, IN,CACHED,OUT.")]
Spending = Annotated[
    str, typer.Option("--budget", metavar="5usd|TOKENS", help="What may be spent in this folder: 5usd, or tokens.")
]

TeacherName = Annotated[
    str,
    typer.Option(
        "--teacher",
        help="constructed, claude-code[:MODEL], anthropic:MODEL, or an OpenAI-compatible server as URL#MODEL; "
        "keys: ANTHROPIC_API_KEY, SKILLSTILL_ENDPOINT_KEY.",
    ),
]
Size = Annotated[
    str | None,
    typer.Option(
        help="Of a release beside the default one, on a larger base: 0.5b.",
        callback=lambda size: _check_size(size),
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Go on, whatever the forecast after the first goals says.")]


def goals(
    skill: Skill,
    runs: Runs = Path("runs"),
    seed: Annotated[int | None, typer.Option(help="In place of the recipe's: other goals.")] = None,
    few: Annotated[
        int | None,
        typer.Option(min=1, help="Only so many goals a family and split, whatever their mix: to look at a skill."),
    ] = None,
    size: Size = None,
    ray: Ray = "",
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Make goals for a skill from real workspaces: each proven with the real tools, then frozen.

    Example: skillstill goals explore --few 5
    """
    import anyio

    from skillstill_training.cli import output
    from skillstill_training.executors.ray_cluster import executor_at
    from skillstill_training.run.folder import RunFolder
    from skillstill_training.stages.goals import make_goals
    from skillstill_training.workspaces import load_sources

    folder = skill_folder(skill)
    run = RunFolder.new(runs, folder.absolute().name)
    recipe = _recipe(folder, seed, few, size)
    with run.alone(), executor_at(ray) as executor, output.sampling_progress(len(load_sources(folder))) as listener:
        made = anyio.run(
            lambda: make_goals(folder, run, recipe=recipe, offline=offline, listener=listener, executor=executor)
        )
    output.print_goals(made, as_json=json)
    return 0


def traces(
    skill: Skill,
    runs: Runs = Path("runs"),
    run: Run = None,
    teacher: TeacherName = "constructed",
    samples: Annotated[int, typer.Option(min=1, help="Attempts of a model at each goal.")] = 1,
    price: Rates = "",
    budget: Spending = "",
    yes: Yes = False,
    least: Annotated[float, typer.Option(min=0, max=1, help="The success that a model must show first.")] = 0.6,
    probe: Annotated[int, typer.Option(min=1, help="Validation goals that it must show it on.")] = 50,
    recorded: Annotated[
        Path | None, typer.Option(help="A folder of Claude Code transcripts: solve what a subagent was asked there.")
    ] = None,
    agent: Annotated[str, typer.Option(help="That subagent's name in the transcripts. Default: the skill's.")] = "",
    send: Annotated[bool, typer.Option("--send", help="Recorded folders may be sent to another machine.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many goals.")] = None,
    at_once: Annotated[int, typer.Option(min=1, max=64, help="Goals that are solved at the same time.")] = 2,
    ray: Ray = "",
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Let a teacher solve the frozen goals with the real tools. Interrupted, the same command goes on.

    Example: skillstill traces explore
    """
    import anyio
    from skillstill.errors import UsageError

    from skillstill_training.cli import output
    from skillstill_training.cli.teachers import TeacherTerms, hire
    from skillstill_training.executors.ray_cluster import executor_at
    from skillstill_training.teachers.ledger import Budget, Price

    folder = skill_folder(skill)
    run_dir = run_folder(run, runs, folder)
    constructed = teacher == "constructed"
    if constructed and recorded:
        raise UsageError("what was recorded is answered by a model: give --teacher URL#MODEL or claude-code")
    if ray and not constructed:
        raise UsageError("a model teacher's work is done by its server: leave --ray out, and raise --at-once")
    with executor_at(ray) as executor:
        if constructed:
            work = construct_traces(folder, run_dir, limit, at_once, offline, executor)
        else:
            costs = (Price.parse(price) if price else None, Budget.parse(budget))
            terms = TeacherTerms(samples, *costs, least, probe, at_once)
            goals = _recorded_goals(recorded, agent or folder.absolute().name)
            work = teach_traces(folder, run_dir, hire(teacher, terms, yes=yes), goals, limit, send, offline)
        with run_dir.alone(), output.solving_progress() as on_progress:
            progress = anyio.run(work, on_progress)
    output.print_traces(progress, run_dir, as_json=json)
    return 0


def dataset(skill: Skill, runs: Runs = Path("runs"), run: Run = None, json: Json = False) -> int:
    """Choose what is learned from: no duplicates, no leaks, every required cell filled.

    Example: skillstill dataset explore
    """
    from skillstill_training.cli import output
    from skillstill_training.stages.dataset import make_dataset

    folder = skill_folder(skill)
    run_dir = run_folder(run, runs, folder)
    with run_dir.alone():
        made = make_dataset(folder, run_dir)
    output.print_dataset(made, run_dir, as_json=json)
    return 0


def baseline(
    skill: Skill,
    runs: Runs = Path("runs"),
    run: Run = None,
    split: Annotated[str, typer.Option(help="train or validation; test only to report a release.")] = "validation",
    freeze: Annotated[
        bool,
        typer.Option("--freeze", help="Freeze baseline.py and the training wordings as they are."),
    ] = False,
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Measure the script without a model that a subagent has to beat.

    Example: skillstill baseline explore
    """
    import anyio
    from skillstill.errors import UsageError

    from skillstill_training.authoring.goal import SPLITS
    from skillstill_training.cli import output
    from skillstill_training.evaluation.baseline import freeze_baseline, load_baseline, measure_baseline
    from skillstill_training.workspaces import workspace_roots

    if split not in SPLITS:
        raise UsageError(f"--split is one of {', '.join(SPLITS)}, not {split!r}")
    folder = skill_folder(skill)
    if freeze:
        freeze_baseline(folder)
    run_dir = run_folder(run, runs, folder)
    goals = [goal for goal in run_dir.frozen_goals() if goal.split == split]
    roots = workspace_roots(folder, {goal.workspace for goal in goals}, offline)
    output.print_baseline(anyio.run(measure_baseline, load_baseline(folder), goals, roots), as_json=json)
    return 0


def skill_folder(skill: str) -> Path:
    """Raise UnknownName."""
    from skillstill.errors import UnknownName
    from skillstill.skills.registry import bundled

    for folder in (Path(skill).expanduser(), bundled() / "skills" / skill):
        if (folder / "SKILL.md").is_file():
            return folder
    known = ", ".join(sorted(file.parent.name for file in (bundled() / "skills").glob("*/SKILL.md")))
    raise UnknownName(f"{skill!r} is no skill folder (one that holds SKILL.md) and no bundled skill: {known}")


def construct_traces(
    skill: Path, run: "RunFolder", limit: int | None, at_once: int, offline: bool, executor: "Executor"
) -> "Work":
    from skillstill_training.stages.traces import make_traces
    from skillstill_training.teachers.distributed_teacher import distributed_teacher

    recipe = run.recipe()
    teacher = distributed_teacher(skill, recipe, executor)
    return lambda on_progress: make_traces(
        skill, run, teacher, limit=limit, at_once=executor.at_once(at_once), offline=offline, on_progress=on_progress
    )


def teach_traces(
    skill: Path,
    run: "RunFolder",
    hired: "HiredTeacher",
    recorded: "Sequence[RecordedGoal]",
    limit: int | None,
    send: bool,
    offline: bool,
) -> "Work":
    """Return the work of a large model. Raise UsageError if it may not be sent what was recorded."""
    from skillstill_training.cli import output
    from skillstill_training.cli.teachers import Employer, check_sending, qualified_teacher

    if recorded:
        check_sending(hired.model, send)
    return lambda on_progress: qualified_teacher(
        skill,
        run,
        hired.model,
        hired.terms,
        recorded=recorded[:limit],
        limit=limit,
        offline=offline,
        employer=Employer(output.print_probe, hired.agrees, output.print_teacher_score),
        on_progress=on_progress,
    )


def _recorded_goals(transcripts: Path | None, agent: str) -> "Sequence[RecordedGoal]":
    """Return what that subagent was asked; nothing if no folder was named. Raise UsageError.

    Raise that also if none of it can be asked again: nobody meant the skill's own goals to be paid for instead.
    """
    from skillstill.errors import UsageError

    from skillstill_training.cli import output
    from skillstill_training.teachers.recorded import read_recorded_goals

    if transcripts is None:
        return ()
    found = read_recorded_goals(transcripts.expanduser(), agent)
    output.print_recorded(found)
    if not found.goals:
        raise UsageError(f"nothing in {transcripts} can be asked again, for the reasons above")
    return found.goals


def run_folder(run: Path | None, runs: Path, skill: Path) -> "RunFolder":
    from skillstill_training.run.folder import RunFolder

    return RunFolder(run.resolve()) if run else RunFolder.latest(runs, skill.absolute().name)


def _recipe(skill: Path, seed: int | None, few: int | None, size: str | None) -> "Recipe":
    from skillstill_training.run.recipe import load_recipe

    recipe = load_recipe(skill).sized(size or "")
    return recipe.changed(seed, few)


def _check_size(size: str | None) -> str | None:
    """Raise BadParameter."""
    import re

    from skillstill.skills.skill import SIZE

    if size is None or re.fullmatch(SIZE, size):
        return size
    raise typer.BadParameter(f"expected parameters such as 0.5b or 360m, got {size!r}")
