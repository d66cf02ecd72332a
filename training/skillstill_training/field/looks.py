"""The log of looks at the test questions: `field/looks.jsonl` of a skill folder, one line a look."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from skillstill.errors import UsageError
from skillstill.types import Frozen

from skillstill_training.authoring.goal import FieldSplit
from skillstill_training.field.question import FOLDER, frozen_file
from skillstill_training.util.jsonl import Appender


class FieldLook(Frozen):
    """One look: when, why, with which arms and which adapter, at the questions with the hash `questions`."""

    date: datetime
    reason: str
    arms: tuple[str, ...]
    adapter: str
    questions: str


def log_field_look(skill_folder: Path, split: FieldSplit, arms: Sequence[str], adapter: str, reason: str) -> None:
    """Write a look to the log before the questions are asked. Raise UsageError without a reason, and StageError."""
    if not reason.strip():
        raise UsageError("a look at the test questions needs its reason: --reason 'release 10 of logs'")
    frozen = frozen_file(skill_folder, split).read_text(encoding="utf-8").strip()
    look = FieldLook(date=datetime.now(UTC), reason=reason.strip(), arms=tuple(arms), adapter=adapter, questions=frozen)
    with Appender(skill_folder / FOLDER / "looks.jsonl") as log:
        log.append([look])
