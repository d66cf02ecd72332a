"""One pass over logs: entries are chosen by level, time, pattern and ids, and counted."""

import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import TypeVar

from anyio import to_thread

from skillstill.errors import Refusal
from skillstill.tools.kit.pattern_variants import lacking, readings, respellings
from skillstill.tools.kit.ripgrep import BadPattern, matching_numbers
from skillstill.tools.logs.files import LogEntry, Logs, component_of_file, logs_under
from skillstill.tools.logs.ids import entry_at, related_pattern
from skillstill.tools.logs.times import TimeBound, format_range, format_time
from skillstill.workspace import Workspace

Gathered = TypeVar("Gathered")
Numbers = Mapping[str, set[int]]
# An error that nobody survived is an error too; whoever asks for warnings wants no errors among them.
LEVELS_OF = {name: frozenset({name.upper()}) for name in ("critical", "warn", "info", "debug")} | {
    "error": frozenset({"ERROR", "CRITICAL"})
}


@dataclass(frozen=True, slots=True)
class Criteria:
    """Which entries are asked for, as the tools' arguments say it."""

    path: str
    level: str
    pattern: str
    since: str
    until: str
    related: str = ""

    def __str__(self) -> str:
        """Return the words that come after a number: `ERROR or CRITICAL entries match 'x' since 10:00`."""
        levels = " or ".join(sorted(LEVELS_OF[self.level], reverse=True)) if self.level else ""
        matched = any((self.level, self.pattern, self.since, self.until))
        words = [levels, "entries", f"related to {self.related}" if self.related else "", "match" if matched else ""]
        words += [repr(self.pattern) if self.pattern else ""]
        words += [f"{name} {time}" for name, time in (("since", self.since), ("until", self.until)) if time]
        return " ".join(filter(None, words))

    @property
    def is_selective(self) -> bool:
        """Return whether anything but the path limits the entries."""
        return any((self.level, self.pattern, self.since, self.until, self.related))


@dataclass(slots=True)
class EntryCount:
    """The number of entries by file, how many have a level or at least a component, and which files have times."""

    files: Counter[str] = field(default_factory=Counter)
    levels: Counter[str] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)
    with_times: set[str] = field(default_factory=set)
    first: datetime | None = None
    last: datetime | None = None

    def add(self, entry: LogEntry) -> None:
        self.files[entry.path] += 1
        if entry.level:
            self.levels[entry.path] += 1
        if entry.level or entry.component != component_of_file(entry.path):
            self.named[entry.path] += 1
        if entry.time:
            self.with_times.add(entry.path)
            self.first = entry.time if self.first is None or entry.time < self.first else self.first
            self.last = entry.time if self.last is None or entry.time > self.last else self.last

    @property
    def total(self) -> int:
        return self.files.total()

    @property
    def runs_over_days(self) -> bool:
        return self.first is not None and self.last is not None and self.first.date() != self.last.date()

    @property
    def leveled(self) -> set[str]:
        """Return the files in which an entry of a level would be seen.

        Most of their entries have a level. Beside such logs, one of times and programs leaves levels to them.
        """
        telling = {path for path, count in self.files.items() if 2 * self.levels[path] > count}
        naming = {path for path in self.with_times if 2 * self.named[path] > self.files[path]}
        return telling | naming if telling else set()

    def __str__(self) -> str:
        """Return `3 files, 2026-03-01 10:00:02 to 10:41:10`."""
        times = f", {format_range(self.first, self.last)}" if self.first and self.last else ""
        return f"{len(self.files)} files{times}"


