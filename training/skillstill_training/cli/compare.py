"""`skillstill compare TASKS`: what subagents are worth to an orchestrator, measured on the same tasks."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from skillstill.console.options import Json, RegistryFile

from skillstill_training.cli.data import Offline, Spending

if TYPE_CHECKING:
    from skillstill.errors import UsageError
    from skillstill.types import ModelFile

    from skillstill_training.benchmarks.benchmark import Benchmark, Task
    from skillstill_training.compare.arms import Staff
    from skillstill_training.compare.outcome import ArmName, Orchestrator
    from skillstill_training.teachers.ledger import Price

CONTEXT = 8_192  # tokens of an orchestrator that is a file: twice what a subagent of ours reads


def compare(
    tasks: Annotated[
        str, typer.Argument(help="A benchmark, field:SKILL, or a .jsonl file of your own: prompt, folder, gold.")
    ],
    orchestrator: Annotated[
        str,
        typer.Option(
            help="claude-code[:MODEL], anthropic:MODEL, an OpenAI-compatible server as URL#MODEL, a GGUF file, "
            "massgen:URL#MODEL, ideal (the plans of field questions), or none: the subagents alone."
        ),
    ] = "none",
    arms: Annotated[
        str,
        typer.Option(help="Some of alone, script, self, stock, ours, router.", show_default="all that it can be in"),
    ] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many tasks, drawn by their ids.")] = None,
    prices: Annotated[Path | None, typer.Option(help="A TOML file: USD for a million tokens of each model.")] = None,
    budget: Spending = "",
    yes: Annotated[bool, typer.Option("--yes", help="Go on, whatever the forecast after three tasks says.")] = False,
    send: Annotated[bool, typer.Option("--send", help="Folders of your own tasks may be sent elsewhere.")] = False,
    shell: Annotated[bool, typer.Option("--shell", help="Claude Code may run commands in the folders.")] = False,
    small: Annotated[
        Path | None, typer.Option(help="The untrained model of the arm stock, GGUF.", show_default="the base of ours")
    ] = None,
    context: Annotated[int, typer.Option(min=2_048, help="Tokens of an orchestrator that is a file.")] = CONTEXT,
    registry: RegistryFile = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of results.")] = Path("runs/compare"),
    threads: Annotated[int | None, typer.Option(min=1, max=256, help="Threads of a model.")] = None,
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Let an orchestrator do the same tasks with other subagents, and tell what they saved. Interrupted, it goes on.

    Example: skillstill compare field:explore --orchestrator ideal
    """
    import anyio
    from skillstill.models.pool import LocalModels, LocalOptions
    from skillstill.skills.registry import bundled

    from skillstill_training.cli import compare_output
    from skillstill_training.compare.arms import Staff
    from skillstill_training.compare.results import write_results
    from skillstill_training.compare.running import Comparison
    from skillstill_training.compare.tasks import benchmark_of, draw
    from skillstill_training.teachers.ledger import Budget

    benchmark = benchmark_of(tasks, skills := bundled() / "skills", offline=offline)
    folder = out.expanduser() / benchmark.name
    models = LocalModels(LocalOptions(offline=offline, threads=threads))
    staff = Staff(folder, models, registry, _file(small), offline, threads)
    who = _orchestrator(orchestrator, benchmark, skills, staff, shell=shell, context=context)
    if who.receiver and tasks.endswith(".jsonl") and not send:
        raise _usage(f"{who.receiver} would be sent what is in the folders: say --send if that is meant")
    comparison = Comparison(
        benchmark=benchmark,
        tasks=_possible(who, draw(benchmark))[:limit],
        orchestrator=who,
        arms=_arms(arms, who),
        folder=folder,
        staff_key=staff.key,
        price=_price(prices, who),
        budget=Budget.parse(budget),
        agrees=compare_output.agrees(asks=bool(who.receiver) and not yes),
        on_progress=compare_output.on_progress,
    )
    try:
        anyio.run(comparison.run)
    finally:  # a page of what is done, however it ended
        summary, page = write_results(comparison)
    compare_output.print_summary(summary, page, as_json=json)
    return 0


def _orchestrator(
    address: str, benchmark: "Benchmark", skills: Path, staff: "Staff", *, shell: bool, context: int
) -> "Orchestrator":
    """Return who `--orchestrator` means. Raise UsageError."""
    from skillstill.models.remote import Endpoint

    from skillstill_training.cli.teachers import large_model
    from skillstill_training.compare.claude_code import ClaudeCodeOrchestrator
    from skillstill_training.compare.direct import NoOrchestrator
    from skillstill_training.compare.ideal import IdealOrchestrator
    from skillstill_training.compare.massgen import MassGen
    from skillstill_training.compare.own_loop import OwnLoop

    kind, _, rest = address.partition(":")
    match kind:
        case "none":
            return NoOrchestrator(skills, staff)
        case "ideal":
            return IdealOrchestrator.of(skills / benchmark.skill, benchmark.name, staff)
        case "claude-code":
            return ClaudeCodeOrchestrator(rest, staff, shell)
        case "massgen":
            return MassGen(Endpoint.parse(rest, os.environ.get("SKILLSTILL_ENDPOINT_KEY", "")), staff)
    if file := _file(Path(address)) if address.endswith(".gguf") else None:
        return OwnLoop.of_file(file, staff, context)
    return OwnLoop.of_large(large_model(address), address.rpartition("#" if "#" in address else ":")[2], staff)


def _possible(who: "Orchestrator", tasks: "Sequence[Task]") -> "Sequence[Task]":
    """Return the tasks that it can be given: all, but for an ideal one, which needs a plan. Raise UsageError."""
    from skillstill_training.compare.ideal import IdealOrchestrator

    if not isinstance(who, IdealOrchestrator):
        return tasks
    if planned := [task for task in tasks if task.id in who.plans]:
        return planned
    raise _usage("nobody wrote plans for these tasks: an ideal orchestrator needs field:SKILL")


def _arms(names: str, who: "Orchestrator") -> "Sequence[ArmName]":
    """Raise UsageError."""
    asked = [name.strip() for name in names.split(",") if name.strip()]
    if unknown := next((name for name in asked if name not in who.arms), ""):
        raise _usage(f"--arms: the orchestrator {who.name!r} knows {', '.join(who.arms)}; not {unknown!r}")
    return [arm for arm in who.arms if not asked or arm in asked]


def _price(file: Path | None, who: "Orchestrator") -> "Price | None":
    """Raise UsageError."""
    from skillstill_training.compare.prices import price_of, read_prices

    return price_of(read_prices(file.expanduser()), who.model) if file and who.model else None


def _file(path: Path | None) -> "ModelFile | None":
    from skillstill.models.sources import model_file

    return model_file(path.expanduser()) if path else None


def _usage(sentence: str) -> "UsageError":
    from skillstill.errors import UsageError

    return UsageError(sentence)
