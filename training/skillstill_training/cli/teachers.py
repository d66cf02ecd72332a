"""A model teacher from first contact to traces: measured before it is paid, held to its budget, told of its score."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from anyio import to_thread
from skillstill.errors import UsageError
from skillstill.models.remote import Endpoint
from skillstill.skills.skill import load_skill
from skillstill.util.hosts import leads_here

from skillstill_training.authoring.goal import Goal
from skillstill_training.run.folder import RunFolder
from skillstill_training.stages.traces import make_traces
from skillstill_training.teachers import TraceRow
from skillstill_training.teachers.batch import OnProgress, TeachingProgress
from skillstill_training.teachers.endpoint import EndpointTeacher
from skillstill_training.teachers.ledger import Budget, Ledger, Price
from skillstill_training.teachers.probe import GOALS, MIN_SUCCESS, TeacherScore, probe
from skillstill_training.teachers.recorded import RecordedGoal, solve_recorded
from skillstill_training.workspaces import workspace_roots


@dataclass(frozen=True, slots=True)
class TeacherTerms:
    """What a model teacher is hired for: attempts at a goal, prices, limits, and how good it has to be, on how many."""

    samples: int = 1
    price: Price | None = None
    budget: Budget = field(default_factory=Budget)
    least: float = MIN_SUCCESS
    probed: int = GOALS
    at_once: int = 2


async def qualified_teacher(
    skill_folder: Path,
    run: RunFolder,
    endpoint: Endpoint,
    terms: TeacherTerms,
    *,
    recorded: Sequence[RecordedGoal] = (),
    limit: int | None = None,
    offline: bool = False,
    on_probe: Callable[[TraceRow], None] = lambda row: None,
    on_score: Callable[[TeacherScore], None] = lambda score: None,
    on_progress: OnProgress = lambda progress: None,
) -> TeachingProgress:
    """Measure the model on validation goals, then let it solve the training goals, or the `recorded` ones instead.

    Raise TeacherError if it is too weak or cannot be reached, BudgetSpent if its probe took the whole budget.
    """
    goals = [goal for goal in run.frozen_goals() if goal.split == "validation"]
    with Ledger(run.path / "ledger.jsonl", terms.price, terms.budget) as ledger:
        teacher = EndpointTeacher(load_skill(skill_folder), endpoint, ledger, samples=terms.samples)
        on_score(score := await _score(skill_folder, run, teacher, goals, terms, offline, on_probe))
        score.check()
        if recorded:
            return await solve_recorded(recorded, teacher, run, at_once=terms.at_once, on_progress=on_progress)
        return await make_traces(
            skill_folder,
            run,
            teacher,
            limit=limit,
            at_once=terms.at_once,
            offline=offline,
            on_progress=on_progress,
        )


async def _score(
    skill: Path,
    run: RunFolder,
    teacher: EndpointTeacher,
    goals: Sequence[Goal],
    terms: TeacherTerms,
    offline: bool,
    on_row: Callable[[TraceRow], None],
) -> TeacherScore:
    """Return the score of an earlier run in this folder, or measure it: a stage that goes on does not pay twice."""
    if earlier := TeacherScore.load(run.path, teacher):
        return earlier.model_copy(update={"least": terms.least})
    roots = await to_thread.run_sync(workspace_roots, skill, {goal.workspace for goal in goals}, offline)
    score = await probe(
        teacher, goals, roots, count=terms.probed, least=terms.least, at_once=terms.at_once, on_row=on_row
    )
    score.save(run.path)
    return score


def check_sending(endpoint: Endpoint, allowed: bool) -> None:
    """Raise UsageError if the content of the user's own folders would leave this machine unasked."""
    if not (allowed or leads_here(endpoint.url)):
        host = urlsplit(endpoint.url).hostname
        raise UsageError(f"{host} would be sent what is in the recorded folders: say --send if that is meant")
