"""The tools for logs: tally counts entries in groups, entries shows some of them."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nlargest, nsmallest
from typing import Annotated, Literal

from anyio import to_thread
from pydantic import BeforeValidator, Field

from skillstill.errors import Refusal
from skillstill.tools.code.files import FilePath
from skillstill.tools.kit.listing import left_out, rows
from skillstill.tools.kit.pattern_variants import NOT_READ
from skillstill.tools.kit.tool import ROW, Line, PendingRanking, Result, tool
from skillstill.tools.logs.files import LogEntry, Logs, is_named_like_a_log
from skillstill.tools.logs.lines import LEVELS, template
from skillstill.tools.logs.pattern_grammar import said_patterns
from skillstill.tools.logs.rows import WIDTH, entry_line, kind_line, kind_text, span_of
from skillstill.tools.logs.scan import Criteria, LogScan, scan_logs
from skillstill.tools.logs.times import format_group_time, midnight, said_times
from skillstill.types import Copied, Grammar, PlaceReference, Span
from skillstill.util.text import clean, one_line, shorten
from skillstill.workspace import Workspace

SHOWN = 5  # entries
GROUPS = 6
KINDS = 40  # kinds of entries that a model reads to find one: some five seconds of a core for 135M parameters
MESSAGES = 30  # groups of messages: which of them is meant can only be said by who reads them
TIMES = 30  # groups of time, which are short
NO_TIME = datetime.min  # before all others

By = Literal["level", "component", "message", "minute", "hour", "file"]
LevelName = Literal["", "critical", "error", "warn", "info", "debug"]


def _level(value: object) -> object:
    """Return the schema's name of a level for any name that a log may have for it."""
    return LEVELS.get(value.strip().upper(), value).lower() if isinstance(value, str) else value


Level = Annotated[LevelName, BeforeValidator(_level), Field(description="error means critical too, others just that")]
Pattern = Annotated[
    str, Field(max_length=120, description="text or regular expression"), Copied(), Grammar(said_patterns)
]
WHEN = "time such as 10:00 or 2026-03-01 10:00:02, or that of an entry, as path:line"
Since = Annotated[str, Field(max_length=160, description=WHEN), Copied(), Grammar(said_times), PlaceReference()]
Like = Annotated[
    str, Field(max_length=120, description="beginnings of words it may hold, `time|respon|answer`: most first")
]
Until = Annotated[
    str,
    Field(max_length=160, description="the same, included: 10:05 ends at 10:05:59"),
    Copied(),
    Grammar(said_times),
    PlaceReference(),
]
Related = Annotated[
    str,
    Field(max_length=160, description="an entry, as path:line: only those that share an id with it"),
    Copied(),
    PlaceReference(),
]
Meaning = Annotated[
    str, Field(max_length=160, description="what it says, in your words: only the likeliest kinds of entries"), Copied()
]
New = Annotated[bool, Field(description="only groups of which there was none before `since`; all without it")]


async def tally(
    workspace: Workspace,
    by: By,
    path: FilePath = ".",
    level: Level = "",
    pattern: Pattern = "",
    since: Since = "",
    until: Until = "",
    new: New = False,
) -> Result:
    """Count log entries by level, component, message (numbers as `*`) or time, each with its first `path:line`."""
    criteria = Criteria(path, level, pattern, since.strip(), until.strip())
    scan, groups, remark = await scan_logs(workspace, criteria, lambda entries: _groups(entries, KEYS[by]))
    if not scan.chosen.total:
        return _nothing_found(scan, remark)
    new = new and bool(criteria.since)  # of all entries none was there before
    if new:
        keys_before = await to_thread.run_sync(_keys_before, scan, by)
        groups = {name: group for name, group in groups.items() if name not in keys_before}
    body = _time_lines(groups, by) if by in ("minute", "hour") else _group_lines(groups, by)
    whole = [_total_line(groups)] if by == "level" and not level and len(groups) > 1 else []
    total = f"; of {scan.everything.total:,} in all" if criteria.is_selective else ""
    head = f"{_head(scan)}{remark}{total}; {len(groups)} {'new ' if new else ''}{_plural(by, len(groups))}:"
    lines = (Line(head), *whole, *body, *_unread_line(scan))
    if not groups:
        return Result(lines, _why_unproven(scan), empty=True)
    return Result(lines, overlooked=_why_overlooked(scan))


