"""Passages as lines of a result."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from skillstill.tools.kit.tool import Line
from skillstill.tools.web.passages import Passage
from skillstill.types import Span

SHOWN = 5
ROOM = 330  # characters of a line: five of them and a head are a whole result


def passage_lines(passages: Sequence[Passage]) -> Iterator[Line]:
    """Yield `path:line: titles: text` of each passage, the text of code behind `(code)`."""
    for one in passages:
        titles = f"{one.titles}{' (code)' if one.is_code else ''}: " if one.titles or one.is_code else ""
        room = ROOM - len(f"{one.path}:{one.first}: ")
        text = one.text if len(one.text) <= room else f"{one.text[: room - 1]}…"
        if len(titles) + len(text) > room:
            titles = ""
        line = Line.at(one.path, one.first, titles + text)
        yield replace(line, spans=(Span(path=one.path, first=one.first, last=one.last),))
