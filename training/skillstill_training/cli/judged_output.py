"""What a person sees of judged figures: whose judgement they are stands beside them."""

import json
import sys
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from skillstill_training.report.formats import ARM_LABELS, format_interval, format_percent, format_points
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.judged import JudgedArm, JudgedFigures

_out = Console(soft_wrap=True, highlight=False, markup=False)


def print_judged(figures: JudgedFigures, run: RunFolder, *, as_json: bool) -> None:
    """Print who judged and what came of it, and where that is."""
    if as_json:
        told = {"folder": str(run.path), **figures.model_dump(mode="json")}
        sys.stdout.write(json.dumps(told, ensure_ascii=False) + "\n")
        return
    for line in judged_lines(figures):
        _out.print(Text(line))
    _out.print(Text(f"{run.judged}; {run.page}"))


def judged_lines(figures: JudgedFigures) -> Iterator[str]:
    """Yield a line for each arm, each criterion and what they cost."""
    goals = f"{figures.n} {' and '.join(figures.splits)} goals in {figures.workspaces} workspaces"
    yield f"{figures.by}, not verified: answers to {goals} that hold all {len(figures.student.criteria)} criteria"
    yield from (_arm_line(arm) for arm in figures.arms)
    gain = f"{format_points(figures.gain.value)} points ({format_interval(figures.gain, format_points)})"
    yield f"  {'more than its base':22} {gain}"
    for ours, theirs in zip(figures.student.criteria, figures.untrained.criteria, strict=True):
        yield f"  {format_percent(ours.share):>4} (base {format_percent(theirs.share):>4})  {ours.asks}"
    cost = "" if figures.usd is None else f", {figures.usd:.4f} USD"
    yield f"  judging took {figures.tokens:,} tokens{cost}"


def _arm_line(arm: JudgedArm) -> str:
    share = f"{format_percent(arm.good.value)} (95 %: {format_interval(arm.good, format_percent)})"
    return f"  {ARM_LABELS[arm.arm]:22} {share}, {arm.answered} answered"