async def entries(
    workspace: Workspace,
    pattern: Pattern = "",
    path: FilePath = ".",
    level: Level = "",
    since: Since = "",
    until: Until = "",
    related: Related = "",
    last: bool = False,
    like: Like = "",
    meaning: Meaning = "",
) -> Result | PendingRanking:
    """Show the first 5 log entries that match, in order of time over all files, or the last 5."""
    criteria = Criteria(path, level, pattern, since.strip(), until.strip(), related.strip())
    if meant := clean(meaning).strip():
        if last or like:
            raise Refusal("entries by their meaning come with the likeliest first: leave out last and like")
        return await _likeliest_kinds(workspace, criteria, meant)
    words = _word_pattern(like)
    scan, shown, remark = await scan_logs(workspace, criteria, lambda matching: _pick(matching, words, last=last))
    if not shown:
        return _nothing_found(scan, remark)
    # Few are all shown in order of time. If the last are wanted, the remark says which way to read.
    many = scan.chosen.total > (1 if last else SHOWN)
    which = f"; {'last' if last else 'first'} {len(shown)}" if many else ""
    if words and _shared_words(shown[0], words):
        which = f"; the {'last' if last else 'likeliest'} by {like!r}"
    elif words:
        which = f"{which}; none by {like!r}"
    rest = scan.chosen.files.copy()
    rest.subtract(entry.path for entry in shown)
    lines = [entry_line(entry, with_day=scan.everything.runs_over_days) for entry in shown]
    body = [*lines, *left_out([*rest.elements()])]
    return Result(
        (Line(f"{_head(scan)}{remark}{which}:"), *body, *_unread_line(scan)), overlooked=_why_overlooked(scan)
    )


async def _likeliest_kinds(workspace: Workspace, criteria: Criteria, meaning: str) -> Result | PendingRanking:
    """Return one entry of each kind, the first in time, for a model to choose the one that means the text."""
    scan, groups, remark = await scan_logs(workspace, criteria, lambda entries: _groups(entries, KEYS["message"]))
    if not groups:
        return _nothing_found(scan, remark)
    kinds = sorted((group.first for group in groups.values()), key=_time_order)
    unread = f"; the first {KINDS}" if len(kinds) > KINDS else ""
    many = f"{len(kinds)} kind{'s' if len(kinds) > 1 else ''}"
    said = f"of {many} of {scan.chosen.total:,} {criteria}{remark}{unread}"
    missed = f"only {KINDS} of {many} were read" if unread else _why_unproven(scan)
    left = tuple(_unread_line(scan))
    no_match = Result((Line(f"no entry means {meaning!r}, {said}", _files(scan.logs)), *left), missed, empty=True)
    read = kinds[:KINDS]
    return PendingRanking(meaning, said, tuple(map(kind_line, read)), tuple(map(kind_text, read)), no_match, left)


@dataclass(slots=True)
class EntryGroup:
    first: LogEntry
    count: int = 0

    @property
    def first_place(self) -> str:
        return f"{self.first.path}:{self.first.first}"

    @property
    def span(self) -> Span:
        return span_of(self.first)


Key = str | datetime
KEYS: Mapping[str, Callable[[LogEntry], Key]] = {
    "level": lambda entry: entry.level or "no level",
    "component": lambda entry: entry.component,
    "message": lambda entry: f"{entry.level} {template(entry.message)}".strip(),
    "minute": lambda entry: (entry.time or NO_TIME).replace(second=0, microsecond=0),
    "hour": lambda entry: (entry.time or NO_TIME).replace(minute=0, second=0, microsecond=0),
    "file": lambda entry: entry.path,
}


def _groups(matching: Iterable[LogEntry], key: Callable[[LogEntry], Key]) -> dict[Key, EntryGroup]:
    groups: dict[Key, EntryGroup] = {}
    for entry in matching:
        group = groups.setdefault(key(entry), EntryGroup(entry))
        group.count += 1
        if entry.time and group.first.time and entry.time < group.first.time:
            group.first = entry
    return groups


def _keys_before(scan: LogScan, by: By) -> Collection[Key]:
    """Return the groups of the entries that match alike and came before the first of the scan."""
    if not (first := scan.chosen.first):
        return ()
    alike = LogScan(scan.logs, replace(scan.criteria, since="", until=""), scan.numbers)
    return _groups((entry for entry in alike.entries() if entry.time and entry.time < first), KEYS[by]).keys()


def _total_line(groups: Mapping[Key, EntryGroup]) -> Line:
    """Return the line of all levels together, which is asked for as often as one of them."""
    first = min((group.first for group in groups.values()), key=_time_order)
    whole = EntryGroup(first, sum(group.count for group in groups.values()))
    return Line(f"{whole.count} × any level, first {whole.first_place}", (whole.span,), place=whole.span)


def _group_lines(groups: Mapping[Key, EntryGroup], by: By) -> Iterable[Line]:
    ranked = sorted(groups.items(), key=lambda item: -item[1].count)
    most = MESSAGES if by == "message" else GROUPS
    for name, group in ranked[:most]:
        label = str(name).rpartition("/")[2] if by == "file" else str(name)  # the whole path is that of the place
        room = min(WIDTH, max(20, ROW - len(group.first_place)))
        yield Line(
            f"{group.count} × {one_line(label, room)}, first {group.first_place}", (group.span,), place=group.span
        )
    if rest := [group.count for _, group in ranked[most:]]:
        yield Line(f"… {len(rest)} other {_plural(by, len(rest))} with {sum(rest)} entries", omits=len(rest))


