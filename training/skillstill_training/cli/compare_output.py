"""What a person sees of a comparison: each attempt as it ends, what the rest will take, then a line for each arm."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from skillstill.errors import UsageError

from skillstill_training.compare.arms import LABELS
from skillstill_training.compare.forecast import Forecast
from skillstill_training.compare.page import GAINS, MEANS, format_interval, savings_rows
from skillstill_training.compare.running import Progress
from skillstill_training.compare.savings import BASES, Savings
from skillstill_training.compare.summary import Summary
from skillstill_training.run.scorecard import Interval

_out = Console(soft_wrap=True, highlight=False, markup=False)
_err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)


def on_progress(progress: Progress) -> None:
    """Print one attempt."""
    row = progress.row
    told = row.outcome.error or f"score {row.score:.2g}, {row.outcome.seconds:.1f} s"
    cost = f", {progress.usd:.4f} USD in all" if progress.usd else ""
    _err.print(Text(f"{progress.done} of {progress.attempts}: {row.task} {row.arm}: {told}{cost}", style="dim"))


def agrees(*, asks: bool) -> Callable[[Forecast], bool]:
    """Return what prints a forecast, and asks whether to go on. Raise UsageError if nobody is at a terminal."""
    if asks and not sys.stdin.isatty():
        raise UsageError("what it costs is asked at a terminal, after the first tasks: without one, say --yes")

    def ask(forecast: Forecast) -> bool:
        _err.print(Text(f"still to do: {forecast}"))
        return not asks or typer.confirm("Go on?", err=True)

    return ask


def print_summary(summary: Summary, page: Path, *, as_json: bool) -> None:
    """Print a row for each arm, what each gains over the orchestrator alone and saves, and where the page is."""
    if as_json:
        sys.stdout.write(summary.model_dump_json(indent=1) + "\n")
        return
    _print_table("arm", MEANS, {f"{LABELS[one.arm]} ({one.tasks})": one.means for one in summary.arms})
    _print_table("against alone", GAINS, {f"{LABELS[one.arm]} ({one.pairs})": one.gains for one in summary.arms})
    for one in summary.arms:
        if one.savings:
            _print_savings(LABELS[one.arm], one.savings)
    _out.print(Text(f"{page}  (to read)"))


def _print_savings(label: str, savings: Savings) -> None:
    table = Table(f"saved by {label}", *BASES.values(), box=None)
    for name, cells in savings_rows(savings):
        table.add_row(name, *cells)
    _out.print(table)


def _print_table(name: str, heads: Mapping[str, str], rows: Mapping[str, Mapping[str, Interval]]) -> None:
    known = [measure for measure in heads if any(measure in values for values in rows.values())]
    table = Table(name, *(heads[measure] for measure in known), box=None)
    for label, values in rows.items():
        if values:
            table.add_row(label, *(format_interval(one, values[one]) if one in values else "–" for one in known))
    if known:
        _out.print(table)
