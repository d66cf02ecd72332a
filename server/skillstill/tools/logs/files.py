"""The logs of a workspace: which files are logs, and their entries. An entry is a line and the lines that belong to it.

A line belongs to the entry before it if it is indented or blank. A line without time and level also belongs to it if
the file's first lines have any, or if a line above has a time: stack traces and statements of several lines are such.
So may be a line that a program printed by itself.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from io import BytesIO
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple

from anyio import from_thread, to_thread

from skillstill.errors import Refusal
from skillstill.tools.code.files import resolve_fuzzy
from skillstill.tools.kit.redaction import redacted_bytes
from skillstill.tools.kit.ripgrep import visible_files
from skillstill.tools.logs.lines import MAX_JSON, ParsedLine, parse_line, spoken_level
from skillstill.tools.logs.times import TimeScale
from skillstill.util.text import clean
from skillstill.workspace import Workspace

MAX_LOGS = 64_000_000  # bytes of one call's logs in all: some five seconds
MAX_FILES = 500
SNIFFED = 20  # lines by which a file is known for a log
ENDING = 20_000  # bytes at its end, in which its last time is looked for
TASTED = 300  # files without a log's name that are looked into, if none has one
_NAMED = re.compile(
    r"(?:^|/)(?:[^/]+\.(?:log|out|jsonl|err)(?:[.-][\w.-]*)?|[^/]+[._-]log(?:\.\d+)?|(?:syslog|messages)(?:\.\d+)?)$",
    re.IGNORECASE,
)
_AMONG_LOGS = re.compile(r"(?:^|/)logs?/", re.IGNORECASE)
_PACKED = re.compile(r"\.(?:gz|xz|bz2|zst|zip|tar|tgz)$", re.IGNORECASE)
_MAYBE = ("", ".txt", ".json", ".ndjson", ".logs", ".trace")  # other files that may hold a log


class LogEntry(NamedTuple):
    """One entry of a log, by its first and last line.

    `time` is that of the entry before if its own line has none. `tail` is its last line that is not indented.
    """

    path: str
    first: int
    last: int
    time: datetime | None
    level: str
    component: str
    message: str
    text: str
    tail: str


@dataclass(frozen=True, slots=True)
class Log:
    """A file that may be a log, and what its first lines say: None for one without time and level."""

    path: str
    data: bytes
    first_lines: tuple[ParsedLine | None, ...]

    @property
    def reads_like_a_log(self) -> bool:
        """Return whether most of the first lines have a time or a level."""
        return 2 * sum(parsed is not None for parsed in self.first_lines) > len(self.first_lines)

    @property
    def has_entries_of_lines(self) -> bool:
        """Return whether any of the first lines has a time or a level."""
        return any(parsed is not None for parsed in self.first_lines)


@dataclass(frozen=True, slots=True)
class Logs:
    """The logs under a path, and the scale of their times.

    `unread` are files that could not be read. `passed_over` are files that may be logs but do not read like one.
    """

    name: str
    files: tuple[Log, ...]
    time_scale: TimeScale
    unread: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()

    def entries(self) -> Iterator[LogEntry]:
        """Yield the entries in the order of files and lines.

        Call it in a worker thread only: it ends with the run if that is cancelled.
        """
        for log in self.files:
            yield from _entries(log, self.time_scale)


async def logs_under(workspace: Workspace, path: str) -> Logs:
    """Return the logs by their names and folders; if there are none, the files that read like logs.

    Raise Refusal if the path names nothing, or a single file that cannot be read.
    """
    real = workspace.resolve(await resolve_fuzzy(workspace, path))
    name = workspace.relative(real)
    if not real.is_dir():
        return await to_thread.run_sync(_open_logs, workspace, name, [name], True)
    visible = await visible_files(workspace, name)
    packed = [file for file in visible if _PACKED.search(file) and _may_be_log_by_name(_PACKED.sub("", file))]
    plain = [file for file in visible if not _PACKED.search(file)]
    named = await to_thread.run_sync(_open_logs, workspace, name, [*filter(_may_be_log_by_name, plain)], False)
    maybe = [file for file in plain if PurePosixPath(file).suffix.lower() in _MAYBE]
    unread, passed_over = (*named.unread, *packed), named.passed_over
    if named.files:
        return replace(named, unread=unread)
    tasted = await to_thread.run_sync(_logs_by_content, workspace, name, maybe[:TASTED])
    return replace(tasted, unread=unread, passed_over=(*passed_over, *maybe[TASTED:]))


def _may_be_log_by_name(path: str) -> bool:
    return _NAMED.search(path) is not None or _AMONG_LOGS.search(path) is not None


def _open_logs(workspace: Workspace, name: str, paths: Sequence[str], alone: bool) -> Logs:
    logs: list[Log] = []
    unread = [*paths[MAX_FILES:]]
    room = MAX_LOGS
    for path in paths[:MAX_FILES]:
        from_thread.check_cancelled()
        try:
            data = redacted_bytes(workspace.read(path, room))
        except Refusal:
            if alone:
                raise
            unread.append(path)
            continue
        room -= len(data)
        if data.strip():
            logs.append(Log(path, data, tuple(map(parse_line, islice(_unindented_lines(data), SNIFFED)))))
    logs_read = logs if alone else [log for log in logs if not _has_ambiguous_name(log.path) or log.reads_like_a_log]
    passed_over = tuple(log.path for log in logs if log not in logs_read and _is_named_like_output(log.path))
    return Logs(name, tuple(logs_read), _time_scale(logs_read), tuple(unread), passed_over)


def _is_named_like_output(path: str) -> bool:
    """Return whether the name is that of what a program printed: a log, unless it reads like none."""
    return PurePosixPath(path).suffix.lower() in {".out", ".err"}


def is_named_like_a_log(path: str) -> bool:
    """Return whether the name is surely that of a log, packed or not."""
    plain = _PACKED.sub("", path)
    return _NAMED.search(plain) is not None and not _has_ambiguous_name(plain)


def _has_ambiguous_name(path: str) -> bool:
    """Return whether other files than logs are called so too: data sets, output of programs, files beside logs."""
    return PurePosixPath(path).suffix.lower() in {".jsonl", ".out", ".err"} or not _NAMED.search(path)


def _logs_by_content(workspace: Workspace, name: str, paths: Sequence[str]) -> Logs:
    """Return those of the files that read like logs, whatever they are called."""
    files = _open_logs(workspace, name, paths, False).files
    logs = tuple(
        file for file in files if file.reads_like_a_log and any(line and line.time for line in file.first_lines)
    )
    return Logs(name, logs, _time_scale(logs))


def _time_scale(logs: Sequence[Log]) -> TimeScale:
    time_scale = TimeScale()
    for log in logs:
        times = [line.time for line in log.first_lines if line and line.time]
        time_scale.observe(times)
        if times and (last := _last_time(log)):
            time_scale.observe_ends(times[0], last)
    return time_scale


def _last_time(log: Log) -> datetime | None:
    """Return the last time among the last lines of a log."""
    lines = [*_unindented_lines(log.data[-ENDING:])][1:]  # the first one may be cut
    return next((line.time for line in map(parse_line, reversed(lines)) if line and line.time), None)


def _lines(data: bytes) -> Iterator[str]:
    """Yield the lines as ripgrep numbers them, without colours, each no longer than anyone reads."""
    for number, raw in enumerate(BytesIO(data.removeprefix(b"\xef\xbb\xbf"))):
        if number % 1_000 == 0:
            from_thread.check_cancelled()
        text = raw[:MAX_JSON].decode("utf-8", "replace").rstrip("\r\n\0").lstrip("\0")
        yield clean(text) if "\x1b" in text else text


def _unindented_lines(data: bytes) -> Iterator[str]:
    return (line for line in _lines(data) if line and not line[0].isspace())


def _entries(log: Log, time_scale: TimeScale) -> Iterator[LogEntry]:
    """Yield the entries of a log. An entry stays open until the next one begins: only then its end is known."""
    open_entry: LogEntry | None = None
    last, tail = 0, ""
    time: datetime | None = None
    for number, text in enumerate(_lines(log.data), 1):
        parsed = None if not text or text[0].isspace() else parse_line(text)
        if open_entry and parsed is None and (not text or text[0].isspace() or time or log.has_entries_of_lines):
            if text.strip():
                last, tail = number, tail if text[0].isspace() else text
            continue
        if not text.strip():
            continue
        if open_entry:
            yield open_entry if last == open_entry.first else open_entry._replace(last=last, tail=tail)
        time = time_scale.normalise(parsed.time) if parsed and parsed.time else time
        open_entry, last, tail = _entry_at(log.path, number, text, parsed, time), number, ""
    if open_entry:
        yield open_entry if last == open_entry.first else open_entry._replace(last=last, tail=tail)


def _entry_at(path: str, line: int, text: str, parsed: ParsedLine | None, time: datetime | None) -> LogEntry:
    _, level, component, message = parsed or ParsedLine(None, "", "", text)
    component = component or component_of_file(path)
    return LogEntry(path, line, line, time, level or spoken_level(message), component, message, text, "")


def component_of_file(path: str) -> str:
    """Return what an entry without a component is told to be of: its file."""
    return PurePosixPath(path).name.split(".")[0] or path
