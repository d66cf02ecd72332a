"""Messages: what they hold and the template that they share, told once for all messages of one skeleton.

A skeleton is a message without its words that begin with a digit. Messages of one skeleton hold the same kinds of things
at the same places. So a message is only split, and looked up; a new skeleton is read with all expressions, once.
"""

import re
from bisect import bisect_right
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
_CLUSTERS = 2_000
_MISSED = 0.1  # of the last 2,000 messages without a known skeleton: the slower expression is the faster one then
_SPAN = 2_000
_MOST = 40  # things told of one message
_TEMPLATE = 300  # characters
Found = tuple[str, str | None, str, float | None]  # kind, name, value, number
_Piece = tuple[
    str, int, int, str
]  # a text made of parts of a message: a text before, from part, to part, a text behind


@dataclass(frozen=True, slots=True)
class _Plan:
    """How messages of a skeleton are told.

    said        what is the same in all of them
    places      kind, name (a text, or a piece) and piece of what differs
    """

    template: str
    said: tuple[Found, ...]
    places: tuple[tuple[str, str | _Piece | None, _Piece], ...]


@dataclass
class Messages:
    """Reads messages, and mines templates from them."""

    _plans: dict[str, _Plan] = field(default_factory=dict)
    _templates: dict[str, str] = field(default_factory=dict)
    _varying: re.Pattern[str] = _FEW
    _seen: int = 0
    _missed: int = 0
    _drain: Drain = field(default_factory=lambda: Drain(depth=4, sim_th=0.5, max_children=100, max_clusters=_CLUSTERS))

    def learn(self, message: str) -> None:
        """Let a message take part in the templates. All that are learned before the first is read have one say."""
        parts = self._varying.split(message[:_LONG])
        skeleton = "\0".join(parts[::2])
        if skeleton not in self._plans:
            message = message[:_LONG]
            self._drain.add_log_message(mask(message, find_all(message)))
            self._plans[skeleton] = _Plan("", (), ())

    def forget(self) -> None:
        """Forget the plans that `learn` left."""
        self._plans.clear()

    def read(self, message: str) -> tuple[str, list[Found]]:
        """Return the template of a message, and what the message holds."""
        parts = self._varying.split(message[:_LONG])
        plan = self._plans.get("\0".join(parts[::2])) or self._plan(parts)
        self._seen += 1
        if not plan.places:
            return plan.template, list(plan.said)
        found = list(plan.said)
        for kind, name, piece in plan.places:
            before, first, end, behind = piece
            value = parts[first] if end - first == 1 and not before and not behind else _text(parts, piece)
            number = (
                float(value)
                if value.isdecimal()
                else milliseconds(value)
                if kind == "duration_ms"
                else number_of(value)
            )
            found.append((kind, name if name is None or isinstance(name, str) else _text(parts, name), value, number))
        return plan.template, found

    def _plan(self, parts: list[str]) -> _Plan:
        self._adapt()
        if len(self._plans) >= _SKELETONS:
            self._plans.clear()
        message = "".join(parts)
        spans = find_all(message)
        said, places = _split_spans(message, parts, spans[:_MOST])
        plan = self._plans["\0".join(parts[::2])] = _Plan(self._template(mask(message, spans)), said, places)
        return plan

    def _adapt(self) -> None:
        self._missed += 1
        if self._seen >= _SPAN:
            if self._missed > _MISSED * self._seen and self._varying is _FEW:
                self._varying = _MANY
            self._seen = self._missed = 0

    def _template(self, masked: str) -> str:
        if masked not in self._templates:
            if len(self._templates) >= _SKELETONS:
                self._templates.clear()
            cluster, _ = self._drain.add_log_message(masked)
            self._templates[masked] = cluster.get_template()[:_TEMPLATE]
        return self._templates[masked]


def mask(message: str, spans: list[Span]) -> str:
    """Return the message with `<*>` for each value that it holds and each word with a digit."""
    pieces, end = [], 0
    for _, _, start, stop in spans:
        pieces += [message[end:start], "<*>"]
        end = stop
    pieces.append(message[end:])
    return _JOINED.sub("<*>", "".join(one if one == "<*>" else _VARYING.sub("<*>", one) for one in pieces))


def _split_spans(
    message: str, parts: list[str], spans: list[Span]
) -> tuple[tuple[Found, ...], tuple[tuple[str, str | _Piece | None, _Piece], ...]]:
    ends = list(accumulate(map(len, parts)))
    said: list[Found] = []
    places: list[tuple[str, str | _Piece | None, _Piece]] = []
    for kind, named, start, stop in spans:
        name = _piece(parts, ends, *named) if named else None
        told = name[0] if name and name[1] == name[2] else name
        piece = _piece(parts, ends, start, stop)
        if piece[1] == piece[2] and (told is None or isinstance(told, str)):
            number = milliseconds(piece[0]) if kind == "duration_ms" else number_of(piece[0])
            said.append((kind, told, piece[0], number))
        else:
            places.append((kind, told, piece))
    return tuple(said), tuple(places)


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
    return before + "".join(parts[first:end]) + behind
