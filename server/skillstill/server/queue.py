"""First come, first served: how many runs work at once, and who waits how far from the front."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio

from skillstill.errors import UsageError

OnPosition = Callable[[int], Awaitable[None]]


class Queue:
    """`places` runs at once; at most `waiting` more, so that a flood is refused and not stored."""

    def __init__(self, places: int, waiting: int = 64) -> None:
        self.places, self.waiting = places, waiting
        self._inside = 0
        self._line: list[object] = []
        self._changed = anyio.Event()

    @asynccontextmanager
    async def place(self, on_position: OnPosition) -> AsyncIterator[None]:
        """Wait for a place, telling the caller how many wait before it. Raise UsageError if the line is full."""
        if self._inside >= self.places and len(self._line) >= self.waiting:
            raise UsageError(f"{self.waiting} runs are waiting already: try again later")
        await self._wait(on_position)
        try:
            yield
        finally:
            self._inside -= 1
            self._stir()

    async def _wait(self, on_position: OnPosition) -> None:
        ticket, announced = object(), -1
        self._line.append(ticket)
        try:
            while self._inside >= self.places or self._line[0] is not ticket:
                changed = self._changed  # before telling: what changes meanwhile must not be missed
                if (before := self._line.index(ticket)) != announced:
                    announced = before
                    await on_position(before)
                await changed.wait()
            self._inside += 1
        finally:
            self._line.remove(ticket)
            self._stir()

    def _stir(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()
