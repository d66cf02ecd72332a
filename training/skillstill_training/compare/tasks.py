"""What is asked: a benchmark by its name, validation field questions as `field:SKILL`, or a file of one's own tasks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field
from skillstill.errors import StageError, UnknownName
from skillstill.types import Frozen

from skillstill_training.benchmarks.benchmark import Benchmark, Task
from skillstill_training.benchmarks.registry import find
from skillstill_training.field.judge import FieldAnswer, judge_answer
from skillstill_training.field.question import (
    FORM,
    Gold,
    has_field_questions,
    load_questions,
    prompt_of,
    questions_file,
)
from skillstill_training.util.hashes import drawn, file_sha256
from skillstill_training.util.jsonl import read_lines
from skillstill_training.workspaces import workspace_roots

FIELD = "field:"
FILE = re.compile(r"[\w./-]*\w\.[A-Za-z]\w*")


class OwnTask(Frozen):
    """A line of a file of one's own tasks.

    folder   from the file's own folder, or absolute
    gold     what a right answer states, as a text
    """

    prompt: str = Field(min_length=1)
    folder: str
    gold: str = Field(min_length=1, max_length=FORM)
    skill: str = "explore"


@dataclass
class OwnTasks:
    """Somebody's own tasks, scored by the judge of field questions."""

    file: Path
    name: str
    version: str
    skill: str = ""
    licence: str = ""

    @classmethod
    def of(cls, file: Path) -> "OwnTasks":
        """Raise StageError."""
        if not file.is_file():
            raise StageError(f"there is no file {file}")
        return cls(file, file.stem, file_sha256(file))

    def tasks(self) -> Iterator[Task]:
        """Raise StageError."""
        for number, one in enumerate(read_lines(self.file, OwnTask), 1):
            folder = (self.file.parent / Path(one.folder).expanduser()).resolve()
            if not folder.is_dir():
                raise StageError(f"{self.file}:{number}: there is no folder {folder}")
            gold = own_gold(one.gold).model_dump(mode="json")
            yield Task(id=f"{self.name}/{number}", prompt=one.prompt, folder=str(folder), skill=one.skill, gold=gold)

    def score(self, task: Task, answer: str) -> float:
        return judged_score(task, answer)


@dataclass
class FieldTasks:
    """The checked validation questions of a skill. Those of the test are for `skillstill field` alone."""

    skill_folder: Path
    name: str
    skill: str
    version: str
    licence: str = "see field/sources.toml"
    offline: bool = False

    @classmethod
    def of(cls, skill_folder: Path, *, offline: bool) -> "FieldTasks":
        """Raise UnknownName, with the skills beside it that have such questions."""
        name = skill_folder.name
        if not has_field_questions(skill_folder, "validation"):
            beside = sorted(skill_folder.parent.glob("*"))
            known = ", ".join(one.name for one in beside if has_field_questions(one, "validation")) or "none"
            raise UnknownName(f"no skill called {name[:64]!r} has field questions; there are: {known}")
        version = file_sha256(questions_file(skill_folder, "validation"))
        return cls(skill_folder, f"field-{name}", name, version, offline=offline)

    def tasks(self) -> Iterator[Task]:
        """Raise StageError."""
        questions = load_questions(self.skill_folder, "validation")
        known = {question.id: question for question in questions}
        asked = [question for question in questions if question.checked != "no"]
        roots = workspace_roots(self.skill_folder / "field", {one.workspace for one in asked}, self.offline)
        for question in asked:
            yield Task(
                id=f"{self.name}/{question.id}",
                prompt=prompt_of(question, known),
                folder=str(roots[question.workspace]),
                skill=self.skill,
                gold=question.gold.model_dump(mode="json"),
            )

    def score(self, task: Task, answer: str) -> float:
        return judged_score(task, answer)


def own_gold(text: str) -> Gold:
    """Return the gold of a task of one's own. A file counts as stated by a place in it, `shop/cart.py:18`."""
    files = (text,) if FILE.fullmatch(text) else ()
    return Gold(outcome="answer", answer=text, facts=((text,),), places=files)


def benchmark_of(name: str, skills: Path, *, offline: bool = False) -> Benchmark:
    """Return what TASKS names; `skills` is the folder of the bundled skills. Raise UsageError."""
    if name.startswith(FIELD):
        return FieldTasks.of(skills / name.removeprefix(FIELD), offline=offline)
    return OwnTasks.of(file) if (file := Path(name).expanduser()).suffix == ".jsonl" else find(name)


def draw(benchmark: Benchmark) -> Sequence[Task]:
    """Return the tasks in an order drawn by their ids: the first ones are a sample, the same one each time."""
    return sorted(benchmark.tasks(), key=lambda task: drawn(task.id))


def judged_score(task: Task, answer: str) -> float:
    """Return 1 for an answer that is right or rightly handed back, 0 for others."""
    if not answer.strip():
        return 0.0
    judgement = judge_answer(Gold.model_validate(task.gold), FieldAnswer.of_text(task.prompt, answer), task.prompt)
    return float(judgement.is_good)
