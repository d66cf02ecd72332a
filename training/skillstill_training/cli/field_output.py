"""What a person sees of a field test: live progress on standard error, then a line an arm."""

import json as json_text
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from skillstill_training.field.runs import FieldProgress, OnField
from skillstill_training.run.scorecard import FieldResult, FieldScore, Interval

EVERY = 10.0  # seconds between two lines of progress if nobody watches a terminal
HEADS = ("arm", "questions", "right or rightly handed back", "wrong, no warning", "right of those without", "led", "s")
_out = Console(soft_wrap=True, highlight=False, markup=False)
_err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)


@contextmanager
def field_progress() -> Iterator[OnField]:
    """Show a bar for each arm; in a pipe a line every ten seconds."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    tasks, last = {}, time.monotonic()
    with Progress(*columns, console=_err, transient=True, disable=not _err.is_terminal) as bar:

        def on_progress(progress: FieldProgress) -> None:
            nonlocal last
            if progress.arm not in tasks:
                tasks[progress.arm] = bar.add_task(progress.arm, total=progress.questions)
            bar.update(tasks[progress.arm], completed=progress.done)
            if not _err.is_terminal and time.monotonic() - last >= EVERY:
                last = time.monotonic()
                _err.print(Text(f"{progress.arm}: {progress.done} of {progress.questions}"))

        yield on_progress


def print_field(result: FieldResult, results: Path, *, as_json: bool) -> None:
    """Print a row an arm, the differences from ours, and where the page is."""
    if as_json:
        sys.stdout.write(json_text.dumps(result.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n")
        return
    table = Table(*HEADS, box=None)
    for score in result.scores:
        table.add_row(*_cells(score))
    _out.print(table)
    for gain in result.gains:
        low, high = 100 * gain.points.low, 100 * gain.points.high
        _out.print(
            Text(
                f"{100 * gain.points.value:+.1f} points ({low:+.1f} to {high:+.1f}; {gain.questions}) over {gain.other}"
            )
        )
    _out.print(Text(f"{results / f'{result.split}.html'}  (to read)"))


def print_threshold(threshold: float) -> None:
    told = "an answer is never sure" if threshold >= 1 else f"an answer is sure from a confidence of {threshold:.3f} on"
    _err.print(Text(f"{told}: so few of these questions are answered wrongly without a warning"))


def print_frozen(frozen: str, folder: Path) -> None:
    _out.print(Text(f"{folder / 'field'}: the test questions are frozen as {frozen[:12]}"))


def _cells(score: FieldScore) -> tuple[str, ...]:
    shares = (score.good, score.silently_wrong, score.unwarned, score.led)
    return (score.label, f"{score.questions:,}", *map(_interval, shares), f"{score.seconds:.1f}")


def _interval(one: Interval) -> str:
    return f"{one.value:.0%} ({one.low:.0%} to {one.high:.0%})"
