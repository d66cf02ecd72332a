"""A model teacher from first contact to traces: measured before it is paid, held to its budget, told of its score.

Of a skill with a rubric it judges the student, too.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio import to_thread
from skillstill.errors import TeacherError, UsageError
from skillstill.models.remote import Endpoint
from skillstill.skills.skill import load_skill
from skillstill.types import ModelFile

from skillstill_training.authoring.checks import Judged
from skillstill_training.authoring.goal import Goal
from skillstill_training.cli.output import asked_after_forecast, print_forecast
from skillstill_training.executors.executor import Executor
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.judged import JudgedFigures
from skillstill_training.stages.judge import JudgingOptions, answers_to_judge, judge_student
from skillstill_training.stages.pipeline import Judge, Tell, exported_adapter
from skillstill_training.stages.traces import make_traces
from skillstill_training.teachers import TraceRow
from skillstill_training.teachers.batch import OnProgress, TeachingProgress, read_finished
from skillstill_training.teachers.forecast import FIRST, Forecast
from skillstill_training.teachers.large_models import AnthropicModel, EndpointModel, LargeModel
from skillstill_training.teachers.ledger import Budget, Ledger, Price
from skillstill_training.teachers.model_teacher import ModelTeacher
from skillstill_training.teachers.probe import GOALS, MIN_SUCCESS, TeacherScore, measured_rows, probe, probe_file
from skillstill_training.teachers.recorded import ATTEMPTS, RecordedGoal, recorded_part, solve_recorded
from skillstill_training.teachers.rubric import RubricJudge, prove_judge
from skillstill_training.workspaces import workspace_roots

NOT_AGREED = "nothing more was spent; what the teacher was measured on is kept, and the same command asks again"


@dataclass(frozen=True, slots=True)
class TeacherTerms:
    """What a model teacher is hired for: attempts at a goal, prices, limits, and how good it has to be, on how many.

    judges   the student, too, if the skill has a rubric: the forecast includes that
    """

    samples: int = 1
    price: Price | None = None
    budget: Budget = field(default_factory=Budget)
    least: float = MIN_SUCCESS
    probed: int = GOALS
    at_once: int = 2
    judges: bool = False


@dataclass(frozen=True, slots=True)
class HiredTeacher:
    """A large model, its terms, and who is asked whether it may go on for what its work will take."""

    model: LargeModel
    terms: TeacherTerms
    agrees: Callable[[Forecast], bool]


@dataclass(frozen=True, slots=True)
class Employer:
    """Who is told how a teacher does, and asked whether it may go on for what that takes."""

    on_probe: Callable[[TraceRow], None] = lambda row: None
    agrees: Callable[[Forecast], bool] = lambda forecast: True
    on_score: Callable[[TeacherScore], None] = lambda score: None


def large_model(address: str) -> LargeModel:
    """Return the model that `--teacher` names. Raise UsageError."""
    kind, _, model = address.partition(":")
    if kind == "claude-code":
        from skillstill_training.teachers.claude_code import ClaudeCode  # late: with it comes mcp, which takes a second

        return ClaudeCode(model)
    if kind == "anthropic":
        return AnthropicModel.named(model, os.environ)
    return EndpointModel(Endpoint.parse(address, os.environ.get("SKILLSTILL_ENDPOINT_KEY", "")))


def hire(address: str, terms: TeacherTerms, *, yes: bool) -> HiredTeacher:
    """Return the teacher that `--teacher` names. Unless `yes`, a person is asked before it costs anything to speak of.

    Raise UsageError, that too if nobody is there to be asked.
    """
    model = large_model(address)
    is_free = not model.receiver and terms.price is None
    return HiredTeacher(model, terms, print_forecast if yes or is_free else asked_after_forecast())


async def qualified_teacher(
    skill_folder: Path,
    run: RunFolder,
    model: LargeModel,
    terms: TeacherTerms,
    *,
    recorded: Sequence[RecordedGoal] = (),
    limit: int | None = None,
    offline: bool = False,
    employer: Employer = Employer(),
    on_progress: OnProgress = lambda progress: None,
) -> TeachingProgress:
    """Measure the model on validation goals, then let it solve the training goals, or the `recorded` ones instead.

    After the first few goals, its employer hears what the rest will take, and is asked. Raise TeacherError if that is
    too much, or if the model is too weak or cannot be reached, BudgetSpent if its probe took the whole budget.
    """
    goals = run.frozen_goals()
    measured = [goal for goal in goals if goal.split == "validation"]
    roots = await to_thread.run_sync(workspace_roots, skill_folder, {goal.workspace for goal in measured}, offline)
    with Ledger(run.path / "ledger.jsonl", terms.price, terms.budget, model.tells_cost) as ledger:
        teacher = ModelTeacher(load_skill(skill_folder), model, ledger, samples=terms.samples)

        async def score(count: int) -> TeacherScore:
            return await probe(
                teacher,
                measured,
                roots,
                probe_file(run.path, teacher),
                count=count,
                least=terms.least,
                at_once=terms.at_once,
                on_row=employer.on_probe,
            )

        first = await score(min(FIRST, terms.probed))
        await _prove_rubric(run, teacher, measured)
        unmeasured = min(terms.probed, len(measured)) - first.goals
        left = _recorded_left(run, teacher, recorded) if recorded else _goals_left(run, teacher, goals, limit)
        attempts = left * max(ATTEMPTS if recorded else 1, teacher.samples) + unmeasured
        judged = answers_to_judge(goals) if terms.judges else 0
        if not employer.agrees(Forecast.of(teacher.judge.entries, left, attempts, judged)):
            raise TeacherError(NOT_AGREED)
        employer.on_score(whole := await score(terms.probed))
        whole.check()
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


async def _prove_rubric(run: RunFolder, teacher: ModelTeacher, goals: Sequence[Goal]) -> None:
    """Raise TeacherError if the goals are judged by a rubric, and its judge lets spoiled answers pass."""
    if rubric := next((goal.check for goal in goals if isinstance(goal.check, Judged)), None):
        rows = measured_rows(teacher, probe_file(run.path, teacher))
        await prove_judge(teacher.judge, rubric, rows, run.judges)


def _goals_left(run: RunFolder, teacher: ModelTeacher, goals: Sequence[Goal], limit: int | None) -> int:
    asked = {goal.id for goal in [goal for goal in goals if goal.split == "train"][:limit]}
    return len(asked - read_finished(run.part(teacher.name)).keys())


def _recorded_left(run: RunFolder, teacher: ModelTeacher, goals: Sequence[RecordedGoal]) -> int:
    return len({goal.id for goal in goals} - read_finished(recorded_part(run, teacher)).keys())


def judge_at(skill_folder: Path, hired: HiredTeacher, offline: bool, executor: Executor) -> Judge:
    """Return the work of a large model that judges, by the skill's rubric, what a run has exported."""
    terms, model = hired.terms, hired.model
    options = JudgingOptions(at_once=terms.at_once, agrees=hired.agrees, offline=offline, executor=executor)

    def judge(run: RunFolder, base: ModelFile, tell: Tell) -> JudgedFigures:
        adapter = exported_adapter(run, skill_folder.name)
        with Ledger(run.path / "ledger.jsonl", terms.price, terms.budget, model.tells_cost) as ledger:
            paid = RubricJudge(model, ledger, purpose="figures")
            return anyio.run(lambda: judge_student(skill_folder, run, base, adapter, paid, options, on_progress=tell))

    return judge


def check_sending(model: LargeModel, allowed: bool) -> None:
    """Raise UsageError if the content of the user's own folders would leave this machine unasked."""
    if model.receiver and not allowed:
        raise UsageError(f"{model.receiver} would be sent what is in the recorded folders: say --send if that is meant")
