"""`index.html` of a run's folder: its goals and traces, in one file that loads nothing.

Tables are HTML (`goal_table`, `trace_table`). Goals are data (`cards`), which `page.js` renders only when they are
visible, so that a page with thousands stays fast. Text from a workspace is escaped, and the page's policy lets no other
script run.
"""

import json
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from string import Template

from skillstill.util.text import clean

from skillstill_training.authoring.goal import Goal
from skillstill_training.report.page.cards import build_cards
from skillstill_training.report.page.goal_table import render_goals, render_header
from skillstill_training.report.page.judged_table import render_judged
from skillstill_training.report.page.resources import frame, read_resource
from skillstill_training.report.page.trace_table import render_traces
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.judged import read_judged
from skillstill_training.teachers import TraceRow
from skillstill_training.util.jsonl import read_lines, write_text

__all__ = ["write_page"]
# No text can end the element that contains the data.
SAFE = str.maketrans({"&": "\\u0026", "<": "\\u003c", ">": "\\u003e"})


def write_page(run: RunFolder) -> Path:
    """Write the page from the goals, the traces and the judged figures, if there are any, and return its path.

    Raises StageError.
    """
    goals = read_lines(run.goals, Goal)
    rows = read_lines(run.traces, TraceRow) if run.traces.exists() else []
    skill = goals[0].skill if goals else run.path.parent.name
    style, script = read_resource("report.page", "page.css"), read_resource("report.page", "page.js")
    body = Template(read_resource("report.page", "page.html")).substitute(
        opening=render_header(skill, run, goals, rows),
        tables="".join(_tables(run, goals, rows)),
        data=_embed(build_cards(goals, rows)),
        script=script,
    )
    write_text(run.page, frame(escape(clean(f"{skill} · {run.path.name}")), style, body, script))
    return run.page


def _tables(run: RunFolder, goals: Sequence[Goal], rows: Sequence[TraceRow]) -> Iterator[str]:
    yield render_goals(run, goals, rows)
    if rows:
        yield render_traces(rows)
    if judged := read_judged(run):
        yield render_judged(judged)


def _embed(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(SAFE)
