"""Solve many goals concurrently. The rows of a goal are stored as soon as it is done, and kept after a crash."""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from skillstill.errors import BudgetSpent

from skillstill_training.episode import EpisodeTask, timeless
from skillstill_training.teachers.teacher import TraceRow
from skillstill_training.util.jsonl import Appender, read_lines, write_lines
from skillstill_training.util.tasks import each

Rows = Sequence[TraceRow]
Task = TypeVar("Task", bound=EpisodeTask)


@dataclass
class TeachingProgress:
    """The progress of a teacher on its goals.

    tokens    that the teacher read anew or wrote
    dropped   rows by the reason why they were not kept
    stopped   why the teacher stopped early, else empty; the same command continues
    """

    goals: int
    done: int = 0
    kept: int = 0
    tokens: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    stopped: str = ""

    def count(self, rows: Rows) -> None:
        self.done += 1
        for row in rows:
            self.kept += row.kept
            if not row.kept:
                self.dropped[row.reason] += 1
            if row.trace:
                self.tokens += row.trace.tally.tokens


OnProgress = Callable[[TeachingProgress], None]


async def solve_all(
    goals: Sequence[Task],
    solve: Callable[[Task], Awaitable[Rows]],
    part: Path,
    merged: Path,
    teacher: str,
    at_once: int,
    on_progress: OnProgress,
) -> TeachingProgress:
    """Solve the goals that have no rows in the file `part`. At the end, merge all rows into the file `merged`.

    `merged` is also written if a budget is spent. The file `part` is then kept, and the next run continues from it. It
    is kept, too, if goals have to be solved again, or if it contains goals that are not in `goals`.
    """
    done = read_finished(part)
    progress = TeachingProgress(goals=len(goals))
    for goal in goals:
        if goal.id in done:
            progress.count(done[goal.id])
    with Appender(part) as file:

        async def work(goal: Task) -> None:
            done[goal.id] = await solve(goal)
            file.append(done[goal.id])
            progress.count(done[goal.id])
            on_progress(progress)

        try:
            await each([goal for goal in goals if goal.id not in done], work, at_once)
        except BudgetSpent as spent:
            progress.stopped = str(spent)
    asked = {goal.id for goal in goals}
    _merge(merged, teacher, asked, [row for goal in goals for row in done.get(goal.id, ())])
    if not (progress.stopped or done.keys() - asked or any(row.transient for rows in done.values() for row in rows)):
        part.unlink(missing_ok=True)
    return progress


def read_finished(part: Path) -> dict[str, Rows]:
    """Return the rows of an interrupted run by goal, and write them back without what has to be solved again.

    These are a torn last line, and goals for which the teacher could not be reached.
    """
    if not part.exists():
        return {}
    rows = read_lines(part, TraceRow, torn=True)
    unreached = {row.goal for row in rows if row.transient}
    write_lines(part, rows := [row for row in rows if row.goal not in unreached])
    done: dict[str, list[TraceRow]] = defaultdict(list)
    for row in rows:
        done[row.goal].append(row)
    return dict(done)


def strip_timing(row: TraceRow, workspace: str) -> TraceRow:
    """Return the row without times and machine."""
    return row.model_copy(update={"trace": timeless(row.trace, workspace)}) if row.trace else row


def _merge(merged: Path, teacher: str, asked: Collection[str], rows: Rows) -> None:
    """Write the rows of other teachers, then this teacher's new rows, then its old rows of goals not `asked` now."""
    old = read_lines(merged, TraceRow) if merged.exists() else []
    others = [row for row in old if row.teacher != teacher]
    write_lines(merged, [*others, *rows, *(row for row in old if row.teacher == teacher and row.goal not in asked)])
