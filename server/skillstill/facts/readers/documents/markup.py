"""What each markup gives: headings, links and code blocks with their lines."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field

BARE_ADDRESS = re.compile(r"\bhttps?://[^\s<>\"`\])}]+")
_TRAILING = ".,;:!?'*_"


@dataclass(frozen=True, slots=True)
class Heading:
    """A title and the lines that it takes, with its underline."""

    title: str
    level: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Link:
    text: str
    target: str
    kind: str  # link or image
    line: int


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """The lines of a block with its fences or directive, and of what is in it (last before first if it is empty)."""

    language: str | None
    first: int
    last: int
    body_first: int
    body_last: int


@dataclass(slots=True)
class Markup:
    headings: list[Heading] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    code_blocks: list[CodeBlock] = field(default_factory=list)


class LineCounter:
    """Tells the line of a place in a text."""

    def __init__(self, text: str, first: int = 1) -> None:
        self._breaks = [match.start() for match in re.finditer("\n", text)]
        self._first = first

    def line(self, place: int) -> int:
        return self._first + bisect_right(self._breaks, place - 1) if place else self._first


def bare_address(match: re.Match[str]) -> str:
    """Return an address without the punctuation of the sentence around it."""
    return match[0].rstrip(_TRAILING)
