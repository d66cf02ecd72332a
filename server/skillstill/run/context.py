"""Quoted lines in their context: one line often says half of what was asked for, and those around it the rest.

Of questions about code, one line of the opening is a right answer to 37 %; with two lines above it and three below, to
49 % (docs/experiments.md).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from skillstill.errors import Refusal
from skillstill.skills.skill import Around
from skillstill.tools.kit.redaction import text_lines
from skillstill.util.text import indented
from skillstill.workspace import Workspace

QUOTE = re.compile(r"(?P<path>[^\s:][^:\n]*):(?P<line>\d{1,9}): .*")
MOST = 2  # quotes that are shown with lines around them, which they share: of more, each says a part by itself
WIDTH = 200  # characters of a line around a quoted one
LinesOf = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Quote:
    """A line of a file as an answer quotes it, its place in front."""

    path: str
    line: int
    text: str


def in_context(answer: str, around: Around, lines_of: LinesOf) -> str:
    """Return an answer of quoted lines with the lines around them, indented; empty if it says anything else.

    `lines_of` returns the lines of a file by its path. No line is told twice.
    """
    found = [QUOTE.fullmatch(line) for line in answer.split("\n")]
    quotes = [Quote(one["path"], int(one["line"]), one[0]) for one in found if one]
    if not around.lines or len(quotes) < len(found) or len(quotes) > MOST:
        return ""
    share = Around(above=around.above // len(quotes), below=around.below // len(quotes))
    told = {(quote.path, quote.line) for quote in quotes}
    return "\n".join(line for quote in quotes for line in _passage(quote, share, lines_of(quote.path), told))


def _passage(quote: Quote, around: Around, lines: Sequence[str], told: set[tuple[str, int]]) -> Iterator[str]:
    """Yield the lines around a quote that were not `told`, and the quote itself; add them to those."""
    if not 1 <= quote.line <= len(lines):
        yield quote.text
        return
    for at in range(max(1, quote.line - around.above), min(len(lines), quote.line + around.below) + 1):
        if at == quote.line:
            yield quote.text
        elif (quote.path, at) not in told and lines[at - 1].strip():
            told.add((quote.path, at))
            yield indented(lines[at - 1], WIDTH)


def lines_in(workspace: Workspace, path: str) -> Sequence[str]:
    """Return the lines of a file; none of one that cannot be read as text."""
    try:
        return text_lines(workspace.read(path))
    except (Refusal, OSError):
        return ()
