"""Many goals solved at once: each one's rows on disk as soon as it is done, and picked up again after a crash."""

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
Question = TypeVar("Question", bound=EpisodeTask)


@dataclass
class TeachingProgress:
    """How far the stage is. `dropped` counts rows by reason; tokens are those that a teacher read anew and wrote.

    `stopped` says why it ended before its goals did: the same command goes on.
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
    goals: Sequence[Question],
    solve: Callable[[Question], Awaitable[Rows]],
    part: Path,
    whole: Path,
    teacher: str,
    at_once: int,
    on_progress: OnProgress,
) -> TeachingProgress:
    """Solve what `part` does not hold yet. In the end its rows go into the file `whole`, in the order of the goals.

    They go there when a budget is spent too, but stay where they are as well, and the next run goes on from there. So
    they do where goals have to be solved again, and where `part` holds goals that are not asked for this time.
    """
    done = _resumed(part)
    progress = TeachingProgress(goals=len(goals))
    for goal in goals:
        if goal.id in done:
            progress.count(done[goal.id])
    with Appender(part) as file:

        async def work(goal: Question) -> None:
            done[goal.id] = await solve(goal)
            file.append(done[goal.id])
            progress.count(done[goal.id])
            on_progress(progress)

        try:
            await each([goal for goal in goals if goal.id not in done], work, at_once)
        except BudgetSpent as spent:
            progress.stopped = str(spent)
    asked = {goal.id for goal in goals}
    _merge(whole, teacher, asked, [row for goal in goals for row in done.get(goal.id, ())])
    if not (progress.stopped or done.keys() - asked or any(row.transient for rows in done.values() for row in rows)):
        part.unlink(missing_ok=True)
    return progress


def _resumed(part: Path) -> dict[str, Rows]:
    """The rows of an earlier, interrupted run, by goal; its last line may be torn and then goes.

    So do those of a goal whose teacher could not be reached.
    """
    if not part.exists():
        return {}
    rows = read_lines(part, TraceRow, torn=True)
    again = {row.goal for row in rows if row.transient}
    write_lines(part, rows := [row for row in rows if row.goal not in again])
    done: dict[str, list[TraceRow]] = defaultdict(list)
    for row in rows:
        done[row.goal].append(row)
    return dict(done)


def lean(row: TraceRow, workspace: str) -> TraceRow:
    """The row without clock and machine."""
    return row.model_copy(update={"trace": timeless(row.trace, workspace)}) if row.trace else row


def _merge(whole: Path, teacher: str, asked: Collection[str], rows: Rows) -> None:
    """This teacher's rows take their place among those of others, in the order of the goals.

    Behind them stay those that it made of goals that are not asked for this time.
    """
    old = read_lines(whole, TraceRow) if whole.exists() else []
    others = [row for row in old if row.teacher != teacher]
    write_lines(whole, [*others, *rows, *(row for row in old if row.teacher == teacher and row.goal not in asked)])
