"""Why goals were not solved, commonest cause first, with some goals of each."""

from skillstill_training.report.page.table import cell, head, link, row, section, text
from skillstill_training.report.strips import length_strip
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import Cause, Scorecard

SHOWN = 6  # goals of a cause


def failures(card: Scorecard, folder: RunFolder) -> str:
    """A bar a cause; goals are links into the run's page, where that is there."""
    if not card.causes:
        return "<section><h2>Why goals failed</h2><p class=hint>No goal failed.</p></section>"
    ranked = sorted(card.causes, key=lambda cause: -cause.count)
    total = sum(cause.count for cause in ranked)
    heads = [
        "<tr>",
        head(f"{total:,} failures"),
        head("", "plotted"),
        head("goals"),
        head("of all"),
        head("for example", "goals"),
    ]
    page = folder.page.name if folder.page.exists() else ""
    rows = (_cause(cause, ranked[0].count, total, page) for cause in ranked)
    return section("causes", "Why goals failed", [*heads, "</tr>"], rows)


def _cause(cause: Cause, most: int, total: int, page: str) -> str:
    goals = " ".join(_goal(goal, page) for goal in cause.goals[:SHOWN])
    share = f"{cause.count / max(1, total):.0%}"
    strip = cell(length_strip(cause.count / max(1, most), "other"), "plotted")
    return row(text(cause.kind), [strip, cell(f"{cause.count:,}"), cell(share), cell(goals, "goals")])


def _goal(goal: str, page: str) -> str:
    return f'<a href="{page}#{text(goal)}">{text(goal[:6])}</a>' if page else link(goal[:6])
