"""Many runs on one engine: a thread reads for all of them, and a batch holds tokens of several.

A run hands in *steps*, a generator that yields what it wants to be read, is sent the logits after the last token, and
returns its result. One thread drives all steps, and nobody else touches the engine. It ends if there is nothing to do.
"""

import asyncio
import logging
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock, Thread
from time import monotonic
from typing import Any, TypeVar

from skillstill.errors import ModelError
from skillstill.models.engine import Engine, Logits, Part
from skillstill.models.slot import Slot
from skillstill.types import Adapter
from skillstill.util.meters import EngineMeter

SHARED_BATCH = 64  # tokens of a batch while others wait, so that nobody waits for long: 5 to 10 % slower than 128
FEW = 8  # tokens that are read together with those of others: the next of a turn, and what a grammar forces
LOOK = 0.5  # seconds between two looks at how many cores are free
Result = TypeVar("Result")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Read:
    """Tokens that a sequence is to read next, at least one. `on_logits` is told those after each from `wanted` on."""

    tokens: Sequence[int]
    wanted: int = -1  # only the last
    on_logits: Callable[[int, Logits], None] | None = None

    @property
    def first_wanted(self) -> int:
        return self.wanted if self.on_logits else len(self.tokens) - 1


Steps = Generator[Read, Logits, Result]


@dataclass(slots=True, eq=False)
class Work:
    """Steps of one run: what they want read next, how much of it is, and when they last had a share of a batch."""

    slot: Slot
    adapter: Adapter | None
    steps: Steps[Any]
    future: Future[Any] = field(default_factory=Future)
    pending: Read | None = None
    done: int = 0
    last_served: float = field(default_factory=monotonic)

    @property
    def left(self) -> int:
        return len(self.pending.tokens) - self.done if self.pending else 0

    def begin(self) -> None:
        """Let the steps say what they want first. They run in the engine's thread, where they may touch their slot."""
        if self.pending is None and not self.future.cancelled():
            self._resume(None)

    def part(self, count: int) -> Part:
        """Return the next `count` tokens that are to be read as a part of a batch."""
        assert self.pending
        tokens = self.pending.tokens[self.done : self.done + count]
        wanted = min(len(tokens), max(0, self.pending.first_wanted - self.done))
        return Part(self.slot.sequence, len(self.slot.tokens), tokens, wanted)

    def advance(self, part: Part, rows: Sequence[Logits]) -> None:
        """Note what was read; if that was all that the steps wanted, let them go on."""
        assert self.pending
        self.slot.tokens += part.tokens
        if self.pending.on_logits:
            for at, logits in enumerate(rows, self.done + part.wanted):
                self.pending.on_logits(at, logits)
        self.done += len(part.tokens)
        if not self.left:
            self._resume(rows[-1])

    def fail(self, error: Exception) -> None:
        """End with this error. What the slot holds is not known any more."""
        self.steps.close()
        self.slot.drop()
        self._end(error=error)

    def abandon(self) -> None:
        """Let a cancelled run's steps clean up."""
        self.steps.close()

    def _resume(self, logits: Logits | None) -> None:
        try:
            self.pending, self.done = (next(self.steps) if logits is None else self.steps.send(logits)), 0
        except StopIteration as end:
            self._end(end.value)
        except Exception as error:
            self._end(error=error)

    def _end(self, value: object = None, error: Exception | None = None) -> None:
        self.pending = None
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error) if error else self.future.set_result(value)


class Scheduler:
    """Runs wait here for their share of the engine."""

    def __init__(self, engine: Engine, meter: EngineMeter) -> None:
        self._engine, self._meter = engine, meter
        self._lock = Lock()
        self._arrived: list[Work] = []
        self._thread: Thread | None = None
        self._looked = 0.0

    async def run(self, slot: Slot, adapter: Adapter | None, steps: Steps[Result]) -> Result:
        """Return what the steps return. If the caller is cancelled, they stop before the next batch.

        Raise what they raise, and ModelError if the engine fails.
        """
        work = Work(slot, adapter, steps)
        with self._lock:
            self._arrived.append(work)
            if self._thread is None:
                self._thread = Thread(target=self._serve, name="skillstill engine", daemon=True)
                self._thread.start()
        result: Result = await asyncio.wrap_future(work.future)
        return result

    def _serve(self) -> None:
        works: list[Work] = []
        try:
            while works := self._with_arrivals(works):
                began = monotonic()
                self._do_batch(works)
                self._meter.busy += monotonic() - began
        except BaseException as error:  # ours, or somebody ends the thread: whoever waits must hear of it
            log.warning("the engine stopped", exc_info=True)
            self._fail_all(works, ModelError(f"the engine stopped: {type(error).__name__}"))

    def _with_arrivals(self, works: Sequence[Work]) -> list[Work]:
        """Return the works that are not done, with those that came meanwhile. If there are none, the thread is over."""
        with self._lock:
            known = [*works, *self._arrived]
            self._arrived.clear()
            alive = [work for work in known if not work.future.done()]
            if not alive:
                self._thread = None
        for work in known:
            if work.future.cancelled():
                work.abandon()
        return alive

    def _do_batch(self, works: Sequence[Work]) -> None:
        """Read one batch."""
        for work in works:
            work.begin()
        waiting = [work for work in works if work.left]
        if not waiting:
            return
        group = _next_group(waiting)
        try:
            self._settle_threads()
            self._engine.use(group[0].adapter)
            room = SHARED_BATCH if len(waiting) > 1 else self._engine.capacity
            self._read(list(_shares(group, room)))
        except ModelError as error:
            for work in group:
                work.fail(error)

    def _read(self, shares: Sequence[tuple[Work, int]]) -> None:
        parts = [work.part(count) for work, count in shares]
        self._meter.count_batch([count for _, count in shares])
        now = monotonic()
        for (work, _), part, rows in zip(shares, parts, self._engine.read(parts), strict=True):
            work.last_served = now
            work.advance(part, rows)

    def _settle_threads(self) -> None:
        if monotonic() - self._looked > LOOK:
            self._engine.settle_threads()
            self._looked = monotonic()

    def _fail_all(self, works: Sequence[Work], error: ModelError) -> None:
        with self._lock:
            lost = [*works, *self._arrived]
            self._arrived.clear()
            self._thread = None
        for work in lost:
            if not work.future.done():
                work.fail(error)


def _next_group(waiting: Sequence[Work]) -> Sequence[Work]:
    """Return the work that has waited longest, and those of the same adapter that a batch can hold beside it.

    Works that want a few tokens share a batch, which costs hardly more than one of them alone. A long stretch is read
    by itself: llama.cpp splits a batch until its sequences are of equal length, and small pieces take longer (174
    tokens a second in place of 235).
    """
    first = min(waiting, key=lambda work: work.last_served)
    if first.left > FEW:
        return [first]
    return [work for work in waiting if work.adapter == first.adapter and work.left <= FEW]


def _shares(group: Sequence[Work], room: int) -> Iterator[tuple[Work, int]]:
    """Yield how many tokens of each work a batch holds. Those that have waited longest come first."""
    for work in sorted(group, key=lambda work: work.last_served):
        if count := min(work.left, room):
            yield work, count
        room -= count
