"""`report.html` of a run: the results of its adapter, how they were measured, and how to reproduce them.

The page is one file that loads nothing and runs no script. Tables are HTML, charts are SVG, and text from a workspace
or a model is escaped. It needs the scorecard. Other files of the run folder are optional: if one is missing, the page
contains a hint instead.
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template

from pydantic import ValidationError
from skillstill.errors import StageError
from skillstill.util.text import clean

from skillstill_training.report.arms import render_arms
from skillstill_training.report.charts import render_svg
from skillstill_training.report.curves import History, HistoryRow, loss_plot, render_curves, success_plot
from skillstill_training.report.episodes import render_episodes
from skillstill_training.report.families import render_families
from skillstill_training.report.page.resources import frame, read_resource
from skillstill_training.report.page.table import cell, head, link, row, section, text
from skillstill_training.report.reproduction import render_reproduction
from skillstill_training.report.strips import length_strip
from skillstill_training.report.summary import render_summary
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import Cause, Outcome, Scorecard
from skillstill_training.util.jsonl import read_lines, write_text

__all__ = ["draw_curves", "write_report"]
EXAMPLES = 6  # goals that are linked for a cause


def write_report(run: RunFolder) -> Path:
    """Write the page from the files of the run folder and return its path. Raises StageError."""
    card, history = _scorecard(run), _history(run)
    style = (
        read_resource("report.page", "page.css")
        + read_resource("report", "charts.css")
        + read_resource("report", "report.css")
    )
    body = Template(read_resource("report", "report.html")).substitute(
        summary=render_summary(card, run),
        arms=render_arms(card),
        families=render_families(card),
        curves=render_curves(card, history),
        failures=_render_failures(card, run),
        episodes=render_episodes(run, _outcomes(run)),
        reproduction=render_reproduction(card, run),
    )
    write_text(run.report, frame(escape(clean(f"{card.skill} · report of {run.path.name}")), style, body))
    return run.report


def draw_curves(run: RunFolder) -> Path:
    """Write `curves.svg` beside the adapter, with loss and success so far. Raises StageError."""
    history = _history(run)
    style = read_resource("report", "charts.css")
    svg = render_svg("Loss and success over what was read.", loss_plot(history), success_plot(history), style=style)
    write_text(run.adapter / "curves.svg", svg)
    return run.adapter / "curves.svg"


def _render_failures(card: Scorecard, run: RunFolder) -> str:
    """Return a table of the causes of failures. Its goals are links into the run's page, if there is one."""
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
    page = run.page.name if run.page.exists() else ""
    rows = (_cause_row(cause, ranked[0].count, total, page) for cause in ranked)
    return section("causes", "Why goals failed", [*heads, "</tr>"], rows)


def _cause_row(cause: Cause, most: int, total: int, page: str) -> str:
    goals = " ".join(_goal_link(goal, page) for goal in cause.goals[:EXAMPLES])
    share = f"{cause.count / max(1, total):.0%}"
    strip = cell(length_strip(cause.count / max(1, most), "other"), "plotted")
    return row(text(cause.kind), [strip, cell(f"{cause.count:,}"), cell(share), cell(goals, "goals")])


def _goal_link(goal: str, page: str) -> str:
    return f'<a href="{page}#{text(goal)}">{text(goal[:6])}</a>' if page else link(goal[:6])


def _scorecard(run: RunFolder) -> Scorecard:
    skill = run.path.parent.name
    try:
        return Scorecard.model_validate_json(run.scorecard.read_text(encoding="utf-8"))
    except OSError as error:
        raise StageError(f"{run.path} holds no scorecard: type `skillstill evaluate {skill}` first") from error
    except ValidationError as error:
        raise StageError(
            f"{run.scorecard} is no scorecard of this version ({error.errors()[0]['msg']}): "
            f"type `skillstill evaluate {skill}` again"
        ) from error


def _history(run: RunFolder) -> History:
    file = run.adapter / "history.jsonl"
    return read_lines(file, HistoryRow, torn=True) if file.exists() else ()


def _outcomes(run: RunFolder) -> Sequence[Outcome]:
    file = run.outcomes("test", "ours")
    return read_lines(file, Outcome) if file.exists() else ()
