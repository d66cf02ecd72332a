"""What a person sees of the stages: live progress on standard error, one table and the place of the artifact after."""

import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text
from skillstill.errors import UsageError

from skillstill_training.authoring.goal import SPLITS
from skillstill_training.evaluation.baseline import BaselineScore
from skillstill_training.field.practice import OnPractice
from skillstill_training.run.folder import RunFolder
from skillstill_training.sampling.gates import shares
from skillstill_training.sampling.sampler import FamilyTally
from skillstill_training.stages.dataset import Dataset
from skillstill_training.stages.goals import GoalsListener, MadeGoals
from skillstill_training.teachers import TraceRow
from skillstill_training.teachers.batch import OnProgress
from skillstill_training.teachers.batch import TeachingProgress as TraceProgress
from skillstill_training.teachers.forecast import Forecast
from skillstill_training.teachers.probe import TeacherScore
from skillstill_training.teachers.recorded import RecordedGoals
from skillstill_training.util.reasons import kind_of
from skillstill_training.workspaces import Source

EVERY = 10.0  # seconds between two lines of progress if nobody watches a terminal
REASONS = 5  # commonest reasons that are told
_out = Console(soft_wrap=True, highlight=False, markup=False)
_err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)


@contextmanager
def sampling_progress(workspaces: int | None = None) -> Iterator[GoalsListener]:
    """Show progress by workspace, of so many, then by family of each split, with a bar for the one at work."""
    with _bar() as bar:
        task = bar.add_task("workspaces", total=workspaces, note="")
        begun = itertools.count()

        def on_workspace(source: Source) -> None:
            bar.update(task, description=f"workspace {source.name}", completed=next(begun))
            if not _err.is_terminal:
                _err.print(Text(f"workspace {source.name}"))

        def on_goals(tally: FamilyTally) -> None:
            dropped = f"{tally.dropped.total()} dropped" if tally.dropped else ""
            name = f"{tally.split} {tally.family}"
            bar.update(task, description=name, total=tally.wanted, completed=tally.made, note=dropped)

        yield GoalsListener(on_workspace, on_goals)


@contextmanager
def solving_progress() -> Iterator[OnProgress]:
    """Show how many are done, kept and dropped, with reasons, the tokens and the time left."""
    last, bar = time.monotonic(), _bar()
    task = bar.add_task("traces", total=None, note="")

    def on_progress(progress: TraceProgress) -> None:
        nonlocal last
        bar.start()  # not before: a person may be asked something first
        bar.update(task, total=progress.goals, completed=progress.done, note=_note(progress))
        if not _err.is_terminal and time.monotonic() - last >= EVERY:
            last = time.monotonic()
            _err.print(Text(f"{progress.done} of {progress.goals} goals, {_note(progress)}"))

    try:
        yield on_progress
    finally:
        bar.stop()


@contextmanager
def practising_progress(questions: int | None) -> Iterator[OnPractice]:
    """Show how many of the questions are tried, and what of it can be learned."""
    bar, kept = _bar(), itertools.count(1)
    task = bar.add_task("practice", total=questions, note="")

    def on_practice(row: TraceRow) -> None:
        bar.update(task, advance=1, note=f"{next(kept)} kept" if row.kept else "")

    with bar:
        yield on_practice


def print_practice(rows: Sequence[TraceRow], run: RunFolder, *, as_json: bool) -> None:
    """Print how many questions the adapter solved, how many mistakes are led on from, and where the traces are."""
    kept = [row.trace for row in rows if row.kept and row.trace]
    led_on = sum(any(turn.mistaken for turn in trace.messages) for trace in kept)
    counts = {"questions": len(rows), "solved": len(kept) - led_on, "led on": led_on}
    if as_json:
        return _json({"folder": str(run.path), **counts})
    table = Table(*counts, box=None)
    table.add_row(*map(str, counts.values()))
    _out.print(table)
    return _where(run.practice, run)


def print_goals(made: MadeGoals, *, as_json: bool) -> None:
    """Print a row a family, below them the shares of each split and where the goals are."""
    if as_json:
        return _json(_goals_summary(made))
    table = Table("family", *SPLITS, "calls", "dropped, commonest reason first", box=None)
    for family in made.families:
        tallies = [tally for tally in made.tallies if tally.family == family.name]
        mine = [goal for goal in made.goals if goal.family == family.name]
        calls = f"{sum(goal.calls for goal in mine) / max(1, len(mine)):.1f}"
        table.add_row(
            family.name, *map(_made, tallies), calls, _reasons(sum((one.dropped for one in tallies), Counter()))
        )
    _out.print(table)
    for split in SPLITS:
        mine = [goal for goal in made.goals if goal.split == split]
        measured = ", ".join(f"{share:.0%} {name}" for name, share in shares(mine, made.families).items())
        _out.print(Text(f"{split}: {len(mine)} goals; {measured}"))
    if made.idle:
        _out.print(
            Text(
                f"no goal came from {', '.join(made.idle)}: nothing was found there, or enough elsewhere",
                style="yellow",
            )
        )
    return _where(made.run.goals, made.run)


