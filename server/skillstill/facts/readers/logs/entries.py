"""Entries of a log: a first line, the lines that continue it, and the rows that they become."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from skillstill.facts.readers.logs.heads import Head, LineReader, Memo, level_of
from skillstill.facts.readers.logs.kinds import THROWN, kind_of
from skillstill.facts.readers.logs.messages import Found, Messages, number_as, summarise
from skillstill.facts.table import Row, Value

MOST = 10_000  # lines that continue one entry
_TEXT = 300  # characters of a value
_PAIRS = 20_000
_MESSAGES, _SHORT = 10_000, 500  # messages that are remembered, of so many characters: some 10 MB
_SPEAKS = 16  # characters of a message that may tell a level
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


class Known(dict[str, tuple[str, tuple[Found, ...]]]):
    """Remembers the template of a message and what it holds: in most logs the same messages come again and again."""

    def __init__(self, messages: Messages) -> None:
        super().__init__()
        self.messages = messages
        self.missed, self.is_worth_it = 0, True

    def __missing__(self, message: str) -> tuple[str, tuple[Found, ...]]:
        made = self.messages.read(message)
        self.missed += 1
        if self.is_worth_it and len(message) <= _SHORT:
            if len(self) >= _MESSAGES:
                self.clear()
            self[message] = made
        return made

    def weigh(self, entries: int) -> None:
        """Remember no more if most of so many messages were new."""
        if self.is_worth_it and entries > _MESSAGES and 2 * self.missed > entries:
            self.is_worth_it = False
            self.clear()


@dataclass
class Tally:
    """What the file as a whole shows."""

    entries: int = 0
    unread: int = 0
    levels: int = 0
    first: str | None = None
    last: str | None = None
    zones: set[Value] = field(default_factory=set)

    def count(self, rows: Sequence[Row]) -> None:
        if not rows:
            return
        _, _, times, zones, levels, *_ = zip(*rows, strict=True)
        self.entries += len(rows)
        self.levels += len(rows) - levels.count(None)
        told = [time for time in times if time is not None]
        self.zones.update(zones if len(told) == len(rows) else [row[3] for row in rows if row[2]])
        if told:
            self.first = min(filter(None, (self.first, min(told))))
            self.last = max(filter(None, (self.last, max(told))))


@dataclass
class Entries:
    """Puts lines together to entries, chunk by chunk. The last entry stays open for lines that continue it."""

    readers: Sequence[LineReader]
    messages: Messages
    raw: bool
    tally: Tally = field(default_factory=Tally)
    _entries: list[Row] = field(default_factory=list)
    _fields: list[Row] = field(default_factory=list)
    _line: int = 0
    _more: list[str] = field(default_factory=list)
    _end: tuple[int, int] = (0, 0)
    _told: Told = field(default_factory=Told)
    _spoken: Memo = field(default_factory=lambda: Memo(spoken_level))

    def __post_init__(self) -> None:
        self._known = Known(self.messages)

    def add(self, place: int, text: str) -> None:
        """Read a chunk of whole lines that stands at that place of the file."""
        main, *others = self.readers
        for head in main.scan(text):
            if isinstance(head, str):
                head = self._other(head, others)
                if isinstance(head, str):
                    self._continue(head, place)
                    place += len(head)
                    continue
            self._begin(head, place)
            place += head[0]

    def _other(self, line: str, others: Sequence[LineReader]) -> Head | str:
        if line[:1].isspace() or not others:
            return line
        for reader in others:
            head = next(iter(reader.scan(line)), line)
            if isinstance(head, Head) and head.size == len(line):
                return head
        return line

    def _begin(self, head: Head, place: int) -> None:
        """Write the rows of an entry, as if it were one line."""
        if self._more:
            self._join()
        _, height, time, zone, level, component, host, pid, thread, message, start, length, pairs, told = head
        first = self._line + 1
        last = self._line = self._line + height
        lines = (first, last)
        found = [self._told[pair] for pair in pairs] if pairs else ()
        template, held = (summarise(found), ()) if told else self._known[message]
        if found or held:
            self._fields += [lines + one for one in (*found, *held)]
        here, body = ((place + start, length), None) if self.raw and start >= 0 else (None, message[:_TEXT])
        self._entries.append(
            (
                first,
                last,
                time,
                zone,
                level or self._spoken[message[:_SPEAKS]],
                component,
                here,
                template,
                host,
                pid,
                thread,
                body,
            )
        )

    def _continue(self, line: str, place: int) -> None:
        """Take a line to the entry before it, or count it as not read."""
        self._line += line.count("\n")
        if not self._entries or _JUNK.search(line) or not self._belongs(line):
            self.tally.unread += not _ASIDE.match(line)
        elif not line.isspace():
            self._end = self._line, place + len(line.rstrip("\r\n"))
            self._more.append(line)

    def _belongs(self, line: str) -> bool:
        return len(self._more) < MOST and (self.readers[0].continues or line[0] in " \t")

    def _join(self) -> None:
        """Join the lines that continue the last entry to its row."""
        first, _, *columns = self._entries[-1]
        last, end = self._end
        if isinstance(place := columns[4], tuple):
            columns[4] = (place[0], end - place[0])
        else:
            columns[-1] = "\n".join((str(columns[-1]), *map(str.rstrip, self._more)))[:_TEXT]
        self._entries[-1] = (first, last, *columns)
        self._fields += [(first, last, "exception", None, name, None) for name in thrown(self._more)]
        self._more = []

    def take(self, final: bool = False) -> tuple[list[Row], list[Row]]:
        """Return the rows since the last call, but for the entry that is open."""
        if final and self._more:
            self._join()
        open_ = [] if final else self._entries[-1:]
        rows = self._entries[: len(self._entries) - len(open_)], self._fields
        self._entries, self._fields = open_, []
        self.tally.count(rows[0])
        self._known.weigh(self.tally.entries)
        return rows


def spoken_level(message: str) -> str | None:
    """Return the level that a message begins with, as in `error: no route`."""
    match = _SPOKEN.match(message)
    return level_of(match["upper"] or match["lower"]) if match else None


def thrown(lines: Sequence[str]) -> list[str]:
    """Return the exceptions that the lines of a stack trace name, each once."""
    matches = (THROWN.match(line[:_TEXT]) for line in lines)
    return list(dict.fromkeys(match[1] for match in matches if match))