def _time_lines(groups: Mapping[Key, EntryGroup], by: By) -> Iterable[Line]:
    """Yield the groups in order of time, only the largest if they are many, and the place of the largest."""
    timed = {key: group for key, group in groups.items() if isinstance(key, datetime) and key != NO_TIME}
    days = {midnight(key) for key in timed}
    names = {key: format_group_time(key, "%H:%M", days) for key in timed}
    ranked = sorted(timed, key=lambda key: -timed[key].count)
    yield from rows([(f"{names[key]}={timed[key].count}", timed[key].span) for key in sorted(ranked[:TIMES])])
    if rest := ranked[TIMES:]:
        left = sum(timed[key].count for key in rest)
        most = timed[rest[0]].count
        text = f"… {len(rest)} other {_plural(by, len(rest))} with at most {most}, {left} entries"
        yield Line(text, omits=len(rest))
    if ranked:
        largest = timed[ranked[0]]
        yield Line(
            f"most in {names[ranked[0]]}: {largest.count}, first {largest.first_place}",
            (largest.span,),
            place=largest.span,
        )
    if untimed := groups.get(NO_TIME):
        yield Line(f"{untimed.count} without a time, first {untimed.first_place}", (untimed.span,), place=untimed.span)


def _plural(by: By, count: int) -> str:
    return by if count == 1 else f"{by}s"


def _head(scan: LogScan) -> str:
    """Return `37 ERROR entries match in 2 files, 2026-03-01 10:00:02 to 10:41:10`."""
    return f"{scan.chosen.total:,} {scan.criteria} in {scan.chosen}"


def _nothing_found(scan: LogScan, unread: str) -> Result:
    logs = scan.logs
    if scan.everything.total:
        none = f"no {scan.criteria} among {scan.everything.total:,} entries in {scan.everything}{unread}"
        missed = NOT_READ if unread else _why_unproven(scan)
        return Result((Line(none, _files(logs)), *_unread_line(scan)), missed, empty=True)
    where = "the workspace" if logs.name == "." else logs.name
    none = f"no log entries in {where}, ignored files left out: name a log file by its path"
    missed = _why_unproven(scan) or f"there are no logs in {where}"
    return Result((Line(none, (Span(path=logs.name),)), *_unread_line(scan)), missed, empty=True)


def _files(logs: Logs) -> tuple[Span, ...]:
    """Return the files that were looked at, as the places of an empty result."""
    return tuple(Span(path=log.path) for log in logs.files[:GROUPS])


def _unread_line(scan: LogScan) -> Iterable[Line]:
    if left := scan.logs.unread:
        text = f"{len(left)} not read (packed, too many, too large or no text): {', '.join(left)}"
        yield Line(shorten(text, ROW))


def _why_unproven(scan: LogScan) -> str:
    """Return why finding nothing proves nothing: logs were not read, or do not tell what was asked for; else ""."""
    if left := [*filter(is_named_like_a_log, scan.logs.unread)]:
        return f"{len(left)} logs, {left[0]} first, were not read"
    if passed_over := scan.logs.passed_over:
        return f"{len(passed_over)} files, {passed_over[0]} first, do not read like logs and were passed over"
    return _why_overlooked(scan)


def _why_overlooked(scan: LogScan) -> str:
    """Return why entries of what was asked for may be among those that were not chosen: a log does not tell it."""
    criteria, read = scan.criteria, scan.everything
    for is_asked, files, what in (
        (criteria.level, read.leveled, "level"),
        (criteria.since or criteria.until, read.with_times, "time"),
    ):
        if is_asked and (silent := [path for path in read.files if path not in files]):
            return f"no {what} was recognised in {len(silent)} logs, {silent[0]} first"
    return ""


def _word_pattern(like: str) -> re.Pattern[str] | None:
    """Return a pattern of the beginnings of words in the text, or None if it has none."""
    words = sorted(re.findall(r"\w{3,}", like.casefold()), key=len, reverse=True)
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(words)})") if words else None


def _shared_words(entry: LogEntry, words: re.Pattern[str] | None) -> int:
    """Return how many different words an entry holds in its first line or that of its exception."""
    if words is None:
        return 0
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", f"{entry.text} {entry.tail}")
    return len({*words.findall(apart.casefold())})


def _pick(matching: Iterable[LogEntry], words: re.Pattern[str] | None, *, last: bool) -> list[LogEntry]:
    """Return the first entries or the last, in order of time.

    If any share a word, return those with most words first; with `last`, the latest of those that share one first.
    """
    pick = nlargest if last else nsmallest
    ranked = pick(SHOWN, ((_rank(entry, words, last=last), entry) for entry in matching), key=lambda pair: pair[0])
    return [entry for (shared, _), entry in ranked if shared] or sorted((entry for _, entry in ranked), key=_time_order)


def _rank(entry: LogEntry, words: re.Pattern[str] | None, *, last: bool) -> tuple[int, tuple[datetime, str, int]]:
    shared = _shared_words(entry, words)
    return int(shared > 0) if last else -shared, _time_order(entry)


def _time_order(entry: LogEntry) -> tuple[datetime, str, int]:
    return entry.time or NO_TIME, entry.path, entry.first


TOOLS = (tool(tally), tool(entries))
