"""Stage 7 of a skill with a rubric, `skillstill judge SKILL`: what a judge makes of the exported adapter.

No program can check the answers of such a skill. So the student and its untrained base are asked goals that training
has not seen, in the loop that ships, and the large model that judged the teacher judges them. That verifies nothing:
the figures stand in a file of their own, and nothing is registered for them.

If it is interrupted, the same command continues it: what was answered and what was said of it is kept.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anyio import to_thread
from skillstill.contract import serving_hash
from skillstill.errors import GateError, TeacherError
from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.skills.skill import load_skill
from skillstill.types import ModelFile, Models

from skillstill_training.authoring.checks import Judged
from skillstill_training.authoring.families import families_by_name
from skillstill_training.authoring.goal import SPLITS, Goal, Split
from skillstill_training.evaluation.arm_runs import run_arm
from skillstill_training.evaluation.arms import ArmFactory
from skillstill_training.evaluation.distributed_arm import distributed_arm
from skillstill_training.evaluation.judging import Attempts, StoredJudge, Verdicts, judged_gain, score_judged
from skillstill_training.executors.executor import IN_PROCESS, Executor
from skillstill_training.report.page.page import write_page
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.judged import JudgedFigures
from skillstill_training.run.scorecard import ArmName, Outcome
from skillstill_training.teachers import TraceRow
from skillstill_training.teachers.forecast import Forecast
from skillstill_training.teachers.ledger import sum_costs
from skillstill_training.teachers.rubric import RubricJudge, prove_judge, rubric_hash
from skillstill_training.util.hashes import file_sha256
from skillstill_training.util.jsonl import read_lines, write_text
from skillstill_training.workspaces import workspace_roots

ENOUGH = 30  # test goals: with fewer, an interval is so wide that the validation goals are asked, too
ARMS = 2  # the student, and its untrained base
NEEDS_TEACHER = (
    "a rubric judges its answers, and a rubric needs a teacher that can judge: give --teacher URL#MODEL, "
    "anthropic:MODEL or claude-code; the constructed one is a program, and cannot"
)
NOT_AGREED = "nothing more was spent; what was answered is kept, and the same command asks again"
OnProgress = Callable[[int, int, str], None]  # how many are done, of how many, what else there is to say


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingOptions:
    """How it is judged. `at_once`: answers at the same time; `agrees`: whoever pays, after hearing what it takes."""

    at_once: int = 2
    agrees: Callable[[Forecast], bool] = lambda forecast: True
    offline: bool = False
    executor: Executor = IN_PROCESS


async def judge_student(
    skill_folder: Path,
    run: RunFolder,
    base: ModelFile,
    adapter: ModelFile,
    judge: RubricJudge,
    options: JudgingOptions,
    *,
    models: Models | None = None,
    on_progress: OnProgress = lambda done, total, note: None,
) -> JudgedFigures:
    """Let both arms answer, let the judge judge, and write `7-judged.json` and the run's page.

    Raise GateError if programs check the goals; TeacherError if the judge lets a spoiled attempt pass, cannot be
    reached or is not agreed to; BudgetSpent; StageError, BaseError and ModelError.
    """
    goals = held_out(run.frozen_goals())
    stored = StoredJudge(judge, rubric_of(goals), run.verdicts)
    await prove_judge(judge, stored.rubric, read_lines(run.traces, TraceRow), run.judges)
    factory = ArmFactory(
        folder=skill_folder,
        skill=load_skill(skill_folder),
        families=families_by_name(skill_folder),
        models=models or LocalModels(LocalOptions(offline=options.offline)),
        base=base,
        adapter=adapter,
        offline=options.offline,
    )
    roots = await to_thread.run_sync(workspace_roots, skill_folder, {goal.workspace for goal in goals}, options.offline)
    attempt = partial(_attempt, factory, goals=goals, roots=roots, run=run, options=options, tell=on_progress)
    student, untrained = await attempt("ours"), await attempt("stock")
    verdicts = await _judge(stored, (student, untrained), options, on_progress)
    figures = _figures(factory, run, stored, goals, (student, untrained), verdicts)
    write_text(run.judged, figures.model_dump_json(indent=1) + "\n")
    write_page(run)
    return figures


def held_out(goals: Sequence[Goal]) -> Sequence[Goal]:
    """Return the test goals and, if they are few, the validation goals, too: neither was trained on."""
    tests = [goal for goal in goals if goal.split == "test"]
    return tests if len(tests) >= ENOUGH else [goal for goal in goals if goal.split != "train"]


def answers_to_judge(goals: Sequence[Goal]) -> int:
    """Return how many answers are judged, at most: each arm has one to each goal. Without a rubric, 0."""
    return ARMS * sum(goal.is_judged for goal in held_out(goals))


def rubric_of(goals: Sequence[Goal]) -> Judged:
    """Return the rubric that judges the goals. Raise GateError if there is none."""
    if rubric := next((goal.check for goal in goals if isinstance(goal.check, Judged)), None):
        return rubric
    raise GateError("programs check these goals, and no rubric judges them: type `skillstill evaluate`")


async def _attempt(
    factory: ArmFactory,
    name: ArmName,
    *,
    goals: Sequence[Goal],
    roots: Mapping[str, Path],
    run: RunFolder,
    options: JudgingOptions,
    tell: OnProgress,
) -> Attempts:
    """Return what becomes of the goals in an arm. Raise StageError, BaseError and ModelError."""
    arm = distributed_arm(factory, name, options.executor)
    assert arm, "it needs no file that nobody named"
    outcomes: list[Outcome] = []
    for split in _splits(goals):
        outcomes += await run_arm(
            arm,
            split,
            [goal for goal in goals if goal.split == split],
            roots,
            run.attempts,
            lambda one: tell(one.done, one.goals, f"{one.arm} on {one.split}"),
            options.executor.at_once(1),
        )
    return Attempts(arm, outcomes)


async def _judge(
    stored: StoredJudge, attempts: tuple[Attempts, Attempts], options: JudgingOptions, tell: OnProgress
) -> tuple[Verdicts, Verdicts]:
    """Return the verdicts on both arms. Whoever pays hears first what that takes, if anything is left to pay."""
    left = sum(len(stored.left(one)) for one in attempts)
    if left and not options.agrees(Forecast.of_judging(stored.judge.entries, left)):
        raise TeacherError(NOT_AGREED)

    async def judged(one: Attempts) -> Verdicts:
        name, count = one.arm.name, len(one.answered)
        return await stored.judge_attempts(one, options.at_once, lambda done: tell(done, count, f"{name} judged"))

    student, untrained = attempts
    return await judged(student), await judged(untrained)


def _figures(
    factory: ArmFactory,
    run: RunFolder,
    stored: StoredJudge,
    goals: Sequence[Goal],
    attempts: tuple[Attempts, Attempts],
    verdicts: tuple[Verdicts, Verdicts],
) -> JudgedFigures:
    student, untrained = (score_judged(one, stored.rubric, said) for one, said in zip(attempts, verdicts, strict=True))
    tokens, usd = sum_costs(entry for entry in stored.judge.entries if entry.purpose == "figures")
    return JudgedFigures(
        skill=factory.skill.name,
        judge=stored.judge.model.label,
        rubric=rubric_hash(stored.rubric),
        base=factory.base,
        adapter=factory.adapter,
        contract=serving_hash(factory.skill, factory.base, factory.adapter),
        goals=file_sha256(run.goals),
        splits=tuple(_splits(goals)),
        n=len(goals),
        workspaces=len({goal.workspace for goal in goals}),
        student=student,
        untrained=untrained,
        gain=judged_gain(attempts[0].outcomes, *verdicts),
        tokens=tokens,
        usd=None if usd is None else round(usd, 6),
    )


def _splits(goals: Sequence[Goal]) -> Sequence[Split]:
    found = {goal.split for goal in goals}
    return [split for split in SPLITS if split in found]
