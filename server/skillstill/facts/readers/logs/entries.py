"""Entries of a log: a first line, the lines that continue it, and the rows that they become."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from skillstill.facts.readers.logs.heads import Head, LineReader, level_of
from skillstill.facts.readers.logs.kinds import THROWN, kind_of
from skillstill.facts.readers.logs.messages import Found, Messages, number_as, summarise
from skillstill.facts.table import Row

MOST = 10_000  # lines that continue one entry
_TEXT = 300  # characters of a value
_PAIRS = 20_000
_SPOKEN = re.compile(r"\W{0,2}(?P<upper>[A-Z]{4,9})\b[\])>]?[ :]|\W{0,2}(?P<lower>[A-Za-z]{4,9})[\])>]?:", re.ASCII)
_ASIDE = re.compile(r"\s*$|#|-{3,}|={3,}")  # blank lines, headers, rules
_JUNK = re.compile(r"[\0-\x08\x0e-\x1a\x1c-\x1f]")


class Told(dict[tuple[str, str], Found]):
    """Remembers what the pairs of a name and a value tell."""

    def __missing__(self, pair: tuple[str, str]) -> Found:
        if len(self) >= _PAIRS:
            self.clear()
        name, value = pair
        kind = kind_of(name, value)
        made = self[pair] = (kind, None if kind == name else name, value[:_TEXT], number_as(kind, value))
        return made


@dataclass
class Tally:
    """What the file as a whole shows."""

    entries: int = 0
    unread: int = 0
    first: str | None = None
    last: str | None = None
    levels: int = 0
    zones: set[str | None] = field(default_factory=set)
    continued: int = 0


@dataclass
class Entries:
    """Puts lines together to entries, chunk by chunk."""

    readers: Sequence[LineReader]
    messages: Messages
    raw: bool
    tally: Tally = field(default_factory=Tally)
    entries: list[Row] = field(default_factory=list)
    fields: list[Row] = field(default_factory=list)
    _line: int = 0
    _open: Head | None = None
    _first: int = 0
    _start: int = 0
    _end: int = 0
    _last: int = 0
    _more: list[str] = field(default_factory=list)
    _told: Told = field(default_factory=Told)

    def add(self, place: int, text: str) -> None:
        """Read a chunk of whole lines that stands at that place of the file."""
        main, *others = self.readers
        for head in main.scan(text):
            if isinstance(head, str):
                head = self._other(head, others)
            if isinstance(head, str):
                self._continue(head, place)
                place += len(head)
            else:
                if self._open:
                    self.close()
                self._begin(head, place)
                place += head.size

    def _other(self, line: str, others: Sequence[LineReader]) -> Head | str:
        if line[:1].isspace() or not others:
            return line
        for reader in others:
            head = next(iter(reader.scan(line)), line)
            if isinstance(head, Head) and head.size == len(line):
                return head
        return line

    def _begin(self, head: Head, place: int) -> None:
        self._open, self._first = head, self._line + 1
        self._line += head.height
        self._last = self._line
        self._start = place + head.start
        self._end = self._start + head.length

    def _continue(self, line: str, place: int) -> None:
        """Take a line to the entry before it, or count it as not read."""
        self._line += 1
        if self._open is None or _JUNK.search(line) or not self._belongs(line):
            self.tally.unread += not _ASIDE.match(line)
        elif not line.isspace():
            self.tally.continued += 1
            self._last = self._line
            self._end = place + len(line.rstrip("\r\n"))
            self._more.append(line)

    def _belongs(self, line: str) -> bool:
        return len(self._more) < MOST and (self.readers[0].continues or line[0] in " \t")

    def close(self) -> None:
        """Write the rows of the entry that is open."""
        head = self._open
        if head is None:
            return
        lines, fields = (self._first, self._last), self.fields
        told = [self._told[pair] for pair in head.fields]
        fields += [lines + one for one in told]
        template = summarise(told) if head.told else self.messages.read(head.message, lines, fields)
        level = head.level or spoken_level(head.message)
        here = (self._start, self._end - self._start) if self.raw and head.start >= 0 else None
        body = None if here else self._body(head)
        self.entries.append(
            (
                *lines,
                head.time,
                head.zone,
                level,
                head.component,
                here,
                template,
                head.host,
                head.pid,
                head.thread,
                body,
            )
        )
        self._close_lines(lines)
        self._open = None
        self._count(head, level)

    def _body(self, head: Head) -> str:
        return "\n".join((head.message, *map(str.rstrip, self._more)))[:_TEXT]

    def _close_lines(self, lines: tuple[int, int]) -> None:
        """Write what the lines that continue an entry hold."""
        if self._more:
            self.fields += [(*lines, "exception", None, name, None) for name in thrown(self._more)]
            self._more = []

    def _count(self, head: Head, level: str | None) -> None:
        tally = self.tally
        tally.entries += 1
        tally.levels += level is not None
        if head.time:
            if tally.first is None or head.time < tally.first:
                tally.first = head.time
            if tally.last is None or head.time > tally.last:
                tally.last = head.time
            tally.zones.add(head.zone)

    def take(self) -> tuple[list[Row], list[Row]]:
        """Return the rows since the last call."""
        rows = self.entries, self.fields
        self.entries, self.fields = [], []
        return rows


def spoken_level(message: str) -> str | None:
    """Return the level that a message begins with, as in `error: no route`."""
    match = _SPOKEN.match(message)
    return level_of(match["upper"] or match["lower"]) if match else None


def thrown(lines: Sequence[str]) -> list[str]:
    """Return the exceptions that the lines of a stack trace name, each once."""
    matches = (THROWN.match(line) for line in lines)
    return list(dict.fromkeys(match[1] for match in matches if match))
