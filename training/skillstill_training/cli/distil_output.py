"""What a person sees before a distillation: what the skill gets, what checks its answers, and what that costs."""

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from skillstill_training.authoring.goal import SPLITS
from skillstill_training.design.draft import Design
from skillstill_training.design.proposals import ProposalLimits
from skillstill_training.run.recipe import TrainConfig
from skillstill_training.stages.judge import ARMS
from skillstill_training.stages.pipeline import TOKENS_A_MINUTE


def print_plan(design: Design, place: Path, minutes: int | None, *, as_json: bool) -> None:
    """Print one line for each part of the way; on standard error if a program reads what comes at the end."""
    table = Table("", "", box=None, show_header=False)
    table.add_row("skill", f"{design.name} ({design.assessment.verdict}), to be written to {place}")
    table.add_row("tools", "; ".join(_tools(design)))
    table.add_row("workspaces", _workspaces(design))
    table.add_row("questions", "; ".join(_questions(design)))
    if design.is_judged:
        table.add_row("figures", _judged(design))
    table.add_row("training", f"{_minutes(minutes):,} minutes of an idle core at most, about")
    Console(stderr=as_json, soft_wrap=True, highlight=False, markup=False).print(table)


def _tools(design: Design) -> Iterator[str]:
    yield ", ".join(design.tools)
    if lacking := design.assessment.tools.uncovered:
        yield f"nothing of ours does what {', '.join(lacking)} do"


def _workspaces(design: Design) -> str:
    if not design.workspaces:
        return f"those of {design.lender}, fetched once"
    made = sum(bool(one.made_by) for one in design.workspaces)
    counts = (f"{sum(one.split == split for one in design.workspaces)} {split}" for split in SPLITS)
    which = f"{made} made by the teacher, {len(design.workspaces) - made} of yours" if made else "your folders"
    return f"{which}, copied: {', '.join(counts)}"


def _questions(design: Design) -> Iterator[str]:
    """Yield what is asked, and what each answer is checked by."""
    if design.families:
        yield f"{len(design.families)} kinds borrowed from {design.lender}, checked by its programs"
    if design.declared:
        yield f"{len(design.declared.kinds)} declared kinds, checked by their queries"
    if design.is_judged:
        yield "proposed by the teacher, and judged by a rubric that it draws: nothing is verified, nothing registered"


def _judged(design: Design) -> str:
    """Return what the teacher is asked after training, and how often at most if that is known."""
    limits = ProposalLimits()
    held_out = sum(one.split != "train" for one in design.workspaces)
    most = ARMS * limits.topics * limits.questions * held_out
    asks = f" ({most:,} at most)" if most else ""
    return f"each answer of the student and of its untrained base{asks} is judged by the teacher, at its price"


def _minutes(minutes: int | None) -> int:
    planned = TrainConfig().tokens // TOKENS_A_MINUTE
    return planned if minutes is None else min(minutes, planned)
