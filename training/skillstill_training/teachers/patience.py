"""A model behind an endpoint, with patience for what passes: asked again after a wait, and every request counted."""

from collections.abc import Sequence
from dataclasses import dataclass

import anyio
from skillstill.errors import ContextFull, ModelBusy, ModelError, TeacherError
from skillstill.types import Message, Model, ToolSchema, Usage

from skillstill_training.teachers.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long to wait for an endpoint.

    tries     of one request. With the waits below, five further ones take a minute in all: what a restart needs
    first     seconds of the first wait, and up to half of that more, by chance; each further one is twice as long
    longest   seconds of a wait; a server that asks for more is not waited for
    request   seconds of one request: a slow model writes 1,000 tokens in them
    """

    tries: int = 6
    first: float = 2.0
    longest: float = 60.0
    request: float = 300.0


class PatientModel:
    """Asks again where the endpoint is busy, out of reach or too slow: after its `Retry-After`, or backing off.

    usages    of each request that was answered
    failure   what ended the last request, unless that was answered after all; not what ended a run otherwise
    stop      why no run can go on: the budget, or an endpoint that does not count
    """

    def __init__(self, model: Model, ledger: Ledger, patience: Patience) -> None:
        self.model, self.ledger, self.patience = model, ledger, patience
        self.usages: list[Usage] = []
        self.failure: ModelError | None = None
        self.stop: TeacherError | None = None

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        # Delayed: it comes with an extra that only such teachers need.
        from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
        from tenacity.wait import wait_exponential_jitter

        first = self.patience.first
        back_off = wait_exponential_jitter(multiplier=first, max=self.patience.longest, jitter=first / 2)

        def wait(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            return error.after if isinstance(error, ModelBusy) and error.after is not None else back_off(state)

        retrying = AsyncRetrying(
            sleep=anyio.sleep,
            stop=stop_after_attempt(self.patience.tries),
            wait=wait,
            retry=retry_if_exception(self._passes),
            reraise=True,
        )
        return await retrying(self._ask, messages, tools, max_tokens)

    async def _ask(self, messages: Sequence[Message], tools: Sequence[ToolSchema], max_tokens: int) -> Message:
        try:
            self.ledger.check()
            turn = await self.model.complete(messages, tools, max_tokens=max_tokens)
            self.failure = None
            self.usages.append(turn.usage or Usage())
            self.ledger.count(turn.usage)
        except TeacherError as stop:
            self.stop = stop
            raise
        except ModelError as error:
            self.failure = None if isinstance(error, ContextFull) else error
            raise
        return turn

    def _passes(self, error: BaseException) -> bool:
        return isinstance(error, ModelBusy) and (error.after or 0) <= self.patience.longest
