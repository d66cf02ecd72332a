"""What this server does, counted: its runs here, what its engines do with them; published once a second for `top`."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import anyio
from anyio import to_thread

from skillstill.server import telemetry
from skillstill.types import Tally, Trace
from skillstill.util import counter_files
from skillstill.util.counters import Counters, EngineCounters, RunCounters
from skillstill.util.meters import engine_meters

SECONDS = 1.0  # between two looks
State = Literal["waiting", "running", "answered", "escalate", "failed", "stopped"]
Tallied = dict[str, int]
log = logging.getLogger(__name__)


@dataclass(slots=True)
class CountedRun:
    """A run, counted under its state."""

    counts: Tallied
    state: State = "waiting"

    def __post_init__(self) -> None:
        self.counts[self.state] += 1

    def move(self, state: State) -> None:
        self.counts[self.state] -= 1
        self.counts[state] += 1
        self.state = state

    def end(self, trace: Trace) -> None:
        self.move(trace.report.status)
        self.counts["remembered"] += trace.report.status == "answered" and trace.tally == Tally()


@dataclass(frozen=True, slots=True)
class Counting:
    """Only the event loop counts runs; anybody may look."""

    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    version: str = field(default_factory=lambda: version("skillstill"))
    _runs: dict[str, Tallied] = field(default_factory=dict)

    @contextmanager
    def run(self, name: str) -> Iterator[CountedRun]:
        """Count a run of a subagent, which waits at first. If it raises, it has failed; cancelled, it was stopped."""
        run = CountedRun(self._runs.setdefault(name, dict.fromkeys(RunCounters.model_fields, 0)))
        try:
            yield run
        except Exception:
            run.move("failed")
            raise
        except BaseException:
            run.move("stopped")
            raise

    def counters(self) -> Counters:
        """Return what is so now."""
        return Counters(
            process=os.getpid(),
            version=self.version,
            started=self.started,
            at=datetime.now(UTC),
            memory_bytes=memory(),
            subagents={name: RunCounters(**counts) for name, counts in sorted(self._runs.items())},
            engines=tuple(map(EngineCounters.of, engine_meters())),
        )

    async def publish(self) -> None:
        """Write the counters for `top`, at most once a second and only if they changed, until cancelled."""
        shown = self.counters()
        try:
            await to_thread.run_sync(_write, shown)
            await anyio.sleep(SECONDS)
            await to_thread.run_sync(telemetry.register, self.counters)  # not before the first answers
            while True:
                shown = await self._publish_news(shown)
                await anyio.sleep(SECONDS)
        finally:
            counter_files.retract()

    async def _publish_news(self, shown: Counters) -> Counters:
        for meter in engine_meters():
            meter.look()
        if not (now := self.counters()).tells_news(shown):
            return shown
        await to_thread.run_sync(_write, now)
        return now


def _write(counters: Counters) -> None:
    """Write them if that is possible: a full disk stops no server."""
    try:
        counter_files.publish(counters)
    except OSError as error:
        log.debug("the counters are not written: %s", error)


def memory() -> int:
    """Return how many bytes of memory this process takes now; where only its largest is known, that."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGESIZE")
    import resource  # Unix alone has it

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
