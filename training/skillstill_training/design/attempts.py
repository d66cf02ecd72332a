"""A proposed question, tried: the teacher that proposed it has to solve it in the real loop, twice of three times."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from skillstill.types import Trace

from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.proposed import Proposed
from skillstill_training.design.questions import Candidate, goal_of
from skillstill_training.design.soft import Soft
from skillstill_training.teachers import TraceRow
from skillstill_training.teachers.agreement import agree
from skillstill_training.teachers.model_teacher import ModelTeacher, escalation_reason, unfit_reason

ATTEMPTS, NEEDED = 3, 2


async def try_candidates(one: Candidate, teacher: ModelTeacher, root: Path) -> Proposed | Soft | str:
    """Return what is kept of it, by its check or by agreement; or why nothing is.

    Raise BudgetSpent and TeacherError.
    """
    return await _check(one, teacher, root) if one.check else await _count_agreeing(one, teacher, root)


async def _check(one: Candidate, teacher: ModelTeacher, root: Path) -> Proposed | str:
    goal, rows = goal_of(one, teacher.skill.name), list[TraceRow]()
    while len(rows) < ATTEMPTS and _undecided(rows):
        rows.append(await teacher.attempt(goal, root, len(rows), "probe"))
    solved = sum(row.kept for row in rows)
    if solved < NEEDED:
        return f"its teacher solved it {solved} of {len(rows)} times: {_commonest(rows)}"
    assert one.check
    return Proposed(
        family=one.topic.family,
        topic=one.topic.text,
        workspace=one.workspace,
        split=one.split,
        question=one.question,
        answer=one.answer,
        check=one.check if one.is_checked else None,
    )


def _undecided(rows: Sequence[TraceRow]) -> bool:
    solved = sum(row.kept for row in rows)
    return solved < NEEDED <= solved + ATTEMPTS - len(rows)


def _commonest(rows: Sequence[TraceRow]) -> str:
    return Counter(row.reason for row in rows if not row.kept).most_common(1)[0][0]


async def _count_agreeing(one: Candidate, teacher: ModelTeacher, root: Path) -> Soft | str:
    rows = [await teacher.run(one, root, sample, "probe") for sample in range(ATTEMPTS)]
    fit = [attempt for row in rows if row.trace and not row.transient and (attempt := _fit(row.trace))]
    likes = [sum(other is attempt or agree(attempt, other).passed for other in fit) for attempt in fit]
    if max(likes, default=0) < NEEDED:
        return f"no check can judge it, and its teacher's {len(fit)} answers do not agree"
    return Soft(
        topic=one.topic.text,
        workspace=one.workspace,
        split=one.split,
        question=one.question,
        answer=fit[likes.index(max(likes))].answer,
        agreed=max(likes),
        attempts=ATTEMPTS,
    )


def _fit(trace: Trace) -> Attempt | None:
    attempt = Attempt.of_trace(trace)
    return None if escalation_reason(trace, attempt) or unfit_reason(trace) else attempt
