"""What an engine has done, counted while it works.

No lock is held: each number of a meter is written by one thread alone, and whoever reads sees it a moment old at most.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic
from weakref import ref

WINDOW = 10.0  # seconds that a rate is of


@dataclass(frozen=True, slots=True)
class Look:
    """What was counted at a time."""

    at: float = field(default_factory=monotonic)
    tokens: int = 0
    seconds: float = 0.0


@dataclass(slots=True, eq=False, weakref_slot=True)
class EngineMeter:
    """The work of one base. `busy` is the seconds in which its thread worked, `parts` counts runs in batches.

    `read`, `reused` and `written` are tokens of turns: read anew, found in a cache, written. `tokens` are all that went
    through batches. The event loop writes `slots_used` and whoever looks writes `looks`; the rest is the engine's.
    """

    base: str
    form: str
    slots: int
    capacity: int
    slots_used: int = 0
    batches: int = 0
    parts: int = 0
    tokens: int = 0
    busy: float = 0.0
    read: int = 0
    reused: int = 0
    written: int = 0
    looks: deque[Look] = field(default_factory=lambda: deque([Look()]))

    def count_batch(self, sizes: Sequence[int]) -> None:
        """Count a batch that held so many tokens of each run."""
        self.batches += 1
        self.parts += len(sizes)
        self.tokens += sum(sizes)

    def look(self) -> None:
        """Note what is counted now, as a beginning for rates. One thread does so, about once a second."""
        self.looks.append(now := Look(monotonic(), self.tokens, self.busy))
        while now.at - self.looks[1].at >= WINDOW:
            self.looks.popleft()

    def rates(self) -> tuple[float, float]:
        """Return the tokens a second and the share of the time in which the engine worked, of the last WINDOW."""
        first = self.looks[0]
        if (seconds := monotonic() - first.at) <= 0:
            return 0.0, 0.0
        return (self.tokens - first.tokens) / seconds, min(1.0, (self.busy - first.seconds) / seconds)


_meters: list[ref[EngineMeter]] = []


def engine_meter(base: str, form: str, slots: int, capacity: int) -> EngineMeter:
    """Return a new meter, which is among those of this process as long as its engine lives."""
    _meters.append(ref(meter := EngineMeter(base, form, slots, capacity)))
    return meter


def engine_meters() -> Sequence[EngineMeter]:
    """Return the meters of the engines of this process, the oldest first."""
    return [meter for one in list(_meters) if (meter := one())]
