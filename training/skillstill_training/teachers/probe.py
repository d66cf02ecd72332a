"""Measure a teacher on validation goals before a whole stage is paid for.

The rule is from distil labs: a teacher with a success below 0.60 teaches its mistakes. It needs a better model or a
better skill text.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from skillstill.errors import TeacherError
from skillstill.types import Frozen

from skillstill_training.authoring.goal import Goal
from skillstill_training.teachers.endpoint import EndpointTeacher
from skillstill_training.teachers.teacher import TraceRow
from skillstill_training.util.jsonl import read_lines, write_text
from skillstill_training.util.tasks import each
from skillstill_training.util.turns import interleave

GOALS = 50  # the interval is then some 0.13 to either side
MIN_SUCCESS = 0.6
REASONS = 3
Z = 1.96  # the standard normal quantile of a 95 % interval


class TeacherScore(Frozen):
    """The success of a teacher: the share of goals with a trace fit to learn from, with Wilson's 95 % interval.

    least       the success that is asked of a teacher
    unreached   goals for which the endpoint failed; they are left out of the share
    tokens      that were read or written
    """

    teacher: str
    model: str
    goals: int
    solved: int
    success: float
    low: float
    high: float
    least: float
    reasons: tuple[tuple[str, int], ...] = ()
    unreached: int = 0
    seconds: float = 0.0
    tokens: int = 0
    usd: float | None = None

    @property
    def is_too_weak(self) -> bool:
        return self.success < self.least

    def __str__(self) -> str:
        share = f"{self.success:.2f} (95 % interval {self.low:.2f} to {self.high:.2f})"
        return f"{self.model} solved {self.solved} of {self.goals} goals, {share}"

    def check(self) -> None:
        """Raise TeacherError if the teacher is too weak."""
        if self.is_too_weak:
            why = "; ".join(f"{reason} ({count})" for reason, count in self.reasons)
            raise TeacherError(f"{self}, at least {self.least:.2f} is asked of a teacher. Commonest reasons: {why}")

    @classmethod
    def load(cls, folder: Path, teacher: EndpointTeacher) -> "TeacherScore | None":
        """Return the saved score of this teacher, if there is one. Raises StageError if it cannot be read.

        The file name is not unique: two long model names, or models of two servers, may share it. So the label is
        compared as well.
        """
        file = folder / f"teacher-{teacher.name}.json"
        scores = read_lines(file, cls) if file.exists() else []
        return next((score for score in scores if score.model == teacher.label), None)

    def save(self, folder: Path) -> Path:
        """Write `teacher-NAME.json` into a run's folder and return its path. Raises StageError."""
        write_text(file := folder / f"teacher-{self.teacher}.json", self.model_dump_json() + "\n")
        return file


async def probe(
    teacher: EndpointTeacher,
    goals: Sequence[Goal],
    roots: Mapping[str, Path],
    *,
    count: int = GOALS,
    least: float = MIN_SUCCESS,
    at_once: int = 2,
    on_row: Callable[[TraceRow], None] = lambda row: None,
) -> TeacherScore:
    """Run the teacher greedily on `count` of the goals, from all families in turn, and return its score.

    `roots` are the folders of the workspaces. Raises BudgetSpent, and TeacherError if no goal could be measured. A weak
    teacher raises nothing here, but in `TeacherScore.check`.
    """
    rows: list[TraceRow] = []
    start, tokens, usd = time.monotonic(), teacher.ledger.tokens, teacher.ledger.usd

    async def work(goal: Goal) -> None:
        rows.append(await teacher.attempt(goal, roots[goal.workspace], 0, "probe"))
        on_row(rows[-1])

    await each(interleave_families(goals, count), work, at_once)
    return _score(teacher, rows, least).model_copy(
        update={
            "seconds": round(time.monotonic() - start, 1),
            "tokens": teacher.ledger.tokens - tokens,
            "usd": teacher.ledger.usd - usd if teacher.ledger.price else None,
        }
    )


def _score(teacher: EndpointTeacher, rows: Sequence[TraceRow], least: float) -> TeacherScore:
    measured = [row for row in rows if not row.transient]
    if not measured:
        why = rows[0].reason if rows else "there are no goals"
        raise TeacherError(f"{teacher.label} could not be measured: {why}")
    solved = sum(row.kept for row in measured)
    low, high = wilson_interval(solved, len(measured))
    return TeacherScore(
        teacher=teacher.name,
        model=teacher.label,
        goals=len(measured),
        solved=solved,
        success=round(solved / len(measured), 4),
        low=round(low, 4),
        high=round(high, 4),
        least=least,
        reasons=tuple(Counter(row.reason for row in measured if not row.kept).most_common(REASONS)),
        unreached=len(rows) - len(measured),
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
