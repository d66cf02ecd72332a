"""What a person sees of benchmarks: the table of all, the scores of one, live progress on standard error."""

import json as json_text
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text
from skillstill.skills.registry import bundled

from skillstill_training.benchmarks import BENCHMARKS
from skillstill_training.benchmarks.measure import BenchmarkScore, stored_scores
from skillstill_training.benchmarks.seen import seen_by
from skillstill_training.field.runs import FieldProgress, OnField
from skillstill_training.run.scorecard import Interval

EVERY = 10.0  # seconds between two lines of progress
_out = Console(soft_wrap=True, highlight=False, markup=False)
_err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)


@contextmanager
def progress(benchmark: str) -> Iterator[OnField]:
    """Print a line on standard error at most every ten seconds."""
    last = time.monotonic()

    def on_progress(progress: FieldProgress) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            _err.print(Text(f"{benchmark}: {progress.arm}: {progress.done}"))

    yield on_progress


def print_all(results: Path, *, as_json: bool) -> None:
    """Print what there is: each benchmark, whether training saw its folders, and the filed score of each skill."""
    scores = stored_scores(results)
    seen = {one.name: seen_by(bundled() / "skills", one.sources()) for one in BENCHMARKS.values()}
    if as_json:
        rows = [
            {
                "name": one.name,
                "skill": one.skill,
                "licence": one.licence,
                "version": one.version,
                "seen": seen[one.name],
                "scores": [score.model_dump(mode="json") for score in scores.values() if score.benchmark == one.name],
            }
            for one in BENCHMARKS.values()
        ]
        _print_json(rows)
        return
    listed = Table("benchmark", "for", "licence", "version", "seen", box=None)
    for one in BENCHMARKS.values():
        listed.add_row(one.name, one.skill, one.licence, one.version, seen[one.name])
    _out.print(listed)
    if scores:
        _out.print(_matrix(scores))


def _matrix(scores: Mapping[tuple[str, str, str], BenchmarkScore]) -> Table:
    """Return a row for each benchmark and arm, and a column for each skill."""
    skills = sorted({skill for _, skill, _ in scores})
    table = Table("score", "arm", *skills, box=None)
    for one in BENCHMARKS:
        for arm in dict.fromkeys(arm for benchmark, _, arm in scores if benchmark == one):
            table.add_row(one, arm, *(_cell(scores.get((one, skill, arm))) for skill in skills))
    return table


def print_scores(scores: Sequence[BenchmarkScore], *, as_json: bool) -> None:
    """Print a row an arm."""
    if as_json:
        _print_json([score.model_dump(mode="json") for score in scores])
        return
    table = Table("arm", "tasks", "folders", "score", "led", "answered", "s", box=None)
    for one in scores:
        cells = (str(one.tasks), str(one.folders), _interval(one.score), _interval(one.led))
        table.add_row(one.label, *cells, f"{one.answered:.0%}", f"{one.seconds:.1f}")
    _out.print(table)


def _cell(score: BenchmarkScore | None) -> str:
    return f"{_interval(score.score)}, n {score.tasks:,}" if score else ""


def _interval(one: Interval) -> str:
    return f"{one.value:.0%} ({one.low:.0%} to {one.high:.0%})"


def _print_json(value: object) -> None:
    sys.stdout.write(json_text.dumps(value, indent=1, ensure_ascii=False) + "\n")
