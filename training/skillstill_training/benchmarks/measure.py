"""Ask arms the tasks of a benchmark, and score what they answer. A run that was interrupted goes on where it was."""

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from statistics import median_high

from skillstill.types import Frozen

from skillstill_training.benchmarks.benchmark import Benchmark, Task
from skillstill_training.evaluation.resampling import ClusteredValue, bootstrap_mean
from skillstill_training.field.arms import Asked, FieldArm, FieldRow
from skillstill_training.field.judge import FieldAnswer
from skillstill_training.field.runs import OnField, ask_each
from skillstill_training.run.scorecard import FieldArmName, Interval
from skillstill_training.util.jsonl import write_text

ROWS = 2  # to be raised if rows hold more: those that were kept are asked anew then
ALL = "all"  # the one stratum of a mean in which each task has the same weight


class BenchmarkScore(Frozen):
    """What an arm of a skill is worth on a benchmark.

    score     the mean of what its answers are worth, with a 95 % interval
    led       the same if its leads count as its answer: the likely places of a hand-over, or the lines that it quotes
    answered  the share of tasks that it did not hand back
    folders   how many workspaces the tasks are about
    """

    benchmark: str
    version: str
    skill: str
    arm: FieldArmName
    label: str
    tasks: int
    folders: int
    score: Interval
    led: Interval
    answered: float
    seconds: float


async def measure(
    benchmark: Benchmark,
    skill: str,
    arms: Sequence[FieldArm],
    first: int | None,
    results: Path,
    on_progress: OnField = lambda progress: None,
) -> Sequence[BenchmarkScore]:
    """Return the scores of the arms on the first tasks, or on all. Rows and scores go into `results`.

    Raise WorkspaceSourceError, StageError, and what an arm raises if its model cannot be loaded.
    """
    tasks = list(islice(benchmark.tasks(), first))
    asked = [(Asked(id=task.id, prompt=task.prompt), Path(task.folder)) for task in tasks]
    scores = []
    for arm in arms:
        file = results / benchmark.name / f"{skill}.{arm.name}.{arm.key}-{ROWS}.jsonl"
        rows = await ask_each(arm, asked, file, on_progress)
        scores.append(_score(benchmark, skill, arm, tasks, rows))
        write_text(results / benchmark.name / f"{skill}.{arm.name}.json", scores[-1].model_dump_json(indent=1) + "\n")
    return scores


def stored_scores(results: Path) -> Mapping[tuple[str, str, str], BenchmarkScore]:
    """Return the last scores by benchmark, skill and arm."""
    files = sorted(results.glob("*/*.json"))
    scores = [BenchmarkScore.model_validate_json(file.read_text(encoding="utf-8")) for file in files]
    return {(one.benchmark, one.skill, one.arm): one for one in scores}


def reply(answer: FieldAnswer) -> str:
    """Return what is scored: the text, and in one more line the places behind it; nothing of a hand-over."""
    return f"{answer.text}\n{', '.join(answer.places)}".rstrip() if answer.status == "answered" else ""


def _score(
    benchmark: Benchmark, skill: str, arm: FieldArm, tasks: Sequence[Task], rows: Sequence[FieldRow]
) -> BenchmarkScore:
    worth = [benchmark.score(task, reply(row.answer)) for task, row in zip(tasks, rows, strict=True)]
    leads = [_worth_of_leads(benchmark, task, row.answer) for task, row in zip(tasks, rows, strict=True)]
    return BenchmarkScore(
        benchmark=benchmark.name,
        version=benchmark.version,
        skill=skill,
        arm=arm.name,
        label=arm.label,
        tasks=len(tasks),
        folders=len({task.folder for task in tasks}),
        score=_mean(tasks, worth),
        led=_mean(tasks, list(map(max, worth, leads))),
        answered=round(sum(row.answer.status == "answered" for row in rows) / max(1, len(rows)), 4),
        seconds=median_high(row.seconds for row in rows) if rows else 0.0,
    )


def _worth_of_leads(benchmark: Benchmark, task: Task, answer: FieldAnswer) -> float:
    return max(benchmark.score(task, "\n".join(texts)) for texts in (answer.leads, answer.quoted))


def _mean(tasks: Sequence[Task], values: Sequence[float]) -> Interval:
    return bootstrap_mean([ClusteredValue(task.folder, ALL, value) for task, value in zip(tasks, values, strict=True)])
