"""A model that is asked for proposals: what it writes is data, read leniently and believed in nothing."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pydantic import JsonValue
from skillstill.errors import ModelError, TeacherError
from skillstill.models.remote import GREEDY, Endpoint, RemoteChat
from skillstill.types import Message

from skillstill_training.teachers.ledger import Ledger, LedgerEntry, sum_usage
from skillstill_training.teachers.retries import RetryingModel, RetryPolicy

WRITTEN = 4_000  # tokens of an answer, thoughts included
ROLE = "You prepare questions that a small subagent will be taught and tested with. Reply with one JSON value alone."


@dataclass(frozen=True)
class Asker:
    endpoint: Endpoint
    ledger: Ledger
    retries: RetryPolicy = field(default_factory=RetryPolicy)

    async def ask(self, prompt: str, about: str) -> Mapping[str, JsonValue]:
        """Return the object that it writes; an empty one if that cannot be read. Raise BudgetSpent and TeacherError."""
        said = (Message(role="system", content=ROLE), Message(role="user", content=prompt))
        async with RemoteChat(self.endpoint, GREEDY, seconds=self.retries.request) as remote:
            model = RetryingModel(remote, self.ledger, self.retries)
            try:
                turn = await model.complete(said, (), max_tokens=WRITTEN)
            except ModelError as error:
                raise TeacherError(f"the teacher could not be asked for proposals: {error}") from error
            finally:
                self.ledger.write(self._entry(model, about))
        return read_object(turn.content)

    def _entry(self, model: RetryingModel, about: str) -> LedgerEntry:
        usage = sum_usage(model.usages)
        return LedgerEntry(
            when=datetime.now(UTC),
            teacher=self.endpoint.model,
            purpose="probe",
            goal=about,
            sample=0,
            requests=len(model.usages),
            prompt=usage.prompt,
            cached=usage.reused,
            completion=usage.completion,
        )


def read_object(text: str) -> Mapping[str, JsonValue]:
    """Return the JSON object in a text, whatever stands around it; empty if there is none."""
    try:
        found = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