@dataclass(slots=True)
class LogScan:
    """One pass over the logs. All entries are counted; those that meet the criteria are counted and yielded."""

    logs: Logs
    criteria: Criteria
    numbers: Numbers | None
    since: TimeBound | None = None
    until: TimeBound | None = None
    related_ids: re.Pattern[str] | None = None
    everything: EntryCount = field(default_factory=EntryCount)
    chosen: EntryCount = field(default_factory=EntryCount)

    def entries(self) -> Iterator[LogEntry]:
        if not self.criteria.is_selective:
            self.chosen = self.everything
        levels = LEVELS_OF.get(self.criteria.level)
        for entry in self.logs.entries():
            self.everything.add(entry)
            if levels and entry.level not in levels:
                continue
            if (self.since or self.until) and not _is_within(entry.time, self.since, self.until):
                continue
            if self.related_ids and not self.related_ids.search(entry.text):
                continue
            if self.numbers is not None and not _has_line_in(entry, self.numbers):
                continue
            if self.criteria.is_selective:
                self.chosen.add(entry)
            yield entry


async def scan_logs(
    workspace: Workspace, criteria: Criteria, gather: Callable[[Iterable[LogEntry]], Gathered]
) -> tuple[LogScan, Gathered, str]:
    """Return the scan with the first reading of the pattern that finds an entry, what was gathered, and a remark.

    The remark is on that reading; if no reading finds an entry, on what could not be read.
    """
    logs = await logs_under(workspace, criteria.path)
    since, until = await to_thread.run_sync(_time_bounds, criteria, logs)
    if since and until and since.daily == until.daily and since.first > until.first:
        raise Refusal(f"since {criteria.since} is after until {criteria.until}: exchange them")
    related_ids = await to_thread.run_sync(related_pattern, criteria.related, logs) if criteria.related else None
    async for numbers, remark in _line_numbers(workspace, criteria.pattern, logs):
        scan = LogScan(logs, criteria, numbers, since, until, related_ids)
        gathered = await to_thread.run_sync(gather, scan.entries())
        if scan.chosen.total:
            return scan, gathered, remark
    return scan, gathered, remark


async def _line_numbers(workspace: Workspace, pattern: str, logs: Logs) -> AsyncIterator[tuple[Numbers | None, str]]:
    """Yield the lines that match each reading of the pattern; last, no line, and what could not be read."""
    if not pattern:
        yield None, ""
        return
    if "\n" in pattern:
        raise Refusal("a pattern has no line break: give the most telling of its lines")
    files = [log.path for log in logs.files]
    unread = ""
    for reading in chain(readings(pattern), respellings(pattern)) if files else ():
        try:
            numbers = await matching_numbers(workspace, reading.pattern, files, reading.case, literal=reading.literal)
        except BadPattern as error:
            unread = lacking(error)
            continue
        if numbers:
            yield numbers, reading.remark
    yield {}, unread


def _time_bounds(criteria: Criteria, logs: Logs) -> tuple[TimeBound | None, TimeBound | None]:
    """Return both ends of the window. Raise Refusal, with a time of these logs as an example, if one is no time."""
    return _time_bound("since", criteria.since, logs), _time_bound("until", criteria.until, logs)


def _time_bound(name: str, text: str, logs: Logs) -> TimeBound | None:
    if not text:
        return None
    if bound := _bound_at_entry(text, logs) or TimeBound.of(text, logs.time_scale):
        return bound
    example = logs.time_scale.example
    like = format_time(logs.time_scale.normalise(example)) if example else "2026-03-01 10:00:02"
    raise Refusal(f"{name}: {text!r} is no time: give one like {like[-8:-3]}" + (f" or {like}" if like[8:] else ""))


def _bound_at_entry(text: str, logs: Logs) -> TimeBound | None:
    """Return the time of the entry at `path:line`, or None if the text names no entry with a time."""
    entry = entry_at(text, logs)
    return TimeBound.at(entry.time) if entry and entry.time else None


def _is_within(time: datetime | None, since: TimeBound | None, until: TimeBound | None) -> bool:
    return time is not None and not (since and not since.has_begun(time)) and not (until and until.is_over(time))


def _has_line_in(entry: LogEntry, numbers: Numbers) -> bool:
    inside = numbers.get(entry.path, ())
    if entry.first == entry.last:
        return entry.first in inside
    return any(line in inside for line in range(entry.first, entry.last + 1))
