"""`skillstill benchmarks`: how well subagents do on public benchmarks that nobody of this project wrote."""

from pathlib import Path
from typing import Annotated

import typer
from skillstill.console.options import Json

from skillstill_training.cli.data import Offline
from skillstill_training.cli.release import Larger


def benchmarks(
    name: Annotated[str, typer.Argument(help="A benchmark. Default: list all, with the scores that are filed.")] = "",
    arms: Annotated[
        str, typer.Option(help="Also: retrieval, stock, larger, largest, the last three also with -direct.")
    ] = "ours,baseline",
    skill: Annotated[str, typer.Option(help="The subagent that is asked. Default: the one it is meant for.")] = "",
    first: Annotated[int | None, typer.Option(min=1, help="Only so many tasks of the standard run.")] = None,
    results: Annotated[Path, typer.Option(help="Where answers and scores are filed.")] = Path("runs/benchmarks"),
    larger: Larger = None,
    threads: Annotated[int | None, typer.Option(min=1, max=256, help="Threads of a model.")] = None,
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Ask a subagent and its baselines the tasks of a benchmark, and score them. Interrupted, the same command goes on.

    Example: skillstill benchmarks geography --first 30
    """
    import anyio
    from skillstill.models.pool import LocalModels, LocalOptions
    from skillstill.skills.skill import load_skill

    from skillstill_training.benchmarks import find
    from skillstill_training.benchmarks.measure import measure
    from skillstill_training.cli import benchmarks_output
    from skillstill_training.cli.data import skill_folder
    from skillstill_training.cli.field import arms_named, file_of, subject_of
    from skillstill_training.field.measure import FieldOptions, field_arms
    from skillstill_training.stages.publish import registry_of

    if not name:
        benchmarks_output.print_all(results, as_json=json)
        return 0
    benchmark = find(name)
    folder = skill_folder(skill or benchmark.skill)
    options = FieldOptions(arms=arms_named(arms), larger=file_of(larger), offline=offline, threads=threads)
    models = LocalModels(LocalOptions(offline=offline, threads=threads))
    subject = subject_of(folder, None, registry_of(folder))
    chosen = list(field_arms(folder, load_skill(folder), subject, models, options))
    with benchmarks_output.progress() as on_progress:
        scores = anyio.run(lambda: measure(benchmark, folder.absolute().name, chosen, first, results, on_progress))
    benchmarks_output.print_scores(scores, as_json=json)
    return 0
