"""A large model that is asked for data: what it writes is read leniently and believed in nothing."""

import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pydantic import JsonValue
from skillstill.errors import ModelError, TeacherError
from skillstill.models.remote import GREEDY
from skillstill.types import Message

from skillstill_training.teachers.large_models import LargeModel, Priced
from skillstill_training.teachers.ledger import Ledger, LedgerEntry, Purpose, sum_usage
from skillstill_training.teachers.retries import RetryingModel, RetryPolicy

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
        async with AsyncExitStack() as stack:
            opened = await stack.enter_async_context(
                self.model.open(GREEDY, seconds=self.retries.request, usd=self.ledger.usd_left)
            )
            model = RetryingModel(opened, self.ledger, self.retries)
            try:
                turn = await model.complete(said, (), max_tokens=WRITTEN)
            except ModelError as error:
                raise TeacherError(f"the teacher could not be asked about {about}: {error}") from error
            finally:
                await stack.aclose()
                self.ledger.write(self._entry(model, opened.usd if isinstance(opened, Priced) else None, about))
        return read_object(turn.content)

    def _entry(self, model: RetryingModel, usd: float | None, about: str) -> LedgerEntry:
        usage = sum_usage(model.usages)
        return LedgerEntry(
            when=datetime.now(UTC),
            teacher=self.model.name,
            purpose=self.purpose,
            goal=about,
            sample=0,
            requests=len(model.usages),
            prompt=usage.prompt,
            cached=usage.reused,
            completion=usage.completion,
            usd=usd,
        )


def read_object(text: str) -> Mapping[str, JsonValue]:
    """Return the JSON object in a text, whatever stands around it; empty if there is none."""
    try:
        found = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