def print_probe(row: TraceRow) -> None:
    """Print one goal that a model teacher was measured on, as soon as it is done."""
    _err.print(Text(f"measured on {row.goal}: {'solved' if row.kept else row.reason}", style="dim"))


def print_forecast(forecast: Forecast) -> bool:
    """Print what a model teacher's work will take; True: it goes on."""
    _err.print(Text(f"still to do: {forecast}"))
    return True


def asked_after_forecast() -> Callable[[Forecast], bool]:
    """Return what prints a forecast and asks whether to go on; whoever agreed is not asked again.

    Raise UsageError if nobody is at a terminal.
    """
    if not sys.stdin.isatty():
        raise UsageError(
            "what a teacher costs is asked at a terminal, after its first goals: "
            "without one, type the command with --yes"
        )

    agreed = False

    def ask(forecast: Forecast) -> bool:
        nonlocal agreed
        agreed = print_forecast(forecast) and (agreed or typer.confirm("Go on?", err=True))
        return agreed

    return ask


def print_teacher_score(score: TeacherScore) -> None:
    """Print how good a model teacher is, before it works."""
    _err.print(Text(str(score), style="red" if score.is_too_weak else "green"))


def print_recorded(recorded: RecordedGoals) -> None:
    """Print what was found in transcripts."""
    text = f"{recorded.files} files, {recorded.asked} requests, {len(recorded.goals)} goals"
    secrets = f"; secrets removed: {_reasons(recorded.secrets)}" if recorded.secrets else ""
    dropped = f"; dropped: {_reasons(recorded.dropped)}" if recorded.dropped else ""
    _err.print(Text(f"{text}{secrets}{dropped}"))


def print_traces(progress: TraceProgress, run: RunFolder, *, as_json: bool) -> None:
    """Print what became of the goals, and where the traces are."""
    if as_json:
        return _json({"folder": str(run.path), **progress.__dict__})
    table = Table("goals", "kept", "tokens", "dropped, commonest reason first", box=None)
    table.add_row(str(progress.done), str(progress.kept), f"{progress.tokens:,}", _reasons(progress.dropped))
    _out.print(table)
    if progress.stopped:
        _out.print(Text(progress.stopped, style="yellow"))
    return _where(run.traces, run)


def print_baseline(standing: BaselineScore, *, as_json: bool) -> None:
    """Print a row a family and the mean over families, each with the same weight."""
    if as_json:
        return _json({"success": standing.success, "solved": dict(standing.solved), "asked": dict(standing.asked)})
    table = Table("family", "solved", "of", "", box=None)
    for family, asked in standing.asked.items():
        table.add_row(family, str(standing.solved[family]), str(asked), f"{standing.solved[family] / asked:.0%}")
    _out.print(table)
    _out.print(
        Text(f"{standing.success:.1%} of {sum(standing.asked.values())} goals, each family with the same weight")
    )
    return None


def print_dataset(dataset: Dataset, run: RunFolder, *, as_json: bool) -> None:
    """Print how full each cell is, and where the samples are."""
    if as_json:
        return _json({"folder": str(run.path), "samples": len(dataset.samples), "cells": dict(dataset.cells)})
    table = Table("family/tools/calls/outcome", "samples", "", box=None)
    for cell, count in dataset.cells.items():
        table.add_row(cell, str(count), "not declared" if cell in dataset.undeclared else "")
    _out.print(table)
    _out.print(Text(f"{len(dataset.samples)} samples; left out: {_reasons(Counter(dataset.dropped)) or 'none'}"))
    return _where(run.dataset, run)


def _bar() -> Progress:
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TimeRemainingColumn(), TextColumn("{task.fields[note]}"),
    )  # fmt: skip
    return Progress(*columns, console=_err, transient=True, disable=not _err.is_terminal)


def _note(progress: TraceProgress) -> str:
    return f"{progress.kept} kept, {progress.tokens:,} tokens; dropped: {_reasons(progress.dropped) or 'none'}"


def _made(tally: FamilyTally) -> str:
    return str(tally.made) if tally.made >= tally.wanted else f"{tally.made} of {tally.wanted}"


def _reasons(dropped: Mapping[str, int]) -> str:
    """Return the commonest kinds of reasons."""
    kinds: Counter[str] = Counter()
    for reason, count in dropped.items():
        kinds[kind_of(reason)] += count
    return "; ".join(f"{count} {kind}" for kind, count in kinds.most_common(REASONS))


def _where(file: object, run: RunFolder) -> None:
    _out.print(Text(f"{file}\n{run.page}  (to read)"))


def _goals_summary(made: MadeGoals) -> dict[str, Any]:
    rows = [{**tally.__dict__, "dropped": dict(tally.dropped)} for tally in made.tallies]
    return {"folder": str(made.run.path), "goals": len(made.goals), "families": rows, "idle": list(made.idle)}


def _json(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=False, default=str) + "\n")
