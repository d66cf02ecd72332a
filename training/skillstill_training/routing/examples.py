"""Tasks with the subagent that each is for: field questions of the bundled skills, and tasks that none fits."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from skillstill.types import Frozen

from skillstill_training.field.question import load_questions, prompt_of
from skillstill_training.util.jsonl import read_lines

BEYOND = Path(__file__).with_name("beyond")
Split = Literal["train", "validation"]


class Beyond(Frozen):
    """A task that no bundled subagent fits, and the repository that it was found in."""

    source: str
    task: str


class Example(Frozen):
    """A task, the subagent that it is for (empty: none), and what like tasks have in common: a folder or a source."""

    task: str
    subagent: str
    group: str


def load_examples(skills: Sequence[Path], split: Split) -> Sequence[Example]:
    """Return the field questions of these skills, follow-ups under what they follow, then the tasks beyond them.

    Raise StageError.
    """
    asked = [one for skill in skills for one in _asked(skill, split)]
    beyond = read_lines(BEYOND / f"{split}.jsonl", Beyond)
    return [*asked, *(Example(task=one.task, subagent="", group=one.source) for one in beyond)]


def _asked(skill: Path, split: Split) -> Sequence[Example]:
    questions = load_questions(skill, split)
    known = {question.id: question for question in questions}
    return [Example(task=prompt_of(one, known), subagent=skill.name, group=one.workspace) for one in questions]
