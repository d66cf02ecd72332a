"""Several places as one model. A run stays where it began, because its keys and values are there.

If its place fails, the turn is asked for again elsewhere, or in the same place after a moment if there is no other.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

import anyio

from skillstill.errors import ContextFull, ModelBusy, ModelError, SkillstillError
from skillstill.models.backends import Place, Unfit
from skillstill.types import Likelihoods, Message, Model, ModelSpec, Scorer, SecondThoughts, ToolSchema

PATIENCE = 10.0  # seconds that a run waits for a server that failed it
TRIES = 3  # times that a run asks the same server for a turn
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Seat:
    """A place that a run has taken, and the model there. Closing the stack leaves it."""

    place: Place
    model: Model
    stack: AsyncExitStack


class Relay:
    """The model of one run. If the first place tells likelihoods, it `scores`, and so does each that it goes on to."""

    def __init__(self, places: Sequence[Place], spec: ModelSpec) -> None:
        self.places, self.spec, self.scores = places, spec, False
        self._seat: Seat | None = None
        self._failures: dict[Place, list[SkillstillError]] = {}
        self._lost: set[Place] = set()
        self._answered: dict[str, None] = {}  # labels, in order

    async def __aenter__(self) -> Self:
        """Raise ModelError and BaseError if no place can be had."""
        self.scores = isinstance((await self._taken()).model, Scorer)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._leave()

    @property
    def label(self) -> str:
        """Return which places answered, in order; empty if none did."""
        return ", then ".join(self._answered)

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        return await self.ask(lambda model: model.complete(messages, tools, max_tokens=max_tokens))

    async def reconsider(self) -> Message | None:
        model = self._seat and self._seat.model
        return await model.reconsider() if isinstance(model, SecondThoughts) else None

    async def ask(self, ask: Callable[[Model], Awaitable[Answer]]) -> Answer:
        """Return what a model answers: that of this place, or of the next one if it fails. Raise ModelError."""
        while True:
            seat = await self._taken()
            try:
                answer = await ask(seat.model)
            except ContextFull:
                raise
            except ModelError as error:
                await self._leave()
                self._fail(seat.place, error, passes=isinstance(error, ModelBusy))
            else:
                self._succeed(seat.place)
                return answer

    async def _taken(self) -> Seat:
        while self._seat is None:
            place = self._next()
            await anyio.sleep(self._wait(place))
            stack = AsyncExitStack()
            try:
                model = await stack.enter_async_context(place.lease(self.spec))
                self._check(model)
            except SkillstillError as error:
                await stack.aclose()
                passes = isinstance(error, ModelBusy) and place.label(self.spec) in self._answered
                self._fail(place, error, passes=passes)
            else:
                self._seat = Seat(place, model, stack)
        return self._seat

    def _next(self) -> Place:
        """Return the place to ask: one that is well, of those the one with the fewest runs, and this process last."""
        left = [place for place in self.places if place not in self._lost]
        if not left:
            raise self._error()
        return min(left, key=lambda one: (self._wait(one), bool(one.rest), one.is_last_resort, one.runs))

    def _wait(self, place: Place) -> float:
        """Return for how many seconds to let the place rest: none if it failed another run, and may be well again."""
        return place.rest if place in self._failures else 0.0

    def _check(self, model: Model) -> None:
        if self.scores and not isinstance(model, Scorer):
            raise Unfit("it tells no likelihoods, as the place before it did")

    async def _leave(self) -> None:
        if self._seat:
            seat, self._seat = self._seat, None
            await seat.stack.aclose()

    def _succeed(self, place: Place) -> None:
        place.succeed()
        self._failures.pop(place, None)
        self._answered[place.label(self.spec)] = None

    def _fail(self, place: Place, error: SkillstillError, *, passes: bool) -> None:
        place.fail(error)
        failures = self._failures.setdefault(place, [])
        failures.append(error)
        if not passes or len(failures) >= TRIES or place.rest > PATIENCE:
            self._lost.add(place)

    def _error(self) -> SkillstillError:
        """Return why nobody can answer, each place with its last failure."""
        last = [self._failures[place][-1] for place in self.places if place in self._failures]
        return last[0] if len(last) == 1 else ModelError("no place can answer: " + "; ".join(map(str, last)))


class ScoringRelay:
    """A relay whose places tell likelihoods. It is a class of its own because the loop asks whether a model can."""

    def __init__(self, relay: Relay) -> None:
        self.relay = relay

    @property
    def label(self) -> str:
        return self.relay.label

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        return await self.relay.complete(messages, tools, max_tokens=max_tokens)

    async def reconsider(self) -> Message | None:
        return await self.relay.reconsider()

    async def likelihoods(self, text: str, passages: Sequence[str]) -> Likelihoods:
        return await self.relay.ask(lambda model: _likelihoods(model, text, passages))


async def _likelihoods(model: Model, text: str, passages: Sequence[str]) -> Likelihoods:
    assert isinstance(model, Scorer)  # as `Relay` demanded
    return await model.likelihoods(text, passages)
