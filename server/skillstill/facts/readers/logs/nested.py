"""Logs of containers: each line is an envelope, and its message a line of another log."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skillstill.facts.readers.logs.detect import detect, first_of, pick
from skillstill.facts.readers.logs.heads import Head, LineReader

_LINES = 200


@dataclass(frozen=True)
class NestedLines:
    """Lines of an envelope, with the columns that their messages tell."""

    outer: LineReader
    inner: Sequence[LineReader]

    @property
    def name(self) -> str:
        return f"{self.outer.name} {self.inner[0].name}"

    @property
    def end(self) -> str:
        return self.outer.end

    @property
    def continues(self) -> bool:
        return self.outer.continues

    @property
    def has_time(self) -> bool:
        return self.outer.has_time or self.inner[0].has_time

    @property
    def nested(self) -> bool:
        return False

    @property
    def lacks(self) -> str:
        return ""

    def cut(self, data: bytes) -> int:
        return self.outer.cut(data)

    def restart(self) -> None:
        self.outer.restart()

    def scan(self, text: str) -> Iterator[Head | str]:
        for head in self.outer.scan(text):
            yield head if isinstance(head, str) else self._open(head)

    def _open(self, head: Head) -> Head:
        line = head.message.rstrip("\n") + "\n"
        heads = (first_of(reader, line) for reader in self.inner)
        inner = next((one for one in heads if isinstance(one, Head)), None)
        return join(head, inner) if inner else head


def join(outer: Head, inner: Head) -> Head:
    """Return the envelope with what the message tells. The time stays that of the envelope, if it has one."""
    here = outer.start >= 0 and inner.start >= 0 and outer.length >= inner.size - 1
    return outer._replace(
        time=outer.time or inner.time,
        zone=outer.zone if outer.time else inner.zone,
        level=inner.level or outer.level,
        component=inner.component or outer.component,
        host=inner.host or outer.host,
        pid=inner.pid if inner.pid is not None else outer.pid,
        thread=inner.thread or outer.thread,
        message=inner.message,
        start=outer.start + inner.start if here else -1,
        length=inner.length,
        fields=(*outer.fields, *inner.fields),
    )


def unnest(readers: Sequence[LineReader], lines: Sequence[str]) -> list[LineReader]:
    """Return the readers; those of envelopes look into the messages, by the formats that a sample of them shows.

    An envelope without a time that holds no log is none.
    """
    opened = [_look_inside(reader, lines) if reader.nested else reader for reader in readers]
    return [reader for reader in opened if reader.has_time or not reader.nested]


def _look_inside(reader: LineReader, lines: Sequence[str]) -> LineReader:
    heads = (first_of(reader, line + "\n") for line in pick(lines, _LINES))
    messages = [head.message.rstrip("\n") for head in heads if isinstance(head, Head)]
    inner = detect("", messages, envelopes=False)
    return NestedLines(reader, inner) if inner else reader
