"""Stage 2, `skillstill traces SKILL`: a teacher solves the frozen goals with the real tools; failures are rows too.

Each goal's rows are on disk as soon as it is done: a crash loses the goals in flight, and the same command goes on.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anyio import to_thread
from skillstill.errors import BudgetSpent

from skillstill_training.folder import RunFolder
from skillstill_training.goal import Goal, Split
from skillstill_training.jsonl import Appender, read_lines, write_lines
from skillstill_training.material import roots_of
from skillstill_training.page import write_page
from skillstill_training.solving import timeless
from skillstill_training.tasks import each
from skillstill_training.teacher import Teacher, TraceRow

Rows = Sequence[TraceRow]


@dataclass
class Progress:
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
                self.tokens += row.trace.tally.read_tokens + row.trace.tally.completion_tokens


OnProgress = Callable[[Progress], None]


async def make_traces(
    skill_folder: Path,
    folder: RunFolder,
    teacher: Teacher,
    *,
    split: Split = "train",
    limit: int | None = None,
    at_once: int = 2,
    offline: bool = False,
    on_progress: OnProgress = lambda progress: None,
) -> Progress:
    """Let the teacher solve the goals that it has not solved yet, so many at once. Raises StageError.

    What other teachers left in this folder stays.
    """
    goals = [goal for goal in folder.frozen_goals() if goal.split == split][:limit]
    roots = await to_thread.run_sync(roots_of, skill_folder, {goal.workspace for goal in goals}, offline)
    done = resumed(folder.part(teacher.name), goals)
    progress = Progress(goals=len(goals))
    for rows in done.values():
        progress.count(rows)
    with Appender(folder.part(teacher.name)) as file:

        async def work(goal: Goal) -> None:
            done[goal.id] = [_lean(row, goal) for row in await teacher.solve(goal, roots[goal.workspace])]
            file.append(done[goal.id])
            progress.count(done[goal.id])
            on_progress(progress)

        try:
            await each([goal for goal in goals if goal.id not in done], work, at_once)
        except BudgetSpent as spent:
            progress.stopped = str(spent)
    _merge(folder, teacher.name, [row for goal in goals for row in done.get(goal.id, ())])
    if not progress.stopped:
        folder.part(teacher.name).unlink(missing_ok=True)
    return progress


def resumed(part: Path, goals: Sequence[Goal]) -> dict[str, Rows]:
    """The rows of an earlier, interrupted run, by goal; its last line may be torn and then goes.

    So do those of a goal whose teacher could not be reached.
    """
    if not part.exists():
        return {}
    known = {goal.id for goal in goals}
    rows = read_lines(part, TraceRow, torn=True)
    known -= {row.goal for row in rows if row.transient}
    rows = [row for row in rows if row.goal in known]
    write_lines(part, rows)
    return {id: [row for row in rows if row.goal == id] for id in dict.fromkeys(row.goal for row in rows)}


def _lean(row: TraceRow, goal: Goal) -> TraceRow:
    return row.model_copy(update={"trace": timeless(row.trace, goal.workspace)}) if row.trace else row


def _merge(folder: RunFolder, teacher: str, rows: Rows) -> None:
    """This teacher's rows take their place among those of others, in the order of the goals."""
    others = read_lines(folder.traces, TraceRow) if folder.traces.exists() else []
    write_lines(folder.traces, [*(row for row in others if row.teacher != teacher), *rows])
    write_page(folder)
