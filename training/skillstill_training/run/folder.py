"""The folder of one run of the pipeline, `runs/<skill>/<stamp>/`: where each stage finds and leaves its files."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from pydantic import ValidationError
from skillstill.errors import GateError, StageError
from skillstill.types import Frozen

from skillstill_training.authoring.goal import Goal, Split
from skillstill_training.authoring.verdicts import judges_hash
from skillstill_training.run.recipe import Recipe
from skillstill_training.util.hashes import file_sha256, files_sha256
from skillstill_training.util.jsonl import read_lines, write_text

NOT_HASHED = {"__pycache__", ".mypy_cache"}


class Freeze(Frozen):
    """What success was when goals were made: hashes of the goals, of the checks' verdicts, of the skill's folder."""

    goals: str
    judges: str
    skill: str


@dataclass(frozen=True, slots=True)
class RunFolder:
    path: Path

    @property
    def goals(self) -> Path:
        return self.path / "1-goals.jsonl"

    @property
    def traces(self) -> Path:
        return self.path / "2-traces.jsonl"

    def part(self, teacher: str) -> Path:
        """Return where a teacher's rows stand until it is done."""
        return self.path / f"2-traces.{teacher}.part.jsonl"

    @property
    def recorded_goals(self) -> Path:
        return self.path / "1-recorded.jsonl"

    @property
    def recorded_traces(self) -> Path:
        return self.path / "2-recorded.jsonl"

    @property
    def demonstrations(self) -> Path:
        """Return the traces of plans for field questions."""
        return self.path / "2-field.jsonl"

    @property
    def practice(self) -> Path:
        """Return the traces of field questions that an adapter has tried by itself."""
        return self.path / "2-practice.jsonl"

    @property
    def judges(self) -> Path:
        """Return a line for each judge of a rubric that has refused what was spoiled."""
        return self.path / "judges.jsonl"

    @property
    def dataset(self) -> Path:
        return self.path / "3-dataset.jsonl"

    @property
    def refused(self) -> Path:
        """Return a dataset that its gate has not let through."""
        return self.path / "3-refused.jsonl"

    @property
    def adapter(self) -> Path:
        """Return a folder: the PEFT adapter that training chose, its checkpoints, the course of the loss."""
        return self.path / "4-adapter"

    @property
    def exported(self) -> Path:
        return self.path / "6-adapter.gguf"

    @property
    def field(self) -> Path:
        """Return a folder: what the arms answered to field questions, and the page to read it."""
        return self.path / "7-field"

    def outcomes(self, split: Split, arm: str) -> Path:
        """Return what became of each goal: a row as soon as it is done."""
        return self.path / "7-outcomes" / f"{split}.{arm}.jsonl"

    def attempts(self, split: Split, arm: str) -> Path:
        """Return what became of each goal that a rubric judges: apart from the outcomes that a program checks."""
        return self.path / "7-judged" / f"{split}.{arm}.jsonl"

    @property
    def verdicts(self) -> Path:
        """Return what the judge of a rubric said of each of these attempts."""
        return self.path / "7-judged" / "verdicts.jsonl"

    @property
    def judged(self) -> Path:
        """Return the figures that a rubric's judge stands for. No gate and no release reads them."""
        return self.path / "7-judged.json"

    @property
    def looks(self) -> Path:
        """Return a line for each look at the test set."""
        return self.path / "looks.jsonl"

    @property
    def scorecard(self) -> Path:
        return self.path / "7-scorecard.json"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def page(self) -> Path:
        return self.path / "index.html"

    @classmethod
    def new(cls, runs: Path, skill: str) -> "RunFolder":
        """Return a new one, named by the time: by the first second from now on that no other has. Raise StageError."""
        now = datetime.now(UTC)
        stamps = ((now + timedelta(seconds=later)).strftime("%Y%m%dT%H%M%S") for later in count())
        try:
            return cls(next(path for stamp in stamps if _made(path := runs / skill / stamp)))
        except OSError as error:
            raise StageError(f"{runs / skill} cannot be written: {error.strerror}") from error

    @classmethod
    def latest(cls, runs: Path, skill: str) -> "RunFolder":
        """Return the newest one that holds frozen goals. Raise StageError."""
        found = sorted(file.parent for file in (runs / skill).glob("*/frozen.json"))
        if not found:
            raise StageError(f"no frozen goals in {runs / skill}: type `skillstill goals {skill}` first")
        return cls(found[-1])

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other commands out of this run meanwhile. A folder that stayed empty is removed.

        Raise StageError if another one is at work there.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise StageError(f"{self.path} cannot be opened: {error.strerror}") from error
        try:
            _lock(descriptor, self.path)
            try:
                yield
            finally:  # not for whoever was refused: the folder is another's, empty or not
                with suppress(OSError):
                    self.path.rmdir()
        finally:
            os.close(descriptor)

    def save_recipe(self, recipe: Recipe) -> None:
        write_text(self.path / "recipe.json", recipe.model_dump_json(indent=1) + "\n")

    def recipe(self) -> Recipe:
        """Return the resolved recipe that the goals were made by. Raise StageError."""
        try:
            return Recipe.model_validate_json((self.path / "recipe.json").read_text(encoding="utf-8"))
        except (OSError, ValidationError) as error:
            raise StageError(f"{self.path / 'recipe.json'} cannot be read: make the goals again") from error

    def follow(self, today: Recipe) -> Recipe:
        """Return the recipe that this run goes by: of today's, what it says of training and measuring is taken over.

        Not if it would make other goals or another dataset: then the run's own stays. Raise StageError.
        """
        if (self.path / "recipe.json").exists() and (mine := self.recipe()) != (today := today.sized(mine.size)):
            if not mine.makes_what(today):
                return mine
            self.save_recipe(today)
        return today

    def freeze(self, skill: Path) -> None:
        """Write the hashes of goals and judges, which later stages check: from here on, success cannot drift."""
        frozen = Freeze(goals=file_sha256(self.goals), judges=judges_hash(), skill=_folder_hash(skill))
        write_text(self.path / "frozen.json", frozen.model_dump_json(indent=1) + "\n")

    def frozen_goals(self) -> tuple[Goal, ...]:
        """Return the goals, unchanged since they were frozen. Raise GateError and StageError."""
        try:
            frozen = Freeze.model_validate(json.loads((self.path / "frozen.json").read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise StageError(f"{self.path} holds no frozen goals: make them again") from error
        if file_sha256(self.goals) != frozen.goals:
            raise GateError(f"{self.goals} was changed after it was frozen: make the goals again")
        if judges_hash() != frozen.judges:
            raise GateError("answers are judged otherwise than when these goals were frozen: make them again")
        return tuple(read_lines(self.goals, Goal))


def _made(path: Path) -> bool:
    """Return whether it could be made; False if it was there."""
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        return False
    return True


def _lock(descriptor: int, path: Path) -> None:
    """Raise StageError."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise StageError(f"another command is at work in {path}: wait until it is done, or end it first") from error


def _folder_hash(folder: Path) -> str:
    """Return a hash of the names and contents of its files."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and NOT_HASHED.isdisjoint(file.parts))
    return files_sha256(folder, (str(file.relative_to(folder)) for file in files))
