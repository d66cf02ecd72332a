"""`skillstill sft`, `export`, `evaluate`, `publish`, `report`, and `train`, which is all stages in a row."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from skillstill.console.options import Json

from skillstill_training.cli.data import (
    Offline,
    Rates,
    Ray,
    Run,
    Runs,
    Size,
    Skill,
    Spending,
    TeacherName,
    Yes,
    construct_traces,
    run_folder,
    skill_folder,
    teach_traces,
)

if TYPE_CHECKING:
    from skillstill.types import ModelFile

    from skillstill_training.cli.teachers import HiredTeacher
    from skillstill_training.executors.executor import Executor
    from skillstill_training.run.folder import RunFolder
    from skillstill_training.stages.pipeline import Teach
    from skillstill_training.teachers.batch import OnProgress, TeachingProgress

RELEASED, HELD_BACK = 0, 2  # exit codes
Base = Annotated[
    Path | None, typer.Option("--base", help="Another base, a ChatML GGUF file.", show_default="the skill's own")
]
TrainedBase = Annotated[
    Path | None,
    typer.Option("--base", help="Another base, a ChatML GGUF file.", show_default="the one that was trained on"),
]
Larger = Annotated[
    Path | None, typer.Option("--larger", help="A several times larger stock model to compare with, a GGUF file.")
]
Wrong = Annotated[
    Path | None, typer.Option(help="Another skill's adapter on this base.", show_default="that of some other release")
]
Minutes = Annotated[
    int | None,
    typer.Option("--budget-minutes", min=1, help="Train no longer than so many minutes of one core, about."),
]
Processes = Annotated[
    int,
    typer.Option(
        min=1, max=64, help="Processes that train together on this machine: one for each GPU, or for a few cores."
    ),
]
RegistryFile = Annotated[
    Path | None,
    typer.Option("--registry", help="Where to register.", show_default="the registry.json around the skill"),
]
Among = Annotated[
    Path | None,
    typer.Option("--registry", help="Where --wrong is looked for.", show_default="the registry.json around the skill"),
]


def sft(
    skill: Skill,
    runs: Runs = Path("runs"),
    run: Run = None,
    base: Base = None,
    minutes: Minutes = None,
    processes: Processes = 1,
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Train an adapter on the dataset. Interrupted, the same command goes on from the last checkpoint.

    Example: skillstill sft explore --budget-minutes 60
    """
    check_extra()

    from skillstill.models.sources import locate

    from skillstill_training.cli import release_output
    from skillstill_training.run.base import write_base
    from skillstill_training.run.recipe import load_recipe
    from skillstill_training.stages.pipeline import check_shares, limit_minutes
    from skillstill_training.stages.sft import make_adapter

    folder = skill_folder(skill)
    run_dir = run_folder(run, runs, folder)
    file = _base(base, folder, run_dir.recipe().size)
    weights = locate(file, offline=offline)
    with run_dir.alone(), release_output.stage_screen() as screen, screen.stage("training") as tell:
        write_base(run_dir, file)
        plan = limit_minutes(run_dir.follow(load_recipe(folder)).train, minutes)
        check_shares(plan.batch, processes)
        trained = make_adapter(
            folder,
            run_dir,
            weights,
            plan,
            lambda one: tell(one.step, one.steps, one.note),
            offline=offline,
            processes=processes,
        )
    release_output.print_training(trained, run_dir, as_json=json)
    return 0


