"""Stage 2, `skillstill traces SKILL`: a teacher solves the frozen goals with the real tools; failures are rows too.

What could be done for field questions is found beside them.

Each goal's rows are on disk as soon as it is done: a crash loses the goals in flight, and the same command goes on.
"""

from functools import partial
from pathlib import Path

from anyio import to_thread

from skillstill_training.authoring.goal import Goal, Split
from skillstill_training.field.demonstrations import Demonstrator, lesson_sources, load_demonstrators
from skillstill_training.report.page.page import write_page
from skillstill_training.run.folder import RunFolder
from skillstill_training.teachers import FIELD, Teacher
from skillstill_training.teachers.batch import OnProgress, Rows, TeachingProgress, solve_all, strip_timing
from skillstill_training.workspaces import workspace_roots


async def make_traces(
    skill_folder: Path,
    run: RunFolder,
    teacher: Teacher,
    *,
    split: Split = "train",
    limit: int | None = None,
    at_once: int = 2,
    offline: bool = False,
    on_progress: OnProgress = lambda progress: None,
) -> TeachingProgress:
    """Let the teacher solve the goals that it has not solved yet, so many at once. Raise StageError.

    What other teachers left in this folder stays.
    """
    if split == "train":  # first: a teacher's finished goals are only known until it has solved all of them
        await _demonstrate(skill_folder, run, at_once, offline, on_progress)
    goals = [goal for goal in run.frozen_goals() if goal.split == split][:limit]
    roots = await to_thread.run_sync(workspace_roots, skill_folder, {goal.workspace for goal in goals}, offline)

    async def solve(goal: Goal) -> Rows:
        return [strip_timing(row, goal.workspace) for row in await teacher.solve(goal, roots[goal.workspace])]

    part = run.part(teacher.name)
    progress = await solve_all(goals, solve, part, run.traces, teacher.name, at_once, on_progress)
    write_page(run)
    return progress


async def _demonstrate(
    skill_folder: Path, run: RunFolder, at_once: int, offline: bool, on_progress: OnProgress
) -> None:
    """Write what can be learned from the field questions. What was made of other questions or plans is made anew."""
    if not (sources := lesson_sources(skill_folder)):
        return
    part, done = run.part(FIELD), run.demonstrations
    changed = max(file.stat().st_mtime_ns for file in sources)
    for file in (part, done):
        if file.is_file() and file.stat().st_mtime_ns < changed:
            file.unlink()
    if part.is_file() or not done.is_file():
        load = partial(load_demonstrators, skill_folder, run.recipe().size, offline=offline)
        demonstrators = await to_thread.run_sync(load)
        await solve_all(demonstrators, Demonstrator.rows, part, done, FIELD, at_once, on_progress)
