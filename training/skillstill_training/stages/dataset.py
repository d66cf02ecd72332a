"""Stage 3, `skillstill dataset SKILL`: of all kept traces those that the student learns from, each cell filled."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random

from skillstill.errors import GateError, StageError
from skillstill.run.loop import GIVES_UP
from skillstill.skills.skill import Skill, load_skill
from skillstill.types import Message, ToolCall

from skillstill_training.authoring.goal import Goal
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import DatasetConfig
from skillstill_training.sampling.wording import normal
from skillstill_training.teachers import FIELD, RECORDED, Sample, TraceRow
from skillstill_training.util.jsonl import read_lines, write_lines

Cells = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Dataset:
    """What was chosen, what was left out and why, and how full each cell (`family/tools/calls/outcome`) is."""

    samples: tuple[Sample, ...]
    dropped: Mapping[str, int]
    cells: Cells
    undeclared: tuple[str, ...]


def make_dataset(skill_folder: Path, run: RunFolder, plan: DatasetConfig | None = None) -> Dataset:
    """Choose, gate and write. Raise StageError; GateError names the measure, and nobody trains on it."""
    recipe = run.recipe()
    plan = plan or recipe.dataset
    goals = {goal.id: goal for goal in run.frozen_goals()}
    if not run.traces.exists():
        raise StageError(f"no traces in {run.path}: type `skillstill traces {skill_folder.name}` first")
    dropped: Counter[str] = Counter()
    kept = list(_fit(read_lines(run.traces, TraceRow), goals, dropped))
    kept = _cap(kept, goals, plan, recipe.seed, dropped)
    skill = load_skill(skill_folder).sized(recipe.size)
    tested = _test_prompts(goals.values())
    samples = (
        *(_sample(row, goals[row.goal], plan, skill, tested) for row in kept),
        *(_sample(row, None, plan, skill, tested) for row in _extra_rows(run.recorded_traces, tested, dropped)),
        *(_sample(row, None, plan, skill, tested) for row in _extra_rows(run.demonstrations, tested, dropped)),
        *(_sample(row, None, plan, skill, tested) for row in _extra_rows(run.practice, tested, dropped)),
    )
    write_lines(run.refused, samples)  # before the gate: whoever is refused can look at what was chosen
    run.dataset.unlink(missing_ok=True)  # an earlier one is not what today's traces make
    cells = _cells(samples, goals)
    _check(samples, goals, cells, plan)
    run.refused.replace(run.dataset)
    undeclared = tuple(cell for cell in cells if not any(fnmatchcase(cell, pattern) for pattern in plan.cells))
    return Dataset(samples, dropped, cells, undeclared)


def _fit(rows: Sequence[TraceRow], goals: Mapping[str, Goal], dropped: Counter[str]) -> Iterator[TraceRow]:
    """Yield the kept rows of training goals, none twice and none that asks what a test asks."""
    tested = _test_prompts([goal for goal in goals.values() if not goal.absent])
    seen: set[str] = set()
    for row in rows:
        goal = goals.get(row.goal)
        if reason := _unfit(row, goal, tested, seen):
            dropped[reason] += 1
        else:
            seen.add(_text(row))
            yield row


def _extra_rows(file: Path, tested: Collection[str], dropped: Counter[str]) -> Iterator[TraceRow]:
    """Yield the kept rows of what is no goal of the run: the user's own recorded goals, field questions."""
    rows = read_lines(file, TraceRow) if file.exists() else ()
    seen: set[str] = set()
    for row in rows:
        if reason := _unlearnable(row, tested, seen):
            dropped[reason] += 1
        else:
            seen.add(_text(row))
            yield row


def _test_prompts(goals: Collection[Goal]) -> Collection[str]:
    """Return what tests ask, in the letters that count."""
    return {normal(goal.prompt) for goal in goals if goal.split != "train"}


def _unfit(row: TraceRow, goal: Goal | None, tested: Collection[str], seen: Collection[str]) -> str:
    if row.kept and (goal is None or goal.split != "train"):
        return "not of a training goal"
    return _unlearnable(row, tested, seen)


def _unlearnable(row: TraceRow, tested: Collection[str], seen: Collection[str]) -> str:
    """Return why nobody learns from this row, whatever goal it is of; empty if one can."""
    if not (row.kept and row.trace):
        return "not kept by its teacher"
    if normal(row.trace.prompt) in tested:
        return "asks what a test asks"
    return "a duplicate" if _text(row) in seen else ""


