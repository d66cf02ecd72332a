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
from skillstill.tools.kit.tool import ROW, Choice, Line, Result, tool
from skillstill.tools.logs.files import Entry, Logs, is_surely_a_log
from skillstill.tools.logs.lines import LEVELS, template
from skillstill.tools.logs.pattern_grammar import said_patterns
from skillstill.tools.logs.rows import WIDTH, kind_row, kind_said, row, span_of
from skillstill.tools.logs.scan import Scan, Wanted, scanned
from skillstill.tools.logs.times import midnight, said_group, said_times
from skillstill.types import Copied, Span
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
    """The name that the schema has for a level, from any that a log may have for it."""
    return LEVELS.get(value.strip().upper(), value).lower() if isinstance(value, str) else value


Level = Annotated[LevelName, BeforeValidator(_level), Field(description="error means critical too, others just that")]
Pattern = Annotated[str, Field(max_length=120, description="text or regular expression"), Copied(by=said_patterns)]
WHEN = "time such as 10:00 or 2026-03-01 10:00:02, or that of an entry, as path:line"
Since = Annotated[str, Field(max_length=160, description=WHEN), Copied(by=said_times)]
Like = Annotated[
    str, Field(max_length=120, description="beginnings of words it may hold, `time|respon|answer`: most first")
]
Until = Annotated[
    str, Field(max_length=160, description="the same, included: 10:05 ends at 10:05:59"), Copied(by=said_times)
]
Related = Annotated[
    str, Field(max_length=160, description="an entry, as path:line: only those that share an id with it"), Copied()
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
    wanted = Wanted(path, level, pattern, since.strip(), until.strip())
    scan, groups, remark = await scanned(workspace, wanted, lambda entries: _groups(entries, KEYS[by]))
    if not scan.chosen.total:
        return _nothing(scan, remark)
    new = new and bool(wanted.since)  # of all entries none was there before
    if new:
        known = await to_thread.run_sync(_known_before, scan, by)
        groups = {name: group for name, group in groups.items() if name not in known}
    body = _times(groups, by) if by in ("minute", "hour") else _ranked(groups, by)
    whole = [_all(groups)] if by == "level" and not level and len(groups) > 1 else []
    total = f"; of {scan.everything.total:,} in all" if wanted.is_choice else ""
    head = f"{_head(scan)}{remark}{total}; {len(groups)} {'new ' if new else ''}{_several(by, len(groups))}:"
    return Result((Line(head), *whole, *body, *_left(scan)))


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
) -> Result | Choice:
    """Show the first 5 log entries that match, in order of time over all files, or the last 5."""
    wanted = Wanted(path, level, pattern, since.strip(), until.strip(), related.strip())
    if meant := clean(meaning).strip():
        if last or like:
            raise Refusal("entries by their meaning come with the likeliest first: leave out last and like")
        return await _meant(workspace, wanted, meant)
    words = _words(like)
    scan, shown, remark = await scanned(workspace, wanted, lambda found: _chosen(found, words, last=last))
    if not shown:
        return _nothing(scan, remark)
    # Of few all are shown, in order of time: where the last are wanted that says which way to read.
    many = scan.chosen.total > (1 if last else SHOWN)
    which = f"; {'last' if last else 'first'} {len(shown)}" if many else ""
    if words and _shared(shown[0], words):
        which = f"; the {'last' if last else 'likeliest'} by {like!r}"
    elif words:
        which = f"{which}; none by {like!r}"
    rest = scan.chosen.files.copy()
    rest.subtract(entry.path for entry in shown)
    body = [*map(row, shown), *left_out([*rest.elements()])]
    return Result((Line(f"{_head(scan)}{remark}{which}:"), *body, *_left(scan)))


async def _meant(workspace: Workspace, wanted: Wanted, meaning: str) -> Result | Choice:
    """One entry of each kind, the first in time, for a model to say which of them means that."""
    scan, groups, remark = await scanned(workspace, wanted, lambda entries: _groups(entries, KEYS["message"]))
    if not groups:
        return _nothing(scan, remark)
    kinds = sorted((group.first for group in groups.values()), key=_order)
    unread = f"; the first {KINDS}" if len(kinds) > KINDS else ""
    many = f"{len(kinds)} kind{'s' if len(kinds) > 1 else ''}"
    said = f"of {many} of {scan.chosen.total:,} {wanted}{remark}{unread}"
    missed = f"only {KINDS} of {many} were read" if unread else _missed(scan)
    left = tuple(_left(scan))
    unmeant = Result((Line(f"no entry means {meaning!r}, {said}", _files(scan.logs)), *left), missed)
    read = kinds[:KINDS]
    return Choice(meaning, said, tuple(map(kind_row, read)), tuple(map(kind_said, read)), unmeant, left)


@dataclass(slots=True)
class Group:
    first: Entry
    count: int = 0

    @property
    def where(self) -> str:
        return f"{self.first.path}:{self.first.first}"

    @property
    def span(self) -> Span:
        return span_of(self.first)


Key = str | datetime
KEYS: Mapping[str, Callable[[Entry], Key]] = {
    "level": lambda entry: entry.level or "no level",
    "component": lambda entry: entry.component,
    "message": lambda entry: f"{entry.level} {template(entry.message)}".strip(),
    "minute": lambda entry: (entry.time or NO_TIME).replace(second=0, microsecond=0),
    "hour": lambda entry: (entry.time or NO_TIME).replace(minute=0, second=0, microsecond=0),
    "file": lambda entry: entry.path,
}


