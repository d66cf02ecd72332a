"""The logs of a workspace: which files are logs, and their entries. An entry is a line and the lines that belong to it.

A line belongs to the entry before where it is indented or blank, or where its file's first lines tell time or level,
or one above it time, and it does not: stack traces, statements of several lines. Such a line may be one that a program
printed by itself.
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
from skillstill.tools.logs.lines import MAX_JSON, Reading, read_line, spoken_level
from skillstill.tools.logs.times import Clock
from skillstill.util.text import clean
from skillstill.workspace import Workspace

MAX_LOGS = 64_000_000  # bytes of one call's logs in all: some five seconds
MAX_FILES = 500
SNIFFED = 20  # lines by which a file is known for a log
TASTED = 300  # files without a log's name that are looked into, where none has one
_NAMED = re.compile(
    r"(?:^|/)(?:[^/]+\.(?:log|out|jsonl|err)(?:[.-][\w.-]*)?|[^/]+[._-]log(?:\.\d+)?|(?:syslog|messages)(?:\.\d+)?)$",
    re.IGNORECASE,
)
_AMONG_LOGS = re.compile(r"(?:^|/)logs?/", re.IGNORECASE)
_PACKED = re.compile(r"\.(?:gz|xz|bz2|zst|zip|tar|tgz)$", re.IGNORECASE)
_MAYBE = ("", ".txt", ".json", ".ndjson", ".logs", ".trace")  # other files that may hold a log


class Entry(NamedTuple):
    """`time` is that of the entry before where its own line tells none; `tail`: its last line that is not indented."""

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
    path: str
    data: bytes
    told: tuple[Reading | None, ...]  # of its first lines

    @property
    def is_one(self) -> bool:
        """Whether most of its first lines tell time or level."""
        return 2 * sum(reading is not None for reading in self.told) > len(self.told)

    @property
    def has_entries_of_lines(self) -> bool:
        return any(reading is not None for reading in self.told)


@dataclass(frozen=True, slots=True)
class Logs:
    """The logs under a path, and their times on one clock.

    `left` are files that could not be read. `passed_over` are files that may be logs but do not read like one.
    """

    name: str
    files: tuple[Log, ...]
    clock: Clock
    left: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()

    def entries(self) -> Iterator[Entry]:
        """In the order of files and lines. In a worker thread only: a cancelled run ends here."""
        for log in self.files:
            yield from _entries(log, self.clock)


async def logs_under(workspace: Workspace, path: str) -> Logs:
    """Logs by their names and folders; where there are none, files that read like logs.

    Raises Refusal, also where a single file cannot be read.
    """
    real = workspace.resolve(await resolve_fuzzy(workspace, path))
    name = workspace.relative(real)
    if not real.is_dir():
        return await to_thread.run_sync(_opened, workspace, name, [name], True)
    visible = await visible_files(workspace, name)
    packed = [file for file in visible if _PACKED.search(file) and _is_called_a_log(_PACKED.sub("", file))]
    plain = [file for file in visible if not _PACKED.search(file)]
    named = await to_thread.run_sync(_opened, workspace, name, [*filter(_is_called_a_log, plain)], False)
    maybe = [file for file in plain if PurePosixPath(file).suffix.lower() in _MAYBE]
    left, passed_over = (*named.left, *packed), named.passed_over
    if named.files:
        return replace(named, left=left)
    tasted = await to_thread.run_sync(_tasted, workspace, name, maybe[:TASTED])
    return replace(tasted, left=left, passed_over=(*passed_over, *maybe[TASTED:]))


def _is_called_a_log(path: str) -> bool:
    return _NAMED.search(path) is not None or _AMONG_LOGS.search(path) is not None


def _opened(workspace: Workspace, name: str, paths: Sequence[str], alone: bool) -> Logs:
    logs: list[Log] = []
    left = [*paths[MAX_FILES:]]
    room = MAX_LOGS
    for path in paths[:MAX_FILES]:
        from_thread.check_cancelled()
        try:
            data = redacted_bytes(workspace.read(path, room))
        except Refusal:
            if alone:
                raise
            left.append(path)
            continue
        room -= len(data)
        if data.strip():
            logs.append(Log(path, data, tuple(map(read_line, islice(_lines_with_text(data), SNIFFED)))))
    kept = logs if alone else [log for log in logs if not _may_be_data(log.path) or log.is_one]
    passed_over = tuple(log.path for log in logs if log not in kept and _is_program_output(log.path))
    return Logs(name, tuple(kept), _clock(kept), tuple(left), passed_over)


def _is_program_output(path: str) -> bool:
    """Whether the name is that of what a program printed: a log, unless it reads like none."""
    return PurePosixPath(path).suffix.lower() in {".out", ".err"}


def is_surely_a_log(path: str) -> bool:
    """By its name, packed or not, without having read it."""
    plain = _PACKED.sub("", path)
    return _NAMED.search(plain) is not None and not _may_be_data(plain)


def _may_be_data(path: str) -> bool:
    """Whether the name is that of logs and of other things alike: data sets, output of programs, files beside logs."""
    return PurePosixPath(path).suffix.lower() in {".jsonl", ".out", ".err"} or not _NAMED.search(path)


def _tasted(workspace: Workspace, name: str, paths: Sequence[str]) -> Logs:
    """Those of the files that read like logs, whatever they are called."""
    logs = _opened(workspace, name, paths, False).files
    kept = tuple(log for log in logs if log.is_one and any(reading and reading.time for reading in log.told))
    return Logs(name, kept, _clock(kept))


def _clock(logs: Sequence[Log]) -> Clock:
    clock = Clock()
    clock.learn(reading.time for log in logs for reading in log.told if reading and reading.time)
    return clock


def _lines(data: bytes) -> Iterator[str]:
    """The lines as ripgrep numbers them, without colours, each no longer than anyone reads."""
    for number, raw in enumerate(BytesIO(data.removeprefix(b"\xef\xbb\xbf"))):
        if number % 1_000 == 0:
            from_thread.check_cancelled()
        text = raw[:MAX_JSON].decode("utf-8", "replace").rstrip("\r\n\0").lstrip("\0")
        yield clean(text) if "\x1b" in text else text


def _lines_with_text(data: bytes) -> Iterator[str]:
    return (line for line in _lines(data) if line and not line[0].isspace())


def _entries(log: Log, clock: Clock) -> Iterator[Entry]:
    """Each line that begins an entry is held until the next one does: only then it is known where its entry ends."""
    held: Entry | None = None
    last, tail = 0, ""
    time: datetime | None = None
    for number, text in enumerate(_lines(log.data), 1):
        reading = None if not text or text[0].isspace() else read_line(text)
        if held and reading is None and (not text or text[0].isspace() or time or log.has_entries_of_lines):
            if text.strip():
                last, tail = number, tail if text[0].isspace() else text
            continue
        if not text.strip():
            continue
        if held:
            yield held if last == held.first else held._replace(last=last, tail=tail)
        time = clock.settled(reading.time) if reading and reading.time else time
        held, last, tail = _begun(log.path, number, text, reading, time), number, ""
    if held:
        yield held if last == held.first else held._replace(last=last, tail=tail)


def _begun(path: str, line: int, text: str, reading: Reading | None, time: datetime | None) -> Entry:
    _, level, component, message = reading or Reading(None, "", "", text)
    component = component or PurePosixPath(path).name.split(".")[0] or path
    return Entry(path, line, line, time, level or spoken_level(message), component, message, text, "")
