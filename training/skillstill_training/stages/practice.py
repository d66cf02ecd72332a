"""`skillstill practice SKILL`: an adapter tries training questions by itself, and its traces join the next dataset.

Each row is on disk as soon as its question is done: the same command goes on where it was interrupted.
"""

from collections.abc import Sequence
from pathlib import Path

from anyio import to_thread
from skillstill.errors import StageError
from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.skills.skill import load_skill

from skillstill_training.field.arms import PlanArm
from skillstill_training.field.measure import Subject
from skillstill_training.field.plans import load_plans
from skillstill_training.field.practice import OnPractice, Practice
from skillstill_training.field.question import FOLDER, load_questions
from skillstill_training.run.folder import RunFolder
from skillstill_training.teachers import TraceRow
from skillstill_training.util.hashes import drawn
from skillstill_training.util.jsonl import Appender, read_lines
from skillstill_training.workspaces import workspace_roots


async def practise(
    skill_folder: Path,
    run: RunFolder,
    student: Subject,
    limit: int | None = None,
    *,
    threads: int | None = None,
    offline: bool = False,
    on_practice: OnPractice = lambda row: None,
) -> Sequence[TraceRow]:
    """Return what came of the training questions that have a plan, or of so many, drawn by the hash of their ids.

    Raise StageError if no training question has a plan.
    """
    skill = load_skill(skill_folder).sized(run.recipe().size)
    plans = load_plans(skill_folder, "train")
    if not plans:
        raise StageError(f"{skill_folder / FOLDER} has no plans for training questions")
    known = {question.id: question for question in load_questions(skill_folder, "train")}
    chosen = sorted(plans, key=drawn)[:limit]
    names = {known[name].workspace for name in chosen}
    roots = await to_thread.run_sync(workspace_roots, skill_folder / FOLDER, names, offline)
    models = LocalModels(LocalOptions(offline=offline, threads=threads))
    practice = Practice(student.arm(skill, models), PlanArm(skill, plans), known)
    done = {row.goal: row for row in read_lines(run.practice, TraceRow, torn=True)} if run.practice.exists() else {}
    with Appender(run.practice) as file:
        for name in chosen:
            if name not in done:
                done[name] = await practice.attempt(known[name], roots[known[name].workspace])
                file.append([done[name]])
            on_practice(done[name])
    return [done[name] for name in chosen]
