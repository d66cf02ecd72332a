"""A large model that is asked for data: what it writes is read leniently and believed in nothing."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue
from skillstill.errors import ModelError, TeacherError
from skillstill.models.remote import GREEDY
from skillstill.types import Message

from skillstill_training.teachers.large_models import LargeModel
from skillstill_training.teachers.ledger import Ledger, Purpose
from skillstill_training.teachers.metered import open_metered
from skillstill_training.teachers.retries import RetryPolicy

WRITTEN = 4_000  # tokens of an answer, thoughts included


@dataclass(frozen=True)
class Asker:
    """`role`: what the model is told that it is."""

    model: LargeModel
    ledger: Ledger
    role: str
    purpose: Purpose = "probe"
    retries: RetryPolicy = field(default_factory=RetryPolicy)

    async def ask(self, prompt: str, about: str) -> Mapping[str, JsonValue]:
        """Return the object that it writes; an empty one if that cannot be read. Raise BudgetSpent and TeacherError."""
        said = (Message(role="system", content=self.role), Message(role="user", content=prompt))
        metered = open_metered(self.model, self.ledger, self.retries, GREEDY, purpose=self.purpose, goal=about)
        async with metered as model:
            try:
                turn = await model.complete(said, (), max_tokens=WRITTEN)
            except ModelError as error:
                raise TeacherError(f"the teacher could not be asked about {about}: {error}") from error
        return read_object(turn.content)


def read_object(text: str) -> Mapping[str, JsonValue]:
    """Return the JSON object in a text, whatever stands around it; empty if there is none."""
    try:
        found = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
