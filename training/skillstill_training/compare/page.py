"""The page of a comparison: the arms, what they gain, and each task with the transcripts of all arms side by side.

The page is one file that loads nothing and runs no script. Text from a workspace or a model is escaped.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template

from skillstill_training.benchmarks.benchmark import Task
from skillstill_training.compare.arms import LABELS
from skillstill_training.compare.outcome import Row, Step
from skillstill_training.compare.running import transcript
from skillstill_training.compare.savings import BASES, SESSIONS, Savings, WorkSavings
from skillstill_training.compare.summary import ArmFigures, Summary
from skillstill_training.report.page.resources import frame, read_resource
from skillstill_training.report.page.table import cell, head, many, row, section, text
from skillstill_training.run.scorecard import Interval
from skillstill_training.util.jsonl import write_text

SHOWN = 1_200  # characters of a step that are shown
TASKS = 300  # that are shown with their transcripts: a browser opens such a page in a second or two
MARKS = {"said": "", "called": "> ", "read": "  "}
MEANS = {
    "score": "score", "read": "tokens read anew", "cached": "from the cache", "written": "written",
    "local": "local tokens", "seconds": "seconds", "usd": "USD for 1,000 tasks",
}  # fmt: skip
GAINS = {
    "score": "score", "tokens": "tokens saved", "net": "net of lost tasks", "seconds": "seconds saved",
    "usd": "USD saved on 1,000 tasks",
}  # fmt: skip


def write_comparison(file: Path, summary: Summary, tasks: Sequence[Task], rows: Sequence[Row]) -> None:
    """Write the page; the transcripts lie beside it. Raise StageError."""
    style = read_resource("report.page", "page.css") + read_resource("report", "field.css")
    style += read_resource("compare", "compare.css")
    body = Template(read_resource("compare", "compare.html")).substitute(
        head=_head(summary),
        arms=_table("arms", "The arms", MEANS, summary, "means"),
        gains=_table("gains", "Against the orchestrator alone, on the same tasks", GAINS, summary, "gains"),
        savings="".join(_savings(summary)),
        tasks="".join(_tasks(file.parent, tasks, rows)),
    )
    write_text(file, frame(text(f"{summary.benchmark} · {summary.orchestrator}"), style, body))


def format_interval(measure: str, interval: Interval) -> str:
    """Format a figure with its interval: `62% (51% to 73%)`, `-1,204 (-2,000 to -310)`."""
    digits = ".0%" if measure == "score" else ",.2f" if measure == "usd" else ",.1f" if measure == "seconds" else ",.0f"
    value, low, high = (f"{one:z{digits}}" for one in (interval.value, interval.low, interval.high))
    return f"{value} ({low} to {high})"


def savings_rows(savings: Savings) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield what is told of the work, then of sessions, each with a cell for each basis."""
    bases = [savings.bases[basis] for basis in BASES]
    yield "tasks", [str(one.tasks) for one in bases]
    yield "tokens read inline", [_told(one, "inline", one.inline) for one in bases]
    yield "tokens saved", [_told(one, "tokens", one.work.tokens) for one in bases]
    yield "share of them saved", [_told(one, "score", one.work.share) for one in bases]
    for count in SESSIONS:
        name = f"share, {many(count, 'task')} a session: {savings.fixed / count:,.0f} tokens more each"
        yield name, [_told(one, "score", one.sessions[count].share) for one in bases]


def _told(of: WorkSavings, measure: str, interval: Interval) -> str:
    return format_interval(measure, interval) if of.tasks else "–"


def _savings(summary: Summary) -> Iterator[str]:
    """Yield a table for each arm of an ideal orchestrator that may ask subagents."""
    heads = ["<tr>", head("saved"), *map(head, BASES.values()), "</tr>"]
    for arm in summary.arms:
        if arm.savings:
            rows = [row(text(name), map(cell, map(text, cells))) for name, cells in savings_rows(arm.savings)]
            yield section(f"saved-{arm.arm}", text(f"What is saved: {LABELS[arm.arm]}"), heads, rows)


def _head(summary: Summary) -> str:
    asked = max((arm.tasks for arm in summary.arms), default=0)
    lead = f"{many(asked, 'task')} of {summary.benchmark}; 95 % intervals by a bootstrap that draws tasks."
    return (
        f"<header><p class=over>skillstill · comparison</p><h1>{text(summary.orchestrator)}</h1>"
        f"<p class=lead>{text(lead)}</p></header>"
    )


def _table(id: str, title: str, names: Mapping[str, str], summary: Summary, part: str) -> str:
    """Return a table of the measures that are known of some arm; nothing if there are none."""
    figures: list[tuple[ArmFigures, Mapping[str, Interval]]] = [(arm, getattr(arm, part)) for arm in summary.arms]
    shown = [(arm, values) for arm, values in figures if values]
    known = [name for name in names if any(name in values for _, values in shown)]
    heads = ["<tr>", head("arm"), head("tasks"), *(head(names[name]) for name in known), "</tr>"]
    body = (
        row(text(LABELS[arm.arm]), [cell(str(_count(arm, part))), *(_cell(name, values.get(name)) for name in known)])
        for arm, values in shown
    )
    return section(id, title, heads, body) if shown else ""


def _count(arm: ArmFigures, part: str) -> int:
    return arm.pairs if part == "gains" else arm.tasks


def _cell(name: str, value: Interval | None) -> str:
    return cell(text(format_interval(name, value)) if value else "–")


def _tasks(folder: Path, tasks: Sequence[Task], rows: Sequence[Row]) -> Iterator[str]:
    """Yield the tasks, first those on which the arms differ."""
    by_task: defaultdict[str, list[Row]] = defaultdict(list)
    for one in rows:
        by_task[one.task].append(one)
    asked = [task for task in tasks if task.id in by_task]
    asked.sort(key=lambda task: len({one.score for one in by_task[task.id]}) < 2)
    for task in asked[:TASKS]:
        columns = "".join(_column(one, transcript(folder, one)) for one in by_task[task.id])
        marks = "".join(_mark(one) for one in by_task[task.id])
        yield (
            f"<details class=question><summary>{marks}<span class=prompt>{text(task.prompt)}</span></summary>"
            f"<p class=gold>{text(task.id)}: {text(str(task.gold)[:SHOWN])}</p>"
            f"<div class=beside>{columns}</div></details>"
        )


def _mark(one: Row) -> str:
    tone = "good" if one.score == 1 else "bad" if one.score == 0 else "warm"
    return f"<span class='mark {tone}'>{text(one.arm)} {one.score:.2g}</span>"


def _column(one: Row, steps: Sequence[Step]) -> str:
    paid = one.outcome.paid
    told = f"{paid.prompt - paid.reused:,} read, {paid.reused:,} cached, {paid.completion:,} written"
    lines = "".join(_line(step) for step in steps)
    return (
        f"<section><h3>{text(LABELS[one.arm])}</h3><p>{text(told)}, {one.outcome.local_tokens:,} local, "
        f"{one.outcome.seconds:.1f} s</p><p class=answer>{text(one.outcome.answer) or '(no answer)'}</p>"
        f"{lines}</section>"
    )


def _line(step: Step) -> str:
    words = step.text if len(step.text) <= SHOWN else f"{step.text[:SHOWN]}…"
    return f"<pre class='{'inside' if step.inside else 'own'}'>{MARKS[step.kind]}{text(words)}</pre>"
