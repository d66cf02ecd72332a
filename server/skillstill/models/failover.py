"""Several backends as one model. A run stays where it began, because its keys and values are there.

If its backend fails, the turn is asked for again elsewhere, or in the same backend after a moment if there is no other.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

import anyio

from skillstill.errors import ContextFull, ModelBusy, ModelError, SkillstillError
from skillstill.models.backends import Backend, Unfit
from skillstill.types import Likelihoods, Message, Model, ModelSpec, Scorer, SecondThoughts, ToolSchema

PATIENCE = 10.0  # seconds that a run waits for a server that failed it
TRIES = 3  # times that a run asks the same server for a turn
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Lease:
    """A backend that a run has taken, and the model there. Closing the stack leaves it."""

    backend: Backend
    model: Model
    stack: AsyncExitStack


class FailoverModel:
    """The model of one run. If the first backend tells likelihoods, it `scores`, and so does each later one."""

    def __init__(self, backends: Sequence[Backend], spec: ModelSpec) -> None:
        self.backends, self.spec, self.scores = backends, spec, False
        self._lease: Lease | None = None
        self._failures: dict[Backend, list[SkillstillError]] = {}
        self._lost: set[Backend] = set()
        self._answered: dict[str, None] = {}  # labels, in order

    async def __aenter__(self) -> Self:
        """Raise ModelError and BaseError if no backend can be had."""
        self.scores = isinstance((await self._leased()).model, Scorer)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._leave()

    @property
    def label(self) -> str:
        """Return which backends answered, in order; empty if none did."""
        return ", then ".join(self._answered)

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        return await self.ask(lambda model: model.complete(messages, tools, max_tokens=max_tokens))

    async def reconsider(self) -> Message | None:
        model = self._lease and self._lease.model
        return await model.reconsider() if isinstance(model, SecondThoughts) else None

    async def ask(self, ask: Callable[[Model], Awaitable[Answer]]) -> Answer:
        """Return what a model answers: that of this backend, or of the next one if it fails. Raise ModelError."""
        while True:
            lease = await self._leased()
            try:
                answer = await ask(lease.model)
            except ContextFull:
                raise
            except ModelError as error:
                await self._leave()
                self._fail(lease.backend, error, passes=isinstance(error, ModelBusy))
            else:
                self._succeed(lease.backend)
                return answer

    async def _leased(self) -> Lease:
        while self._lease is None:
            backend = self._next()
            await anyio.sleep(self._wait(backend))
            stack = AsyncExitStack()
            try:
                model = await stack.enter_async_context(backend.lease(self.spec))
                self._check(model)
            except SkillstillError as error:
                await stack.aclose()
                passes = isinstance(error, ModelBusy) and backend.label(self.spec) in self._answered
                self._fail(backend, error, passes=passes)
            else:
                self._lease = Lease(backend, model, stack)
        return self._lease

    def _next(self) -> Backend:
        """Return the backend to ask: one that is well, of those the one with the fewest runs, and this process last."""
        left = [backend for backend in self.backends if backend not in self._lost]
        if not left:
            raise self._error()
        return min(left, key=lambda one: (self._wait(one), bool(one.cooldown), one.is_last_resort, one.runs))

    def _wait(self, backend: Backend) -> float:
        """Return for how many seconds to let the backend rest: none if it failed another run, and may be well again."""
        return backend.cooldown if backend in self._failures else 0.0

    def _check(self, model: Model) -> None:
        if self.scores and not isinstance(model, Scorer):
            raise Unfit("it tells no likelihoods, as the place before it did")

    async def _leave(self) -> None:
        if self._lease:
            lease, self._lease = self._lease, None
            await lease.stack.aclose()

    def _succeed(self, backend: Backend) -> None:
        backend.note_success()
        self._failures.pop(backend, None)
        self._answered[backend.label(self.spec)] = None

    def _fail(self, backend: Backend, error: SkillstillError, *, passes: bool) -> None:
        backend.note_failure(error)
        failures = self._failures.setdefault(backend, [])
        failures.append(error)
        if not passes or len(failures) >= TRIES or backend.cooldown > PATIENCE:
            self._lost.add(backend)

    def _error(self) -> SkillstillError:
        """Return why nobody can answer, each backend with its last failure."""
        last = [self._failures[backend][-1] for backend in self.backends if backend in self._failures]
        return last[0] if len(last) == 1 else ModelError("no place can answer: " + "; ".join(map(str, last)))


class ScoringFailoverModel:
    """One whose backends tell likelihoods. It is a class of its own because the loop asks whether a model can."""

    def __init__(self, model: FailoverModel) -> None:
        self.model = model

    @property
    def label(self) -> str:
        return self.model.label

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        return await self.model.complete(messages, tools, max_tokens=max_tokens)

    async def reconsider(self) -> Message | None:
        return await self.model.reconsider()

    async def likelihoods(self, text: str, passages: Sequence[str]) -> Likelihoods:
        return await self.model.ask(lambda model: _likelihoods(model, text, passages))


async def _likelihoods(model: Model, text: str, passages: Sequence[str]) -> Likelihoods:
    assert isinstance(model, Scorer)  # as `FailoverModel` demanded
    return await model.likelihoods(text, passages)
