"""Run an orchestrator on tasks in arms. Each outcome is stored as soon as it is there, and none is paid for twice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillstill.errors import BudgetSpent, TeacherError, UsageError

from skillstill_training.benchmarks.benchmark import Benchmark, Task
from skillstill_training.compare.forecast import FIRST, Forecast
from skillstill_training.compare.outcome import ArmName, Orchestrator, Row, Step
from skillstill_training.teachers.ledger import Budget, Price
from skillstill_training.util.hashes import hash_parts
from skillstill_training.util.jsonl import Appender, read_lines, write_lines

OUTCOMES, TRANSCRIPTS = "outcomes.jsonl", "transcripts"
FAILURES = 3  # attempts in a row that the model or the program failed: then it is not there, or not set up


@dataclass(frozen=True, slots=True)
class Progress:
    """So many of all attempts are done, and what the folder has cost; `row` is the last one."""

    done: int
    attempts: int
    usd: float
    row: Row


@dataclass(frozen=True)
class Comparison:
    """What is compared, and what it may cost.

    staff_key   a hash of all subagents
    agrees      is asked once, after the first tasks, whether the rest may go on for what it takes
    """

    benchmark: Benchmark
    tasks: Sequence[Task]
    orchestrator: Orchestrator
    arms: Sequence[ArmName]
    folder: Path
    staff_key: str
    price: Price | None = None
    budget: Budget = field(default_factory=Budget)
    agrees: Callable[[Forecast], bool] = lambda forecast: True
    on_progress: Callable[[Progress], None] = lambda progress: None

    async def run(self) -> None:
        """Do what is left to do, task by task. Raise BudgetSpent, TeacherError, StageError."""
        await _Run(self).run()

    def finished(self) -> Sequence[Row]:
        """Return the stored rows of these tasks in these arms, task by task, the last one of each."""
        done = {row.key: row for row in stored_rows(self.folder) if not row.outcome.error}
        keys = (self.key(task, arm) for task in self.tasks for arm in self.arms)
        return [done[key] for key in keys if key in done]

    def settings(self, arm: ArmName) -> str:
        subagents = "" if arm == "alone" else self.staff_key
        return hash_parts(self.orchestrator.key, self.benchmark.version, subagents)

    def key(self, task: Task, arm: ArmName) -> tuple[str, ArmName, str, str]:
        return task.id, arm, self.orchestrator.name, self.settings(arm)


class _Run:
    """One command's way through the tasks."""

    def __init__(self, comparison: Comparison) -> None:
        self.of = comparison
        self.file = comparison.folder / OUTCOMES
        self.all = list(stored_rows(comparison.folder))
        self.done = {row.key: row for row in self.all if not row.outcome.error}
        self.failures = 0

    async def run(self) -> None:
        wanted = [(task, arm) for task in self.of.tasks for arm in self.of.arms]
        left = [(task, arm) for task, arm in wanted if self.of.key(task, arm) not in self.done]
        first = FIRST * len(self.of.arms)
        with Appender(self.file) as log:
            for at, (task, arm) in enumerate(left):
                if at == first and not self.of.agrees(Forecast.of(self._seen(), left[at:])):
                    raise TeacherError("nothing more was spent; what is done is kept, and the same command goes on")
                self._check_budget()
                row = await self._attempt(task, arm)
                log.append([row])
                self.of.on_progress(Progress(len(wanted) - len(left) + at + 1, len(wanted), self._usd(), row))
                self._check_failures(row)

    async def _attempt(self, task: Task, arm: ArmName) -> Row:
        left = None if self.of.budget.usd is None else max(0.0, self.of.budget.usd - self._usd())
        outcome = await self.of.orchestrator.solve(task, arm, left)
        row = Row(
            task=task.id,
            arm=arm,
            orchestrator=self.of.orchestrator.name,
            settings=self.of.settings(arm),
            score=0.0 if outcome.error else self.of.benchmark.score(task, outcome.answer),
            usd=self.of.price.cost(outcome.paid) if self.of.price else outcome.usd,
            outcome=outcome,
        )
        write_lines(self.of.folder / TRANSCRIPTS / row.transcript, outcome.steps)
        self.all.append(row)
        if not outcome.error:
            self.done[row.key] = row
        return row

    def _seen(self) -> Sequence[Row]:
        return [row for row in self.done.values() if row.orchestrator == self.of.orchestrator.name]

    def _usd(self) -> float:
        return sum(row.usd or 0.0 for row in self.all)

    def _check_budget(self) -> None:
        """The budget covers all that was ever spent in the folder, on attempts that failed as well."""
        usd, tokens = self.of.budget.usd, self.of.budget.tokens
        if usd is not None and any(row.usd is None and row.outcome.paid.prompt for row in self.all):
            raise UsageError("a budget in USD needs the price of its model: give --prices, or a budget in tokens")
        used = sum(row.outcome.paid.prompt + row.outcome.paid.completion for row in self.all)
        if (usd is not None and self._usd() >= usd) or (tokens is not None and used >= tokens):
            raise BudgetSpent(
                f"the budget is used up ({used:,} tokens, {self._usd():.4f} USD): what is done is kept, and the same "
                "command with a larger budget goes on"
            )

    def _check_failures(self, row: Row) -> None:
        self.failures = self.failures + 1 if row.outcome.error else 0
        if self.failures >= FAILURES:
            raise TeacherError(f"{FAILURES} attempts in a row failed, the last: {row.outcome.error}")


def stored_rows(folder: Path) -> Sequence[Row]:
    """Return all rows that were ever stored, without a last line that a killed process left half written."""
    file = folder / OUTCOMES
    if not file.is_file():
        return ()
    write_lines(file, rows := read_lines(file, Row, torn=True))
    return rows


def transcript(folder: Path, row: Row) -> Sequence[Step]:
    file = folder / TRANSCRIPTS / row.transcript
    return read_lines(file, Step) if file.is_file() else ()
