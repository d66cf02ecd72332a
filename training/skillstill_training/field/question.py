"""Field questions as values, and the files that they stand in: `field/questions/SPLIT.jsonl` of a skill folder."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator
from skillstill.errors import StageError
from skillstill.types import Frozen, Span

from skillstill_training.authoring.goal import FieldSplit
from skillstill_training.util.hashes import file_sha256
from skillstill_training.util.jsonl import read_lines, write_text

FOLDER = "field"
TESTS: tuple[FieldSplit, ...] = ("test", "plain")  # each frozen, and each look at them logged
FORM = 120  # characters of a fact's written form
LINES = re.compile(r"(\d+)(?:-(\d+))?")

Outcome = Literal["answer", "absent", "beyond"]
Checked = Literal["no", "agreed", "settled"]
Expectation = Literal["none", "any", "all"]


class Gold(Frozen):
    """The right answer.

    outcome        `answer`; `absent` if there is no such thing; `beyond` if looking cannot answer the question
    answer         the right answer as a sentence, for a person
    facts          what a right answer states: each fact as all of the written forms that are accepted
    places         where it stands, from the workspace: `path`, `path:line`, `path:first-last`, `file.db:table.column`
    places_asked   how many of the places a right answer names
    """

    outcome: Outcome
    answer: str
    facts: tuple[tuple[str, ...], ...] = ()
    places: tuple[str, ...] = ()
    places_asked: Expectation = "none"

    @field_validator("facts")
    @classmethod
    def has_forms(cls, facts: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        if any(not forms or not all(form.strip() and len(form) <= FORM for form in forms) for forms in facts):
            raise ValueError(f"expected each fact as one or more texts of at most {FORM} characters")
        return facts

    @model_validator(mode="after")
    def can_be_judged(self) -> Self:
        if self.outcome == "answer" and not (self.facts or (self.places and self.places_asked != "none")):
            raise ValueError("expected facts, or places that are asked for")
        return self

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return the places. What stands behind the colon in a database belongs to the path."""
        return tuple(map(parse_place, self.places))


class FieldQuestion(Frozen):
    """One question as its writer typed it.

    id        WORKSPACE/NUMBER
    role      who the writer was told to be
    after     the id of the question that this one follows, which is asked with it; else empty
    sort      what is asked, in the words of whoever sorted the questions; else empty
    how       what established the gold: a command, or what was read
    checked   `agreed` if a second hand came to the same answer, `settled` if a third one decided
    """

    id: str = Field(pattern=r"^[A-Za-z0-9._-]+/\d+$")
    role: str = ""
    prompt: str = Field(min_length=1)
    after: str = ""
    sort: str = ""
    gold: Gold
    how: str = ""
    checked: Checked = "no"

    @property
    def workspace(self) -> str:
        return self.id.partition("/")[0]


def parse_place(place: str) -> Span:
    """Return `path:line` or `path:first-last` as a span; anything else is a path alone."""
    path, _, lines = place.rpartition(":")
    if path and (found := LINES.fullmatch(lines)):
        return Span(path=path, first=int(found[1]), last=int(found[2] or found[1]))
    return Span(path=place)


def prompt_of(question: FieldQuestion, questions: Mapping[str, FieldQuestion]) -> str:
    """Return what an arm is asked: the prompt, under those of the questions that it follows."""
    earlier = questions.get(question.after) if question.after else None
    return f"{prompt_of(earlier, questions)}\n\n{question.prompt}" if earlier else question.prompt


def questions_file(skill_folder: Path, split: FieldSplit) -> Path:
    return skill_folder / FOLDER / "questions" / f"{split}.jsonl"


def has_field_questions(skill_folder: Path, split: FieldSplit) -> bool:
    return questions_file(skill_folder, split).is_file()


def load_questions(skill_folder: Path, split: FieldSplit) -> Sequence[FieldQuestion]:
    """Return all questions of a split, also those that nobody has checked. Raise StageError.

    Those of a test are refused if they are not the frozen ones.
    """
    file = questions_file(skill_folder, split)
    if not file.is_file():
        raise StageError(f"{file} is missing: write the {split} questions first (docs/field.md)")
    questions = read_lines(file, FieldQuestion)
    _check_unique(file, questions)
    if split in TESTS:
        _check_frozen(skill_folder, split)
    return questions


def frozen_file(skill_folder: Path, split: FieldSplit) -> Path:
    """Return the file with the hash of the questions of a test."""
    return skill_folder / FOLDER / f"{split}.sha256"


def freeze_questions(skill_folder: Path) -> str:
    """Write the hashes of the tests' questions and return that of `test`. Raise StageError."""
    if has_field_questions(skill_folder, "plain"):
        _freeze(skill_folder, "plain")
    return _freeze(skill_folder, "test")


def _freeze(skill_folder: Path, split: FieldSplit) -> str:
    frozen = _hash(questions_file(skill_folder, split))
    write_text(frozen_file(skill_folder, split), frozen + "\n")
    return frozen


def _check_frozen(skill_folder: Path, split: FieldSplit) -> None:
    frozen, file = frozen_file(skill_folder, split), questions_file(skill_folder, split)
    if not frozen.is_file():
        raise StageError(
            f"{frozen} is missing: type `skillstill field {skill_folder.name} --freeze` before you ask them"
        )
    if frozen.read_text(encoding="utf-8").strip() != _hash(file):
        raise StageError(f"{file} was changed since it was frozen: figures on other questions say nothing of these")


def _check_unique(file: Path, questions: Sequence[FieldQuestion]) -> None:
    ids = [question.id for question in questions]
    if twice := next((id for id in ids if ids.count(id) > 1), ""):
        raise StageError(f"{file}: {twice} is there twice; expected each id once")
    if lost := next((one.id for one in questions if one.after and one.after not in ids), ""):
        raise StageError(f"{file}: {lost} follows a question that is not there")


def _hash(file: Path) -> str:
    try:
        return file_sha256(file)
    except OSError as error:
        raise StageError(f"{file} cannot be read: {error.strerror}") from error
