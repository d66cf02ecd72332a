"""What a serving process has done and does now, as a value. It holds no prompt, no answer and no path."""

from collections.abc import Mapping
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict

from skillstill.util.meters import EngineMeter


class _Value(BaseModel):
    """Immutable. What another version adds is passed over: processes of several versions serve side by side."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class RunCounters(_Value):
    """The runs of one subagent: those that wait for a place or work now, and all others by how they ended.

    remembered   those that were answered from memory, without a model; they are among the answered
    stopped      those whose caller went away
    """

    waiting: int = 0
    running: int = 0
    answered: int = 0
    escalate: int = 0
    failed: int = 0
    stopped: int = 0
    remembered: int = 0


class EngineCounters(_Value):
    """The work of one base in memory.

    read, reused, written  tokens of turns: read anew, found in a cache in place of reading, written
    tokens, parts          tokens that went through batches, and how many runs had a share of one, added up
    busy_seconds           in which the engine worked
    tokens_per_second, busy_share  of the last ten seconds
    """

    base: str
    form: str
    slots: int
    slots_used: int
    read: int
    reused: int
    written: int
    batches: int
    batch_capacity: int
    parts: int
    tokens: int
    busy_seconds: float
    tokens_per_second: float
    busy_share: float

    @classmethod
    def of(cls, meter: EngineMeter) -> "EngineCounters":
        rate, share = meter.rates()
        return cls(
            base=meter.base,
            form=meter.form,
            slots=meter.slots,
            slots_used=meter.slots_used,
            read=meter.read,
            reused=meter.reused,
            written=meter.written,
            batches=meter.batches,
            batch_capacity=meter.capacity,
            parts=meter.parts,
            tokens=meter.tokens,
            busy_seconds=round(meter.busy, 3),
            tokens_per_second=round(rate, 1),
            busy_share=round(share, 3),
        )


class Counters(_Value):
    """All of a process at one time. `engines` is empty before the first run, and if another server does the work."""

    process: int
    version: str
    started: datetime
    at: datetime
    memory_bytes: int
    subagents: Mapping[str, RunCounters] = {}
    engines: tuple[EngineCounters, ...] = ()

    def tells_news(self, before: "Counters") -> bool:
        """Return whether more than the time and the memory has changed, which change by themselves."""
        return (self.subagents, self.engines) != (before.subagents, before.engines)

    @property
    def seconds(self) -> float:
        """Return how long the process has been serving, now."""
        return (datetime.now(UTC) - self.started).total_seconds()
