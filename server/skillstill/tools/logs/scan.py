"""Choosing entries of logs by level, time and pattern, and counting what was chosen among how many."""

import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import TypeVar

from anyio import to_thread

from skillstill.errors import Refusal
from skillstill.tools.kit.pattern_variants import lacking, readings, respelled
from skillstill.tools.kit.ripgrep import BadPattern, matching_numbers
from skillstill.tools.logs.files import Entry, Logs, logs_under
from skillstill.tools.logs.ids import entry_at, tie
from skillstill.tools.logs.times import Bound, said, said_range
from skillstill.workspace import Workspace

Gathered = TypeVar("Gathered")
Numbers = Mapping[str, set[int]]
# An error that nobody survived is an error too; whoever asks for warnings wants no errors among them.
LEVELS_OF = {name: frozenset({name.upper()}) for name in ("critical", "warn", "info", "debug")} | {
    "error": frozenset({"ERROR", "CRITICAL"})
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for, as the tools' arguments say it."""

    path: str
    level: str
    pattern: str
    since: str
    until: str
    related: str = ""

    def __str__(self) -> str:
        """In words that come after a number: `ERROR or CRITICAL entries match 'x' since 10:00`."""
        levels = " or ".join(sorted(LEVELS_OF[self.level], reverse=True)) if self.level else ""
        matched = any((self.level, self.pattern, self.since, self.until))
        words = [levels, "entries", f"related to {self.related}" if self.related else "", "match" if matched else ""]
        words += [repr(self.pattern) if self.pattern else ""]
        words += [f"{name} {time}" for name, time in (("since", self.since), ("until", self.until)) if time]
        return " ".join(filter(None, words))

    @property
    def is_choice(self) -> bool:
        return any((self.level, self.pattern, self.since, self.until, self.related))


@dataclass(slots=True)
class Extent:
    """How many entries, in which files, from when to when, and which of the files tell levels and times at all."""

    files: Counter[str] = field(default_factory=Counter)
    with_levels: set[str] = field(default_factory=set)
    with_times: set[str] = field(default_factory=set)
    first: datetime | None = None
    last: datetime | None = None

    def add(self, entry: Entry) -> None:
        self.files[entry.path] += 1
        if entry.level:
            self.with_levels.add(entry.path)
        if entry.time:
            self.with_times.add(entry.path)
            self.first = entry.time if self.first is None or entry.time < self.first else self.first
            self.last = entry.time if self.last is None or entry.time > self.last else self.last

    @property
    def total(self) -> int:
        return self.files.total()

    def __str__(self) -> str:
        """`3 files, 2026-03-01 10:00:02 to 10:41:10`."""
        times = f", {said_range(self.first, self.last)}" if self.first and self.last else ""
        return f"{len(self.files)} files{times}"


@dataclass(slots=True)
class Scan:
    """One pass over the logs: all entries are counted, those that are chosen are counted and passed on."""

    logs: Logs
    wanted: Wanted
    numbers: Numbers | None
    since: Bound | None = None
    until: Bound | None = None
    tied: re.Pattern[str] | None = None
    everything: Extent = field(default_factory=Extent)
    chosen: Extent = field(default_factory=Extent)

    def entries(self) -> Iterator[Entry]:
        if not self.wanted.is_choice:
            self.chosen = self.everything
        levels = LEVELS_OF.get(self.wanted.level)
        for entry in self.logs.entries():
            self.everything.add(entry)
            if levels and entry.level not in levels:
                continue
            if (self.since or self.until) and not _within(entry.time, self.since, self.until):
                continue
            if self.tied and not self.tied.search(entry.text):
                continue
            if self.numbers is not None and not _touches(entry, self.numbers):
                continue
            if self.wanted.is_choice:
                self.chosen.add(entry)
            yield entry


async def scanned(
    workspace: Workspace, wanted: Wanted, gather: Callable[[Iterable[Entry]], Gathered]
) -> tuple[Scan, Gathered, str]:
    """What was gathered from the first reading of the pattern that chooses any entry, and a remark on that reading.

    Where none does, the remark is on what could not be read.
    """
    logs = await logs_under(workspace, wanted.path)
    since, until = await to_thread.run_sync(_window, wanted, logs)
    if since and until and since.daily == until.daily and since.first > until.first:
        raise Refusal(f"since {wanted.since} is after until {wanted.until}: exchange them")
    tied = await to_thread.run_sync(tie, wanted.related, logs) if wanted.related else None
    async for numbers, remark in _readings(workspace, wanted.pattern, logs):
        scan = Scan(logs, wanted, numbers, since, until, tied)
        gathered = await to_thread.run_sync(gather, scan.entries())
        if scan.chosen.total:
            return scan, gathered, remark
    return scan, gathered, remark


async def _readings(workspace: Workspace, pattern: str, logs: Logs) -> AsyncIterator[tuple[Numbers | None, str]]:
    """The lines that match in each reading of the pattern; last, that none does, and what could not be read."""
    if not pattern:
        yield None, ""
        return
    if "\n" in pattern:
        raise Refusal("a pattern has no line break: give the most telling of its lines")
    files = [log.path for log in logs.files]
    unread = ""
    for reading in chain(readings(pattern), respelled(pattern)) if files else ():
        try:
            numbers = await matching_numbers(workspace, reading.pattern, files, reading.case, literal=reading.literal)
        except BadPattern as error:
            unread = lacking(error)
            continue
        if numbers:
            yield numbers, reading.remark
    yield {}, unread


def _window(wanted: Wanted, logs: Logs) -> tuple[Bound | None, Bound | None]:
    """Raises Refusal, with a time that these logs have."""
    return _bound("since", wanted.since, logs), _bound("until", wanted.until, logs)


def _bound(name: str, text: str, logs: Logs) -> Bound | None:
    if not text:
        return None
    if bound := _of_entry(text, logs) or Bound.of(text, logs.clock):
        return bound
    example = logs.clock.example
    like = said(logs.clock.settled(example)) if example else "2026-03-01 10:00:02"
    raise Refusal(f"{name}: {text!r} is no time: give one like {like[-8:-3]}" + (f" or {like}" if like[8:] else ""))


def _of_entry(text: str, logs: Logs) -> Bound | None:
    """The time of the entry that stands at `path:line`. None where the text names none that has a time."""
    entry = entry_at(text, logs)
    return Bound.at(entry.time) if entry and entry.time else None


def _within(time: datetime | None, since: Bound | None, until: Bound | None) -> bool:
    return time is not None and not (since and not since.has_begun(time)) and not (until and until.is_over(time))


def _touches(entry: Entry, numbers: Numbers) -> bool:
    inside = numbers.get(entry.path, ())
    if entry.first == entry.last:
        return entry.first in inside
    return any(line in inside for line in range(entry.first, entry.last + 1))
