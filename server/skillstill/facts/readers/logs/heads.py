"""The first line of an entry, told apart into its columns, by a format of the table or as an object of keys."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

from skillstill.facts.readers.logs.formats import ALL_LEVELS, SEVERITIES, Format
from skillstill.facts.readers.logs.stream import KEPT, last_line
from skillstill.facts.readers.logs.times import Clock, Evidence, normal_zone

_COLUMNS = (
    "line",
    "other",
    "time",
    "frac",
    "zone",
    "level",
    "component",
    "host",
    "pid",
    "thread",
    "priority",
    "message",
)
_SPARE = re.compile(r"(\w+?)\d")  # a group `pid2` stands in for `pid`
_IS_NAME = re.compile(r"(?:[A-Za-z_][\w-]*[./$:])*[A-Za-z_][\w-]*", re.ASCII)
_NOTHING = ("", "-", '"-"')
_NO_COMPONENTS = frozenset(("main", "-", "UTC", "GMT"))
Fields = tuple[tuple[str, str], ...]


class Head(NamedTuple):
    """An entry as its first line tells it.

    size      bytes of the line with its end
    start     place of the message in the line; -1 if the message is not there byte by byte
    length    bytes of the message
    fields    names and values that the format or the keys tell
    told      they are all that the message holds
    """

    size: int
    height: int
    time: str | None
    zone: str | None
    level: str | None
    component: str | None
    host: str | None
    pid: int | None
    thread: str | None
    message: str
    start: int
    length: int
    fields: Fields
    told: bool = False


_new: Callable[[type[Head], tuple[Any, ...]], Head] = tuple.__new__  # twice as fast as Head(...), once a line


class LineReader(Protocol):
    """Tells the entries of a text of whole lines. The text is Latin-1: a character is a byte of the file.

    end         what an entry ends with
    lacks       what its times leave out
    """

    @property
    def name(self) -> str: ...
    @property
    def end(self) -> str: ...
    @property
    def continues(self) -> bool: ...
    @property
    def has_time(self) -> bool: ...
    @property
    def nested(self) -> bool: ...
    @property
    def lacks(self) -> str: ...

    def cut(self, data: bytes) -> int:
        """Return where the last entry that is whole ends in bytes of the file, or 0."""
        ...

    def restart(self) -> None:
        """Forget the times that were read: what comes next is the beginning of the file."""
        ...

    def scan(self, text: str) -> Iterator[Head | str]:
        """Yield each entry, and each line that does not fit."""
        ...


class Memo(dict[str, str | None]):
    """Remembers what a function made of a text. It forgets all when there are too many."""

    def __init__(self, make: Callable[[str], str | None], most: int = 100_000) -> None:
        super().__init__()
        self.make, self.most = make, most

    def __missing__(self, key: str) -> str | None:
        if len(self) >= self.most:
            self.clear()
        made = self[key] = self.make(key)
        return made


def level_of(text: str) -> str | None:
    """Return the level that a word, a letter or a mark stands for."""
    return ALL_LEVELS.get(text) or ALL_LEVELS.get(text.upper())


def level_of_priority(text: str) -> str | None:
    return SEVERITIES[int(text) & 7] if text else None


_LEVELS, _PRIORITIES, _ZONES = Memo(level_of), Memo(level_of_priority), Memo(normal_zone)


@dataclass
class PatternLines:
    """Lines of a format, with one shape of time."""

    form: Format
    shape: str = ""
    end: str = "\n"
    encoding: str = "utf-8"
    evidence: Evidence = field(default_factory=Evidence)

    @property
    def name(self) -> str:
        return self.form.name

    @property
    def continues(self) -> bool:
        return self.form.continues

    @property
    def has_time(self) -> bool:
        return bool(self.shape)

    @property
    def nested(self) -> bool:
        return self.form.nested

    @property
    def lacks(self) -> str:
        return self.clock.lacks if self.shape else ""

    @cached_property
    def clock(self) -> Clock:
        return Clock(self.shape, self.evidence)

    @cached_property
    def head(self) -> re.Pattern[str]:
        return re.compile(self.form.expand(self.shape), re.ASCII)

    @cached_property
    def starts(self) -> re.Pattern[str]:
        return re.compile(rf"^(?:{self.head.pattern})", re.ASCII | re.MULTILINE)

    @cached_property
    def lines(self) -> re.Pattern[str]:
        """Return the expression that takes a text line by line: as an entry with its columns, or as another line."""
        return re.compile(rf"(?P<line>{self.head.pattern}{self.end})|(?P<other>[^\n]*\n)(?P<none>)", re.ASCII)

    @cached_property
    def place(self) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
        """Return what puts the groups of a match into the order of the columns."""
        groups = self.lines.groupindex
        return itemgetter(*(groups.get(name, groups["none"]) - 1 for name in _COLUMNS))

    @cached_property
    def spare(self) -> tuple[tuple[int, int], ...]:
        """Return for each group such as `pid2` the column that it stands in for, and its place in a match."""
        groups = self.lines.groupindex
        named = ((_SPARE.fullmatch(name), number - 1) for name, number in groups.items() if name[:2] != "f_")
        return tuple((_COLUMNS.index(match[1]), number) for match, number in named if match)

    @cached_property
    def extra(self) -> tuple[tuple[str, int], ...]:
        groups = self.lines.groupindex
        return tuple((self.form.field(name[2:]), number - 1) for name, number in groups.items() if name[:2] == "f_")

    def cut(self, data: bytes) -> int:
        """Return the end of the last line; of entries that may have several, the beginning of the last one."""
        whole = last_line(data)
        if self.form.height == 1:
            return whole
        begin = max(0, whole - KEPT)
        starts = [match.start() for match in self.starts.finditer(data[begin:whole].decode("latin-1"))]
        return begin + starts[-1] if starts else whole

    def restart(self) -> None:
        self.__dict__.pop("clock", None)

    def scan(self, text: str) -> Iterator[Head | str]:
        times, end = Memo(self.clock.read), len(self.end)
        height, told, extra = self.form.height, self.form.told, self.extra
        place = self._place_loosely if self.form.loose or self.spare else self.place
        for groups in self.lines.findall(text):
            line, other, time, frac, zone, level, component, host, pid, thread, priority, message = place(groups)
            if other:
                yield other
                continue
            size, length = len(line), len(message)
            start = size - end - length
            if not line.isascii():
                start = start if self.encoding == "utf-8" else -1
                groups = tuple(map(self._decode, groups))
                _, _, _, _, _, _, component, host, _, thread, _, message = place(groups)
            when = times[time] if time else None
            yield _new(
                Head,
                (
                    size,
                    height or line.count("\n"),
                    f"{when}.{frac[:6]}" if frac and when else when,
                    _ZONES[zone] if zone else None,
                    _LEVELS[level] if level else _PRIORITIES[priority],
                    component or None,
                    host or None,
                    int(pid) if pid else None,
                    thread or None,
                    message,
                    start,
                    length,
                    tuple([(name, groups[number]) for name, number in extra if groups[number] not in _NOTHING])
                    if extra
                    else (),
                    told,
                ),
            )

    def _decode(self, text: str) -> str:
        return text.encode("latin-1").decode(self.encoding, "replace")

    def _place_loosely(self, groups: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns of a match, each from the first place that is filled."""
        columns = list(self.place(groups))
        for column, number in self.spare:
            columns[column] = columns[column] or groups[number]
        component, thread = columns[6], columns[9]
        if self.form.loose and thread and not component and _IS_NAME.fullmatch(thread) and thread not in _NO_COMPONENTS:
            columns[6], columns[9] = thread, ""
        return tuple(columns)
