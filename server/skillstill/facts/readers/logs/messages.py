"""Messages: what they hold and the template that they share, told once for all messages of one skeleton.

A skeleton is a message without its words that begin with a digit. Messages of one skeleton hold the same kinds of
things at the same places. So a message is split and looked up, and a new skeleton is read with all expressions, once.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate

from drain3.drain import Drain  # type: ignore[import-untyped]

from skillstill.facts.readers.logs.kinds import Span, find_all, milliseconds, number_of

_FEW = re.compile(r"([0-9][\w-]*)", re.ASCII)  # fast, but random ids that begin with a letter make many skeletons
_MANY = re.compile(r"(=[^\s,;=()\[\]{}]+|\b[A-Za-z_-]*+[0-9][\w-]*)", re.ASCII)
_VARYING = re.compile(r"[A-Za-z_]*+-?[0-9][\w-]*", re.ASCII)
_JOINED = re.compile(r"<\*>(?:[.:/,_@#+-]*<\*>)+")
_LONG = 1_000  # characters of a message that are read
_SKELETONS = 20_000  # remembered
_CLUSTERS = 500
_MINED = 4_000  # messages that take part in the templates; each may cost half a millisecond
_BEGINNING = 4  # words that tell the template of a message that is new after them
_MISSED = 0.1  # of the last 2,000 messages without a known skeleton: the slower expression is the faster one then
_SPAN = 2_000
_MOST = 40  # things told of one message
_TEMPLATE = 300  # characters
_VALUE = 300
_SEGMENTS = 4  # of a path in a template
_NUMERIC = frozenset(["number", "duration_ms", "duration", "bytes", "percent", "port", "status"])
Found = tuple[str, str | None, str, float | None]  # kind, name, value, number
_Piece = tuple[
    str, int, int, str
]  # a text made of parts of a message: a text before, from part, to part, a text behind


@dataclass(frozen=True, slots=True)
class _Plan:
    """How messages of a skeleton are told.

    said      what is the same in all of them
    words     kind, name, place of the part that differs, whether it tells a number
    pieces    kind, name, piece, whether it tells a number, of values that are more than one part
    named     kind, piece of the name, piece, where the name differs too
    """

    template: str
    said: tuple[Found, ...] = ()
    words: tuple[tuple[str, str | None, int, bool], ...] = ()
    pieces: tuple[tuple[str, str | None, str, int, int, str, bool], ...] = ()
    named: tuple[tuple[str, _Piece, _Piece], ...] = ()


@dataclass
class Messages:
    """Reads messages, and mines templates from them."""

    _plans: dict[str, _Plan] = field(default_factory=dict)
    _templates: dict[str, str] = field(default_factory=dict)
    _varying: re.Pattern[str] = _FEW
    _seen: int = 0
    _missed: int = 0
    _mined: int = 0
    _drain: Drain = field(default_factory=lambda: Drain(depth=4, sim_th=0.7, max_children=100, max_clusters=_CLUSTERS))

    @property
    def is_full(self) -> bool:
        """Return whether new messages are told by their first words only."""
        return self._mined >= _MINED

    def learn(self, message: str) -> None:
        """Let a message take part in the templates. All that are learned before the first is read have one say."""
        message = message[:_LONG]
        skeleton = "\0".join(self._varying.split(message)[::2])
        if skeleton not in self._plans and self._mined < _MINED // 2:
            self._plans[skeleton] = _Plan("")
            self._mine(mask(message, find_all(message)))

    def forget(self) -> None:
        """Forget the plans that `learn` left."""
        self._plans.clear()

    def read(self, message: str) -> tuple[str, tuple[Found, ...]]:
        """Return the template of a message, and what the message holds."""
        parts = self._varying.split(message if len(message) < _LONG else message[:_LONG])
        plan = self._plans.get("\0".join(parts[::2])) or self._plan(parts)
        self._seen += 1
        held = [*plan.said]
        for kind, name, index, numeric in plan.words:
            value = parts[index]
            number = float(value) if value.isdecimal() else number_as(kind, value) if numeric else None
            held.append((kind, name, value, number))
        for kind, name, before, start, end, behind, numeric in plan.pieces:
            value = before + "".join(parts[start:end]) + behind
            held.append((kind, name, value[:_VALUE], number_as(kind, value) if numeric else None))
        for kind, named, piece in plan.named:
            value = _text(parts, piece)
            held.append((kind, _text(parts, named), value, number_as(kind, value)))
        return plan.template, tuple(held)

    def _plan(self, parts: list[str]) -> _Plan:
        self._adapt()
        if len(self._plans) >= _SKELETONS:
            self._plans.clear()
        message = "".join(parts)
        spans = find_all(message)
        plan = _make_plan(self._template(mask(message, spans)), parts, spans[:_MOST])
        self._plans["\0".join(parts[::2])] = plan
        return plan

    def _adapt(self) -> None:
        """Take the slower expression if too many skeletons are new."""
        self._missed += 1
        if self._seen >= _SPAN:
            if self._missed > _MISSED * self._seen:
                self._varying = _MANY
            self._seen = self._missed = 0

    def _template(self, masked: str) -> str:
        if masked not in self._templates:
            if len(self._templates) >= _SKELETONS:
                self._templates.clear()
            self._templates[masked] = self._mine(masked)
        return self._templates[masked]

    def _mine(self, masked: str) -> str:
        if self.is_full:
            words = masked.split()
            return " ".join(words if len(words) <= _BEGINNING else [*words[:_BEGINNING], "<*>"])[:_TEMPLATE]
        self._mined += 1
        cluster, _ = self._drain.add_log_message(masked)
        return str(cluster.get_template())[:_TEMPLATE]


def number_as(kind: str, value: str) -> float | None:
    """Return the number that a value of a kind tells; milliseconds of a duration."""
    if value.isdecimal():
        return float(value)
    if kind not in _NUMERIC:
        return None
    return milliseconds(value) if kind == "duration_ms" else number_of(value)


def summarise(told: Iterable[Found]) -> str | None:
    """Return a template for an entry that is all fields: its method, path and status, if it is a request."""
    first: dict[str, str] = {}
    for kind, _, value, _ in told:
        first.setdefault(kind, value)
    if "method" not in first:
        return f"<*> {first['status']}" if "status" in first else None
    path = (first.get("url") or first.get("path") or "").partition("?")[0]
    segments = [_VARYING.sub("<*>", segment) for segment in path.split("/")]
    short = "/".join(segments if len(segments) <= _SEGMENTS else (*segments[:_SEGMENTS], "<*>"))
    return " ".join(filter(None, (first["method"], short[:_TEMPLATE], first.get("status"))))


def mask(message: str, spans: list[Span]) -> str:
    """Return the message with `<*>` for each value that it holds and each word with a digit."""
    pieces, end = [], 0
    for kind, _, start, stop in spans:
        if kind != "method":
            pieces += [message[end:start], "<*>"]
            end = stop
    pieces.append(message[end:])
    return _JOINED.sub("<*>", "".join(one if one == "<*>" else _VARYING.sub("<*>", one) for one in pieces))


def _make_plan(template: str, parts: list[str], spans: list[Span]) -> _Plan:
    ends = list(accumulate(map(len, parts)))
    said: list[Found] = []
    words: list[tuple[str, str | None, int, bool]] = []
    pieces: list[tuple[str, str | None, str, int, int, str, bool]] = []
    named: list[tuple[str, _Piece, _Piece]] = []
    for kind, place, start, stop in spans:
        piece = _piece(parts, ends, start, stop)
        name = _piece(parts, ends, *place) if place else ("", 0, 0, "")
        told = name[0] or None
        if name[1] < name[2]:
            named.append((kind, name, piece))
        elif piece[1] == piece[2]:
            said.append((kind, told, piece[0][:_VALUE], number_as(kind, piece[0])))
        elif piece[2] - piece[1] == 1 and not piece[0] and not piece[3]:
            words.append((kind, told, piece[1], kind in _NUMERIC))
        else:
            pieces.append((kind, told, *piece, kind in _NUMERIC))
    return _Plan(template, tuple(said), tuple(words), tuple(pieces), tuple(named))


def _piece(parts: list[str], ends: list[int], start: int, stop: int) -> _Piece:
    """Return the text from `start` to `stop` by parts. A part that varies is taken as a whole."""
    first = bisect_right(ends, start)
    last = bisect_right(ends, stop - 1)
    if first == last and not first % 2:
        begin = ends[first] - len(parts[first])
        return parts[first][start - begin : stop - begin], 0, 0, ""
    before = "" if first % 2 else parts[first][start - ends[first] :]
    behind = "" if last % 2 else parts[last][: len(parts[last]) - (ends[last] - stop)]
    return before, first + (first % 2 == 0), last + last % 2, behind


def _text(parts: list[str], piece: _Piece) -> str:
    before, first, end, behind = piece
    return (before + "".join(parts[first:end]) + behind)[:_VALUE]