def export(
    skill: Skill,
    runs: Runs = Path("runs"),
    run: Run = None,
    base: TrainedBase = None,
    merged: Annotated[
        str, typer.Option(help="Write a merged model of this kind too: F16, Q8_0 or Q4_K_M.", show_default=False)
    ] = "",
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Write the trained adapter as the GGUF file that ships, and compare what both say.

    Example: skillstill export explore --merged Q8_0
    """
    check_extra()

    from skillstill.models.sources import locate

    from skillstill_training.cli import release_output
    from skillstill_training.stages.export import merge_into, ship

    folder = skill_folder(skill)
    run_dir = run_folder(run, runs, folder)
    weights = locate(trained_base(base, run_dir, folder), offline=offline)
    with run_dir.alone():
        exported, parity = ship(run_dir, weights, name=folder.absolute().name)
        whole = merge_into(run_dir, weights, merged) if merged else None
    release_output.print_export(exported, parity, whole, as_json=json)
    return 0 if parity.passed else HELD_BACK


def evaluate(
    skill: Skill,
    runs: Runs = Path("runs"),
    run: Run = None,
    base: TrainedBase = None,
    larger: Larger = None,
    wrong: Wrong = None,
    registry: Among = None,
    ray: Ray = "",
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Measure what ships on goals that it has not seen, against every other arm. Each time is a look at the test set.

    Example: skillstill evaluate explore --larger Qwen2.5-0.5B-Instruct-Q4_K_M.gguf
    """
    check_extra()

    from skillstill_training.cli import release_output
    from skillstill_training.evaluation.comparisons import resolve_comparisons
    from skillstill_training.executors.ray_cluster import executor_at
    from skillstill_training.run.recipe import load_recipe
    from skillstill_training.stages.pipeline import measure
    from skillstill_training.stages.publish import registry_of

    folder = skill_folder(skill)
    run_dir = run_folder(run, runs, folder)
    file = trained_base(base, run_dir, folder)
    comparisons = resolve_comparisons(larger, wrong, registry or registry_of(folder), folder.absolute().name, file)
    with run_dir.alone(), executor_at(ray) as executor, release_output.stage_screen() as screen:
        run_dir.follow(load_recipe(folder))
        with screen.stage("evaluate") as tell:
            scorecard = measure(folder, run_dir, file, comparisons, tell, offline=offline, executor=executor)
    release_output.print_scorecard(scorecard, run_dir, as_json=json)
    return 0


def publish(
    skill: Skill,
    runs: Runs = Path("runs"),
    run: Run = None,
    registry: RegistryFile = None,
    size: Size = None,
    json: Json = False,
) -> int:
    """Register the measured adapter as a release if every gate holds; else say which did not. Exit code 2 then.

    Example: skillstill publish explore
    """
    check_extra()

    from skillstill_training.cli import release_output
    from skillstill_training.export.shipped import proof_of
    from skillstill_training.stages.publish import publish, registry_of

    folder = skill_folder(skill)
    run_dir, into = run_folder(run, runs, folder), registry or registry_of(folder)
    with run_dir.alone():
        scorecard = publish(folder, run_dir, into, proof_of(run_dir), size)
    release_output.print_verdict(scorecard, run_dir, into, as_json=json)
    return RELEASED if scorecard.verdict == "released" else HELD_BACK


def report(skill: Skill, runs: Runs = Path("runs"), run: Run = None) -> int:
    """Write what a run found as one page, report.html.

    Example: skillstill report explore
    """
    from skillstill_training.cli import release_output
    from skillstill_training.report import write_report

    release_output.print_place(write_report(run_folder(run, runs, skill_folder(skill))))
    return 0


def train(
    skill: Skill,
    runs: Runs = Path("runs"),
    run: Annotated[
        Path | None, typer.Option("--run", help="The run folder.", show_default="the newest by today's recipe")
    ] = None,
    base: Base = None,
    teacher: TeacherName = "constructed",
    price: Rates = "",
    budget: Spending = "",
    yes: Yes = False,
    minutes: Minutes = None,
    processes: Processes = 1,
    larger: Larger = None,
    wrong: Wrong = None,
    registry: RegistryFile = None,
    size: Size = None,
    ray: Ray = "",
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Go the whole way from a skill folder to a release or the reason why not. Exit code 2 without a release.

    Interrupted, the same command goes on.

    Example: skillstill train explore --budget-minutes 60
    """
    check_extra()

    from skillstill_training.cli import release_output
    from skillstill_training.cli.teachers import judge_at
    from skillstill_training.executors.ray_cluster import executor_at
    from skillstill_training.run.folder import RunFolder
    from skillstill_training.run.recipe import load_recipe
    from skillstill_training.stages.pipeline import TrainingOrder, resume_run, train_skill
    from skillstill_training.stages.publish import registry_of

    folder = skill_folder(skill)
    recipe = load_recipe(folder).sized(size or "")
    run_dir = RunFolder(run.resolve()) if run else resume_run(runs, folder, recipe)
    into = registry or registry_of(folder)
    hired = hired_teacher(teacher, price, budget, yes=yes, judges=True)
    with run_dir.alone(), executor_at(ray) as executor, release_output.stage_screen() as screen:
        order = TrainingOrder(
            teach=_teach(folder, hired, offline, executor),
            judge=judge_at(folder, hired, offline, executor) if hired else None,
            registry=into,
            base=base,
            larger=larger,
            wrong=wrong,
            minutes=minutes,
            offline=offline,
            executor=executor,
            processes=processes,
            size=size,
        )
        ending = train_skill(folder, run_dir, order, screen)
    release_output.print_result(ending, folder.absolute().name, into, as_json=json)
    return RELEASED if ending.verdict == "released" else HELD_BACK


def check_extra() -> None:
    """Raise StageError if the packages that training takes are not installed."""
    from skillstill.errors import StageError

    from skillstill_training.__main__ import missing

    if lacking := missing():
        raise StageError(f"this needs {', '.join(lacking)}: type `pip install 'skillstill[training]'` (about 1.5 GB)")


def _base(given_base: Path | None, skill: Path, size: str) -> "ModelFile":
    """Raise UsageError and SkillError."""
    from skillstill.models.sources import model_file
    from skillstill.skills.skill import load_skill

    return model_file(given_base) if given_base else load_skill(skill).sized(size).subagent.base


def trained_base(given_base: Path | None, run: "RunFolder", skill: Path) -> "ModelFile":
    """Return the one that the run was trained on, if nobody names another.

    Raise UsageError, SkillError and StageError.
    """
    from skillstill_training.run.base import read_base

    noted = None if given_base else read_base(run)
    return noted or _base(given_base, skill, run.recipe().size)


def hired_teacher(teacher: str, price: str, budget: str, *, yes: bool, judges: bool = False) -> "HiredTeacher | None":
    """Return the large model that is named; None if it is the constructed teacher. Raise UsageError."""
    from skillstill_training.cli.teachers import TeacherTerms, hire
    from skillstill_training.teachers.ledger import Budget, Price

    rates, limits = Price.parse(price) if price else None, Budget.parse(budget)
    terms = TeacherTerms(price=rates, budget=limits, judges=judges)
    return None if teacher == "constructed" else hire(teacher, terms, yes=yes)


def _teach(skill: Path, hired: "HiredTeacher | None", offline: bool, executor: "Executor") -> "Teach":
    """Return who solves the training goals, as `skillstill traces` would have it by default."""
    import anyio

    def teach(run: "RunFolder", on_progress: "OnProgress") -> "TeachingProgress":
        if hired is None:
            work = construct_traces(skill, run, None, os.cpu_count() or 1, offline, executor)
        else:
            work = teach_traces(skill, run, hired, (), None, False, offline)
        return anyio.run(work, on_progress)

    return teach
