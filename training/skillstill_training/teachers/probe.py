"""How good a teacher is, before it is paid for a whole stage: measured on goals that nobody trains on.

The rule is distil labs': a teacher below 0.60 teaches its mistakes, and is to be replaced or told better.
"""

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path

from skillstill.errors import TeacherError
from skillstill.types import Frozen

from skillstill_training.authoring.goal import Goal
from skillstill_training.teachers.endpoint import EndpointTeacher
from skillstill_training.teachers.teacher import TraceRow
from skillstill_training.util.jsonl import read_lines, write_text
from skillstill_training.util.tasks import each

COUNT = 50  # goals: an interval of some 0.13 to either side
LEAST = 0.6
REASONS = 3
Z = 1.96  # of a 95 % interval


class Score(Frozen):
    """A teacher on some goals: the share that it solved fit to learn from, with Wilson's 95 % interval.

    `unreached` goals, for which the endpoint failed, are left out of the share. `tokens` are read and written.
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
    def refused(self) -> bool:
        return self.success < self.least

    def __str__(self) -> str:
        share = f"{self.success:.2f} (95 % interval {self.low:.2f} to {self.high:.2f})"
        return f"{self.model} solved {self.solved} of {self.goals} goals, {share}"

    def demand(self) -> None:
        """Raises TeacherError where the teacher is too weak."""
        if self.refused:
            why = "; ".join(f"{reason} ({count})" for reason, count in self.reasons)
            raise TeacherError(f"{self}, at least {self.least:.2f} is asked of a teacher. Commonest reasons: {why}")

    @classmethod
    def load(cls, folder: Path, teacher: EndpointTeacher) -> "Score | None":
        """The one that was saved there for this teacher. Raises StageError where it cannot be read.

        A name may stand for several: models whose names begin alike, or another server's model of that name.
        """
        file = folder / f"teacher-{teacher.name}.json"
        found = read_lines(file, cls) if file.exists() else []
        return next((score for score in found if score.model == teacher.label), None)

    def save(self, folder: Path) -> Path:
        """`teacher-NAME.json` in a run's folder. Raises StageError."""
        write_text(file := folder / f"teacher-{self.teacher}.json", self.model_dump_json() + "\n")
        return file


async def probe(
    teacher: EndpointTeacher,
    goals: Sequence[Goal],
    roots: Mapping[str, Path],
    *,
    count: int = COUNT,
    least: float = LEAST,
    at_once: int = 2,
    on_row: Callable[[TraceRow], None] = lambda row: None,
) -> Score:
    """The teacher's greedy attempts at `count` of the goals, of all families alike. `roots`: folders by workspace.

    Raises BudgetSpent, and TeacherError where no goal could be measured. It refuses nobody: that is `Score.demand`.
    """
    rows: list[TraceRow] = []
    began, tokens, usd = time.monotonic(), teacher.ledger.tokens, teacher.ledger.usd

    async def work(goal: Goal) -> None:
        rows.append(await teacher.attempt(goal, roots[goal.workspace], 0, "probe"))
        on_row(rows[-1])

    await each(interleave_families(goals, count), work, at_once)
    return _score(teacher, rows, least).model_copy(
        update={
            "seconds": round(time.monotonic() - began, 1),
            "tokens": teacher.ledger.tokens - tokens,
            "usd": teacher.ledger.usd - usd if teacher.ledger.price else None,
        }
    )


def _score(teacher: EndpointTeacher, rows: Sequence[TraceRow], least: float) -> Score:
    measured = [row for row in rows if not row.transient]
    if not measured:
        why = rows[0].reason if rows else "there are no goals"
        raise TeacherError(f"{teacher.label} could not be measured: {why}")
    solved = sum(row.kept for row in measured)
    low, high = wilson(solved, len(measured))
    return Score(
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
    families: dict[str, list[Goal]] = defaultdict(list)
    for goal in goals:
        families[goal.family].append(goal)
    turns = chain.from_iterable(zip_longest(*families.values()))
    return [goal for goal in turns if goal is not None][:count]


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Both ends of Wilson's 95 % score interval for a share; it holds for few trials and for shares near 0 and 1."""
    share, spread = successes / trials, Z * Z / trials
    middle = share + spread / 2
    half = math.sqrt(spread * (share * (1 - share) + spread / 4))
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))
