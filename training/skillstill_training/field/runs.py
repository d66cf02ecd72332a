"""Ask an arm many field questions. Each answer is stored as soon as it is there, and no question is asked twice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillstill_training.field.arms import Asked, FieldArm, FieldRow
from skillstill_training.field.question import FieldQuestion, prompt_of
from skillstill_training.run.scorecard import FieldArmName
from skillstill_training.util.jsonl import Appender, read_lines
from skillstill_training.util.tasks import each


@dataclass(frozen=True, slots=True)
class FieldProgress:
    """So many of the questions has the arm answered."""

    arm: FieldArmName
    done: int
    questions: int


OnField = Callable[[FieldProgress], None]


async def ask_all(
    arm: FieldArm,
    asked: Sequence[FieldQuestion],
    known: Mapping[str, FieldQuestion],
    roots: Mapping[str, Path],
    file: Path,
    on_progress: OnField = lambda progress: None,
    at_once: int = 1,
) -> Sequence[FieldRow]:
    """Return the rows of these questions in their order, appended to the file as they come.

    `known` are all questions by id, those that others follow among them. Questions are asked workspace by workspace,
    in one process one at a time, so that seconds are measured without other runs. Raise StageError.
    """
    by_workspace = sorted(asked, key=lambda one: one.workspace)
    put = [(Asked(id=one.id, prompt=prompt_of(one, known)), roots[one.workspace]) for one in by_workspace]
    rows = {row.question: row for row in await ask_each(arm, put, file, on_progress, at_once)}
    return [rows[question.id] for question in asked]


async def ask_each(
    arm: FieldArm,
    asked: Sequence[tuple[Asked, Path]],
    file: Path,
    on_progress: OnField = lambda progress: None,
    at_once: int = 1,
) -> Sequence[FieldRow]:
    """Return the rows of questions about folders, in their order. Each is appended as it comes. Raise StageError."""
    done = {row.question: row for row in read_lines(file, FieldRow, torn=True)} if file.is_file() else {}
    with Appender(file) as log:
        count = 0

        async def ask(one: tuple[Asked, Path]) -> None:
            nonlocal count
            question, root = one
            earlier = done.get(question.id)
            if earlier is None or earlier.prompt != question.prompt:
                done[question.id] = await arm.solve(question, root)
                log.append([done[question.id]])
            count += 1
            on_progress(FieldProgress(arm.name, done=count, questions=len(asked)))

        await each(asked, ask, at_once)
    return [done[question.id] for question, _ in asked]