def _text(row: TraceRow) -> str:
    """Return what a student would learn of it: the prompt and everything that it writes."""
    assert row.trace
    turns = [f"{turn.content} {turn.calls}" for turn in row.trace.messages if turn.role == "assistant"]
    return normal(" ".join([row.trace.prompt, *turns]))


def _cap(
    rows: Sequence[TraceRow], goals: Mapping[str, Goal], plan: DatasetConfig, seed: int, dropped: Counter[str]
) -> list[TraceRow]:
    """Return the rows without those above the cap of a wording in its family; which ones go is drawn by the seed."""
    groups: dict[tuple[str, str], list[TraceRow]] = defaultdict(list)
    sizes = Counter(goals[row.goal].family for row in rows)
    for row in rows:
        groups[goals[row.goal].family, goals[row.goal].wording].append(row)
    gone: set[int] = set()
    for (family, _), group in groups.items():
        excess = len(group) - max(1, int(plan.cap * sizes[family]))
        if excess > 0:
            gone |= {id(row) for row in Random(seed).sample(group, excess)}  # noqa: S311 - no secret
            dropped["above the cap of its wording"] += excess
    return [row for row in rows if id(row) not in gone]


def _sample(row: TraceRow, goal: Goal | None, plan: DatasetConfig, skill: Skill, tested: Collection[str]) -> Sample:
    """Return what is learned of a row; without a goal, nobody knows the intent."""
    assert row.trace
    intent = plan.intents.get(goal.family, goal.family) if goal else ""
    turns = (
        Message(
            role=one.role,
            intent=intent if one.role == "assistant" else "",
            content=one.content,
            calls=tuple(_in_schema_order(call, skill) for call in one.calls),
            mistaken=one.mistaken,
            receipt=one.receipt,
            places=one.places,
            rows=one.rows,
        )
        for one in row.trace.messages[1:]
    )
    return Sample(
        goal=row.goal,
        family=goal.family if goal else _family(row),
        wording=goal.wording if goal else row.goal,
        teacher=row.teacher,
        verified=row.verified,
        messages=(Message(role="system", content=skill.subagent.system), *turns),
        tools=tuple(tool.schema for tool in skill.tools),
        also=tuple(words for words in goal.also if normal(words) not in tested) if goal else (),
    )


def _family(row: TraceRow) -> str:
    return FIELD if row.teacher == FIELD else RECORDED


def _in_schema_order(call: ToolCall, skill: Skill) -> ToolCall:
    """Return the call with its arguments in the order of the tool's schema.

    Serving's grammar lets through no other one.
    """
    known = [name for tool in skill.tools if tool.name == call.name for name in tool.schema.parameters["properties"]]
    order = sorted(call.arguments, key=lambda name: known.index(name) if name in known else len(known))
    return call.model_copy(update={"arguments": {name: call.arguments[name] for name in order}})


def _cells(samples: Sequence[Sample], goals: Mapping[str, Goal]) -> Cells:
    """Return how many samples lie in each cell.

    Its tools are those that a sample uses, in the order of their first use.
    """
    cells: Counter[str] = Counter()
    for sample in samples:
        calls = [call for turn in sample.messages for call in turn.calls]
        outcome = _outcome(goals.get(sample.goal))
        tools = "+".join(dict.fromkeys(call.name for call in calls)) or "none"
        cells[f"{sample.family}/{tools}/{len(calls)}/{outcome}"] += 1
    return dict(sorted(cells.items()))


def _abstains(sample: Sample, goal: Goal | None) -> bool:
    """Return whether it ends in `it is not there`, or hands the work back; of what is no goal, only the latter."""
    return goal.absent if goal else GIVES_UP.match(sample.messages[-1].content) is not None


def _outcome(goal: Goal | None) -> str:
    """Return the outcome, `found` for a recorded goal too: nobody knows what would have been right."""
    return goal.check.kind if goal and goal.absent else "found"


def _check(samples: Sequence[Sample], goals: Mapping[str, Goal], cells: Cells, plan: DatasetConfig) -> None:
    """Raise GateError."""
    if not samples:
        raise GateError("no trace is fit to be learned from: see the reasons in the traces' page")
    abstaining = sum(_abstains(sample, goals.get(sample.goal)) for sample in samples) / len(samples)
    if abstaining < plan.abstain:
        raise GateError(f"{abstaining:.0%} of the samples abstain; the recipe wants at least {plan.abstain:.0%}")
    for pattern, least in plan.cells.items():
        have = sum(count for cell, count in cells.items() if fnmatchcase(cell, pattern))
        if have < least:
            raise GateError(f"the cell {pattern} holds {have} samples; the recipe wants at least {least}")
