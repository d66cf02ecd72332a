"""Measure a teacher on validation goals before a whole stage is paid for.

The rule is from distil labs: a teacher with a success below 0.60 teaches its mistakes. It needs a better model or a
better skill text.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from skillstill.errors import TeacherError
from skillstill.types import Frozen

from skillstill_training.authoring.goal import Goal
from skillstill_training.teachers.model_teacher import ModelTeacher
from skillstill_training.teachers.teacher import TraceRow
from skillstill_training.util.jsonl import Appender, read_lines, write_lines
from skillstill_training.util.tasks import each
from skillstill_training.util.turns import interleave

GOALS = 50  # the interval is then some 0.13 to either side
MIN_SUCCESS = 0.6
REASONS = 3
Z = 1.96  # the standard normal quantile of a 95 % interval


class TeacherScore(Frozen):
    """The success of a teacher: the share of goals with a trace fit to learn from, with Wilson's 95 % interval.

    least       the success that is asked of a teacher
    unreached   goals for which the model failed; they are left out of the share
    judged      a rubric's judge has said so: nothing was verified
    """

    model: str
    goals: int
    solved: int
    success: float
    low: float
    high: float
    least: float
    reasons: tuple[tuple[str, int], ...] = ()
    unreached: int = 0
    judged: bool = False

    @property
    def is_too_weak(self) -> bool:
        return self.success < self.least

    def __str__(self) -> str:
        share = f"{self.success:.2f} (95 % interval {self.low:.2f} to {self.high:.2f})"
        solved = f"{self.model} solved {self.solved} of {self.goals} goals, {share}"
        return f"{solved}, as a rubric's judge has it: not verified" if self.judged else solved

    def check(self) -> None:
        """Raise TeacherError if the teacher is too weak."""
        if self.is_too_weak:
            why = "; ".join(f"{reason} ({count})" for reason, count in self.reasons)
            raise TeacherError(f"{self}, at least {self.least:.2f} is asked of a teacher. Commonest reasons: {why}")


async def probe(
    teacher: ModelTeacher,
    goals: Sequence[Goal],
    roots: Mapping[str, Path],
    file: Path,
    *,
    count: int = GOALS,
    least: float = MIN_SUCCESS,
    at_once: int = 2,
    on_row: Callable[[TraceRow], None] = lambda row: None,
) -> TeacherScore:
    """Run the teacher greedily on `count` of the goals, from all families in turn, and return its score.

    `roots` are the folders of the workspaces. The rows are kept in `file`: a goal is not measured again. Raises
    BudgetSpent, and TeacherError if no goal could be measured. A weak teacher raises nothing here, but in
    `TeacherScore.check`.
    """
    chosen = interleave_families(goals, count)
    rows = {row.goal: row for row in measured_rows(teacher, file)}
    with Appender(file) as kept:

        async def work(goal: Goal) -> None:
            rows[goal.id] = row = await teacher.attempt(goal, roots[goal.workspace], 0, "probe")
            kept.append([] if row.transient else [row])
            on_row(row)

        await each([goal for goal in chosen if goal.id not in rows], work, at_once)
    judged = any(goal.is_judged for goal in chosen)
    return _score(teacher, [rows[goal.id] for goal in chosen], least, judged=judged)


def probe_file(folder: Path, teacher: ModelTeacher) -> Path:
    """Return where a run's folder keeps the rows of a teacher that is measured."""
    return folder / f"probe.{teacher.name}.jsonl"


def measured_rows(teacher: ModelTeacher, file: Path) -> Sequence[TraceRow]:
    """Return the rows of this teacher.

    The file name is not unique: two long model names, or models of two servers, may share it. So the label is compared
    as well.
    """
    if not file.exists():
        return ()
    write_lines(file, rows := read_lines(file, TraceRow, torn=True))
    return [row for row in rows if row.trace and row.trace.model == teacher.label]


def _score(teacher: ModelTeacher, rows: Sequence[TraceRow], least: float, *, judged: bool) -> TeacherScore:
    measured = [row for row in rows if not row.transient]
    if not measured:
        why = rows[0].reason if rows else "there are no goals"
        raise TeacherError(f"{teacher.label} could not be measured: {why}")
    solved = sum(row.kept for row in measured)
    low, high = wilson_interval(solved, len(measured))
    return TeacherScore(
        model=teacher.label,
        goals=len(measured),
        solved=solved,
        success=round(solved / len(measured), 4),
        low=round(low, 4),
        high=round(high, 4),
        least=least,
        reasons=tuple(Counter(row.reason for row in measured if not row.kept).most_common(REASONS)),
        unreached=len(rows) - len(measured),
        judged=judged,
    )


def interleave_families(goals: Sequence[Goal], count: int) -> Sequence[Goal]:
    """Return the first `count` goals if one of each family is taken in turn."""
    return interleave(goals, lambda goal: goal.family, count)


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """Return Wilson's 95 % score interval of a share. It is valid for few trials and for shares near 0 and 1."""
    share, spread = successes / trials, Z * Z / trials
    middle = share + spread / 2
    half = math.sqrt(spread * (share * (1 - share) + spread / 4))
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))
