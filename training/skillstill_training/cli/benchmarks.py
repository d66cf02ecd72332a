"""`skillstill benchmarks`: how well subagents do on public benchmarks that nobody of this project wrote."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from skillstill.console.options import Json

from skillstill_training.cli.data import Offline
from skillstill_training.cli.release import Larger

if TYPE_CHECKING:
    from skillstill.types import Models

    from skillstill_training.benchmarks.benchmark import PinnedBenchmark
    from skillstill_training.benchmarks.measure import BenchmarkScore
    from skillstill_training.field.measure import FieldOptions


def benchmarks(
    name: Annotated[str, typer.Argument(help="A benchmark. Default: list all, with the scores that are filed.")] = "",
    arms: Annotated[
        str, typer.Option(help="Also: retrieval, stock, larger, largest, the last three also with -direct.")
    ] = "ours,baseline",
    skill: Annotated[
        str, typer.Option(help="The subagents that are asked, such as logs,tables. Default: the one it is meant for.")
    ] = "",
    everything: Annotated[bool, typer.Option("--all", help="Ask all benchmarks, and print one table of all.")] = False,
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

    from skillstill_training.cli import benchmarks_output
    from skillstill_training.cli.field import arms_named, file_of
    from skillstill_training.field.measure import FieldOptions

    options = FieldOptions(arms=arms_named(arms), larger=file_of(larger), offline=offline, threads=threads)
    models = LocalModels(LocalOptions(offline=offline, threads=threads))
    asked = _asked(name, skill, everything=everything)
    scores = anyio.run(_measure, asked, models, options, first, results)
    if name:
        benchmarks_output.print_scores(scores, as_json=json)
    else:
        benchmarks_output.print_all(results, as_json=json)
    return 0


def _asked(name: str, skills: str, *, everything: bool) -> "Sequence[tuple[PinnedBenchmark, Path]]":
    """Return each benchmark that is asked with the folder of each skill, none if none is named. Raise UsageError."""
    from skillstill.errors import UsageError

    from skillstill_training.benchmarks import BENCHMARKS, find
    from skillstill_training.cli.data import skill_folder

    if name and everything:
        raise UsageError(f"say either {name} or --all")
    asked = [find(name)] if name else BENCHMARKS.values() if everything else ()
    named = [one.strip() for one in skills.split(",") if one.strip()]
    return [(benchmark, skill_folder(skill)) for benchmark in asked for skill in named or [benchmark.skill]]


async def _measure(
    asked: "Sequence[tuple[PinnedBenchmark, Path]]",
    models: "Models",
    options: "FieldOptions",
    first: int | None,
    results: Path,
) -> "Sequence[BenchmarkScore]":
    """Return the scores of all arms, one benchmark and skill after the other."""
    from skillstill.skills.skill import load_skill

    from skillstill_training.benchmarks.measure import measure
    from skillstill_training.cli import benchmarks_output
    from skillstill_training.cli.field import subject_of
    from skillstill_training.field.measure import field_arms
    from skillstill_training.stages.publish import registry_of

    scores: list[BenchmarkScore] = []
    for benchmark, folder in asked:
        subject = subject_of(folder, None, registry_of(folder))
        arms = list(field_arms(folder, load_skill(folder), subject, models, options))
        with benchmarks_output.progress(benchmark.name) as on_progress:
            scores += await measure(benchmark, folder.absolute().name, arms, first, results, on_progress)
    return scores
