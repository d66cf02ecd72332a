"""The passages of a file, each of which one reads at once: definitions with their comments, sections, windows."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from skillstill.facts.locate.corpus import Definition, NamedLines

LONGEST = 60  # lines: what one looks through
WINDOW = 40  # of the parts of what is longer
COMMENTED = 40  # lines above a definition that may be its comment
_COMMENT = re.compile(r"\s*(?:#(?!\s*(?:include|define|if|end))|//|/?\*|--|@\w|;;|<!--)")


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a file, and the definition that they are of, if any; `around` are the names that they stand in."""

    first: int
    last: int
    definition: Definition | None = None
    around: str = ""


def passages_of(
    lines: Sequence[str], definitions: Sequence[Definition], sections: Sequence[NamedLines]
) -> Iterator[Passage]:
    """Yield parts of at most LONGEST lines, in their order: a line belongs to the innermost of what it stands in."""
    ordered = sorted(definitions, key=lambda each: (each.first, -each.last))
    owners = np.full(len(lines), -1)
    for at, each in enumerate(ordered):
        owners[_beginning(lines, each.first) - 1 : each.last] = at
    for at, part in enumerate(sections, len(ordered)):
        owners[part.first - 1 : part.last] = at
    cuts = [0, *(np.flatnonzero(np.diff(owners)) + 1).tolist(), len(lines)]
    for first, last in pairwise(cuts):
        owner = int(owners[first]) if first < len(lines) else -1
        definition = ordered[owner] if 0 <= owner < len(ordered) else None
        section = sections[owner - len(ordered)].text if owner >= len(ordered) else ""
        for begin, end in _parts(first, last):
            yield Passage(begin + 1, end, definition, definition.qualified if definition else section)


def _beginning(lines: Sequence[str], first: int) -> int:
    """Return where the comment above a line begins, decorators included; the line itself if there is none."""
    begin = min(first, len(lines))
    while begin > max(1, first - COMMENTED) and _COMMENT.match(lines[begin - 2]):
        begin -= 1
    return begin


def _parts(first: int, last: int) -> Iterator[tuple[int, int]]:
    count = last - first
    step = count if count <= LONGEST else -(-count // -(-count // WINDOW))
    for begin in range(first, last, step or 1):
        yield begin, min(last, begin + step)
