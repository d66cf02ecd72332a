"""`skillstill practice`: an adapter tries training questions by itself."""

from pathlib import Path
from typing import Annotated

import typer
from skillstill.console.options import Json

from skillstill_training.cli.data import Offline, Run, Runs, Skill, run_folder, skill_folder


def practice(
    skill: Skill,
    runs: Runs = Path("runs"),
    run: Run = None,
    student: Annotated[
        Path | None, typer.Option(help="The run whose exported adapter tries them. Default: the release.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many questions.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of the model.")] = None,
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Let an adapter try the training questions that have a plan. Its traces join the next dataset.

    What it solves is learned from; where a call led nowhere, the way on is. Interrupted, the same command goes on.
    Example: skillstill practice tables --student runs/tables/20261127T090000
    """
    import anyio

    from skillstill_training.cli import output
    from skillstill_training.cli.field import subject_of
    from skillstill_training.run.folder import RunFolder
    from skillstill_training.stages.practice import practise
    from skillstill_training.stages.publish import registry_of

    folder = skill_folder(skill)
    run_dir = run_folder(run, runs, folder)
    subject = subject_of(folder, RunFolder(student) if student else None, registry_of(folder))
    with run_dir.alone(), output.practising_progress(limit) as on_practice:
        rows = anyio.run(
            lambda: practise(folder, run_dir, subject, limit, threads=threads, offline=offline, on_practice=on_practice)
        )
    output.print_practice(rows, run_dir, as_json=json)
    return 0
