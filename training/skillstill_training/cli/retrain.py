"""`skillstill retrain NAME`: what was said of runs goes into the next release, if every gate holds."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from skillstill.console.options import Json, SubagentName

from skillstill_training.cli.data import Offline, Runs, Yes
from skillstill_training.cli.release import HELD_BACK, RELEASED, Larger, Minutes, RegistryFile

if TYPE_CHECKING:
    from skillstill_training.run.folder import RunFolder
    from skillstill_training.stages.retrain import RetrainingPlan
    from skillstill_training.teachers.batch import OnProgress, TeachingProgress


def retrain(
    subagent: SubagentName,
    runs: Runs = Path("runs"),
    minutes: Minutes = None,
    larger: Larger = None,
    registry: RegistryFile = None,
    yes: Yes = False,
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Make the next release of a subagent from feedback: a plan, lessons, training, all gates, a verdict.

    Interrupted, the same command goes on. Exit code 2 without a release.

    Example: skillstill retrain explore --budget-minutes 60
    """
    from skillstill.skills.registry import Registry

    from skillstill_training.cli import release_output
    from skillstill_training.cli.release import check_extra
    from skillstill_training.stages.pipeline import TrainingOrder
    from skillstill_training.stages.retrain import place_questions, plan_retraining, resume_retraining, retrain

    check_extra()
    plan = plan_retraining(Registry(registry, Path()).entry(subagent), minutes)
    if not json:
        _print_plan(plan)
    if why := plan.why_not():
        typer.echo(f"skillstill: {why}: say more with `skillstill feedback RUN right|wrong`", err=True)
        return HELD_BACK
    if not (yes or _agreed(subagent)):
        return 1
    place_questions(plan)
    run = resume_retraining(runs, plan)

    def teach(run: "RunFolder", on_progress: "OnProgress") -> "TeachingProgress":
        return _construct(plan.folder, run, on_progress, offline=offline)

    order = TrainingOrder(teach=teach, registry=plan.registry, larger=larger, minutes=minutes, offline=offline)
    with run.alone(), release_output.stage_screen() as screen:
        ending = retrain(plan, run, order, screen)
    release_output.print_result(ending, subagent, plan.registry, as_json=json)
    return RELEASED if ending.verdict == "released" else HELD_BACK


def _construct(folder: Path, run: "RunFolder", on_progress: "OnProgress", *, offline: bool) -> "TeachingProgress":
    import anyio

    from skillstill_training.cli.data import construct_traces
    from skillstill_training.executors.executor import IN_PROCESS

    return anyio.run(construct_traces(folder, run, None, os.cpu_count() or 1, offline, IN_PROCESS), on_progress)


def _print_plan(plan: "RetrainingPlan") -> None:
    """Print what the feedback becomes and what that costs."""
    from skillstill_training.stages.pipeline import TOKENS_A_MINUTE

    own, tokens = plan.own, plan.train.tokens
    left_out = "".join(f", {count} left out ({why})" for why, count in own.left_out.items())
    typer.echo(f"release    {plan.listed.entry.label}, from its adapter; the next one into {plan.registry}")
    typer.echo(f"feedback   {len(own.lessons)} lessons, {len(own.asked)} questions for the gate{left_out}")
    typer.echo(f"training   {tokens:,} tokens at most, about {tokens // TOKENS_A_MINUTE:,} minutes of an idle core")


def _agreed(name: str) -> bool:
    """Ask a person. Raise UsageError if nobody is at a terminal."""
    from skillstill.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError("whether to train again is asked at a terminal: without one, say --yes")
    return typer.confirm(f"Retrain {name}?", default=True, err=True)
