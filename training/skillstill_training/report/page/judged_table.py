"""The table of judged figures: whose judgement they are stands in its heading."""

from collections.abc import Iterator

from skillstill_training.report.formats import ARM_LABELS, format_interval, format_percent, format_points
from skillstill_training.report.page.table import cell, head, many, number, row, section, text
from skillstill_training.run.judged import JudgedFigures


def render_judged(figures: JudgedFigures) -> str:
    """Return a table with a column for the student and one for its untrained base."""
    heads = ["<tr>", head(""), *(head(text(ARM_LABELS[arm.arm])) for arm in figures.arms), "</tr>"]
    title = f"What it answers, {text(figures.by)} <small>not verified</small>"
    return section("judged", title, heads, _rows(figures)) + _hint(figures)


def _rows(figures: JudgedFigures) -> Iterator[str]:
    arms = figures.arms
    yield row("goals", [cell(number(figures.n)) for _ in arms])
    yield row("answered", [cell(number(arm.answered)) for arm in arms])
    yield row("hold every criterion", [cell(format_percent(arm.good.value)) for arm in arms])
    yield row("95% interval", [cell(format_interval(arm.good, format_percent)) for arm in arms], "sub")
    for criteria in zip(*(arm.criteria for arm in arms), strict=True):
        yield row(text(criteria[0].asks), [cell(format_percent(one.share)) for one in criteria], "sub")


def _hint(figures: JudgedFigures) -> str:
    goals = f"{many(figures.n, 'goal')} of {' and '.join(figures.splits)}, in {many(figures.workspaces, 'workspace')}"
    gain = f"{format_points(figures.gain.value)} points ({format_interval(figures.gain, format_points)})"
    cost = "" if figures.usd is None else f" and {figures.usd:.4f} USD"
    return (
        f"<p class=hint>{goals}, which were not trained on. A model says so of each criterion; nothing verifies that, "
        "and no release rests on these figures. What was handed back or failed holds no criterion. Intervals draw "
        "whole workspaces, or single goals if those are few. "
        f"The student less its base: {gain}. Judging took {figures.tokens:,} tokens{cost}.</p>"
    )