def _groups(found: Iterable[Entry], key: Callable[[Entry], Key]) -> dict[Key, Group]:
    groups: dict[Key, Group] = {}
    for entry in found:
        group = groups.setdefault(key(entry), Group(entry))
        group.count += 1
        if entry.time and group.first.time and entry.time < group.first.time:
            group.first = entry
    return groups


def _known_before(scan: Scan, by: By) -> Collection[Key]:
    """The groups of the entries that match alike and came before the first of the scan."""
    if not (first := scan.chosen.first):
        return ()
    alike = Scan(scan.logs, replace(scan.wanted, since="", until=""), scan.numbers)
    return _groups((entry for entry in alike.entries() if entry.time and entry.time < first), KEYS[by]).keys()


def _all(groups: Mapping[Key, Group]) -> Line:
    """Of several levels, all together: what is asked for as often as one of them."""
    first = min((group.first for group in groups.values()), key=_order)
    whole = Group(first, sum(group.count for group in groups.values()))
    return Line(f"{whole.count} × any level, first {whole.where}", (whole.span,))


def _ranked(groups: Mapping[Key, Group], by: By) -> Iterable[Line]:
    ranked = sorted(groups.items(), key=lambda item: -item[1].count)
    most = MESSAGES if by == "message" else GROUPS
    for name, group in ranked[:most]:
        label = str(name).rpartition("/")[2] if by == "file" else str(name)  # the whole path is that of the place
        room = min(WIDTH, max(20, ROW - len(group.where)))
        yield Line(f"{group.count} × {one_line(label, room)}, first {group.where}", (group.span,))
    if rest := [group.count for _, group in ranked[most:]]:
        yield Line(f"… {len(rest)} other {_several(by, len(rest))} with {sum(rest)} entries")


def _times(groups: Mapping[Key, Group], by: By) -> Iterable[Line]:
    """The groups in time order, the largest where they are too many, and the place of the largest."""
    timed = {key: group for key, group in groups.items() if isinstance(key, datetime) and key != NO_TIME}
    days = {midnight(key) for key in timed}
    names = {key: said_group(key, "%H:%M", days) for key in timed}
    ranked = sorted(timed, key=lambda key: -timed[key].count)
    yield from rows([(f"{names[key]}={timed[key].count}", timed[key].span) for key in sorted(ranked[:TIMES])])
    if rest := ranked[TIMES:]:
        left = sum(timed[key].count for key in rest)
        yield Line(f"… {len(rest)} other {_several(by, len(rest))} with at most {timed[rest[0]].count}, {left} entries")
    if ranked:
        most = timed[ranked[0]]
        yield Line(f"most in {names[ranked[0]]}: {most.count}, first {most.where}", (most.span,))
    if untimed := groups.get(NO_TIME):
        yield Line(f"{untimed.count} without a time, first {untimed.where}", (untimed.span,))


def _several(by: By, count: int) -> str:
    return by if count == 1 else f"{by}s"


def _head(scan: Scan) -> str:
    """`37 ERROR entries match in 2 files, 2026-03-01 10:00:02 to 10:41:10`."""
    return f"{scan.chosen.total:,} {scan.wanted} in {scan.chosen}"


def _nothing(scan: Scan, unread: str) -> Result:
    logs = scan.logs
    if scan.everything.total:
        none = f"no {scan.wanted} among {scan.everything.total:,} entries in {scan.everything}{unread}"
        return Result((Line(none, _files(logs)), *_left(scan)), NOT_READ if unread else _missed(scan))
    where = "the workspace" if logs.name == "." else logs.name
    none = f"no log entries in {where}, ignored files left out: name a log file by its path"
    return Result((Line(none, (Span(path=logs.name),)), *_left(scan)), _missed(scan))


def _files(logs: Logs) -> tuple[Span, ...]:
    """What was looked at, where nothing was found in it."""
    return tuple(Span(path=log.path) for log in logs.files[:GROUPS])


def _left(scan: Scan) -> Iterable[Line]:
    if left := scan.logs.left:
        told = f"{len(left)} not read (packed, too many, too large or no text): {', '.join(left)}"
        yield Line(shorten(told, ROW))


def _missed(scan: Scan) -> str:
    left = [*filter(is_surely_a_log, scan.logs.left)]
    return f"{len(left)} logs, {left[0]} first, were not read" if left else ""


def _words(like: str) -> re.Pattern[str] | None:
    """Finds these beginnings of words; nothing else of what was written means anything."""
    known = sorted(re.findall(r"\w{3,}", like.casefold()), key=len, reverse=True)
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(known)})") if known else None


def _shared(entry: Entry, words: re.Pattern[str] | None) -> int:
    """How many different ones of the words it holds, in its first line or that of its exception."""
    if words is None:
        return 0
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", f"{entry.text} {entry.tail}")
    return len({*words.findall(apart.casefold())})


def _chosen(found: Iterable[Entry], words: re.Pattern[str] | None, *, last: bool) -> list[Entry]:
    """The first entries or the last, in order of time.

    If any share a word: of the first those with most words first, of the last the latest first.
    """
    pick = nlargest if last else nsmallest
    ranked = pick(SHOWN, ((_rank(entry, words, last=last), entry) for entry in found), key=lambda one: one[0])
    return [entry for (shared, _), entry in ranked if shared] or sorted((entry for _, entry in ranked), key=_order)


def _rank(entry: Entry, words: re.Pattern[str] | None, *, last: bool) -> tuple[int, tuple[datetime, str, int]]:
    shared = _shared(entry, words)
    return int(shared > 0) if last else -shared, _order(entry)


def _order(entry: Entry) -> tuple[datetime, str, int]:
    return entry.time or NO_TIME, entry.path, entry.first


TOOLS = (tool(tally), tool(entries))
