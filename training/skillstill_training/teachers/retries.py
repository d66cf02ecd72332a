"""Retries for a large model. Every request is counted in the ledger."""

from collections.abc import Sequence
from dataclasses import dataclass

import anyio
from skillstill.errors import ContextFull, ModelBusy, ModelError, TeacherError
from skillstill.types import Message, Model, ToolSchema, Usage

from skillstill_training.teachers.ledger import Ledger


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long to wait for an endpoint.

    tries     of one request. With the waits below, the five retries take a minute in all, as long as a restart
    first     seconds of the first wait, plus a random part of up to half of it; each further wait is twice as long
    longest   seconds of a wait; if a server asks for more, the request fails
    request   seconds of one request: enough for 1,000 tokens of a slow model
    """

    tries: int = 6
    first: float = 2.0
    longest: float = 60.0
    request: float = 300.0


class RetryingModel:
    """Repeats a request if the endpoint is busy, unreachable or too slow, after its `Retry-After` or with backoff.

    usages    of each request that was answered
    failure   the error of the last request; None if a retry succeeded, or if the context was full
    stop      the error that ends all runs: the budget is spent, or the model cannot be used
    """

    def __init__(self, model: Model, ledger: Ledger, policy: RetryPolicy) -> None:
        self.model, self.ledger, self.policy = model, ledger, policy
        self.usages: list[Usage] = []
        self.failure: ModelError | None = None
        self.stop: TeacherError | None = None

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        # Imported late: tenacity comes with an extra that only these teachers need.
        from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
        from tenacity.wait import wait_exponential_jitter

        first = self.policy.first
        back_off = wait_exponential_jitter(multiplier=first, max=self.policy.longest, jitter=first / 2)

        def wait(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            return error.after if isinstance(error, ModelBusy) and error.after is not None else back_off(state)

        retrying = AsyncRetrying(
            sleep=anyio.sleep,
            stop=stop_after_attempt(self.policy.tries),
            wait=wait,
            retry=retry_if_exception(self._is_temporary),
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

    def _is_temporary(self, error: BaseException) -> bool:
        return isinstance(error, ModelBusy) and (error.after or 0) <= self.policy.longest
