"""How results list many things in few tokens."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from skillstill.tools.kit.tool import Line
from skillstill.types import Span

WIDTH = 100  # characters of a row that holds several names


def place(path: str, line: int) -> Span:
    return Span(path=path, first=line, last=line)


def rows(
    items: Sequence[tuple[str, Span]], indent: str = "", *, between: str = " ", width: int = WIDTH
) -> Iterable[Line]:
    """Return the names, several to a row, each with what it shows."""
    names: list[str] = []
    spans: tuple[Span, ...] = ()
    for name, span in items:
        if names and len(between.join([*names, name])) > width:
            yield Line(indent + between.join(names), spans)
            names, spans = [], ()
        names, spans = [*names, name], (*spans, span)
    if names:
        yield Line(indent + between.join(names), spans)


def quoted_name(name: str) -> str:
    """Return the name as it may stand among others in a row."""
    return repr(name) if re.search(r"\s", name) else name


def left_out(places: Sequence[str], shown: int = 3) -> Iterable[Line]:
    """Return at most one line: how many of these are not shown, and where most of them are."""
    if places:
        counted = Counter(places).most_common()
        named = ", ".join(f"{place} {count}" for place, count in counted[:shown])
        others = f", {len(counted) - shown} other places" if len(counted) > shown else ""
        yield Line(f"… {len(places)} more: {named}{others}", omits=len(places))
