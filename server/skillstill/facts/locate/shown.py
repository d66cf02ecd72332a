"""Which lines are shown of the places that were chosen: the best of each, and the best of the others.

With two more for each, one line is a right answer to 37 % of the training questions about code, and to 43 % of those
about logs; with the best lines alone to 27 and 30 % (docs/experiments.md).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from skillstill.facts.locate.candidates import Candidate
from skillstill.facts.locate.expected import LEAST, standing
from skillstill.facts.locate.ranking import Ranking

OTHERS = 2  # lines for each place beside its best one: more cost tokens of every run and bring a point in a hundred
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class ShownText:
    """A line of a file as it is shown."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class PromisingLine:
    """A line that may be shown; `rank` is the position of its place among the others."""

    rank: int
    line: int
    promise: float


def shown_lines(ranking: Ranking, chosen: Sequence[Candidate]) -> Sequence[Sequence[ShownText]]:
    """Return the lines of each place, its best one first, and in all twice as many others as there are places.

    A place that says its text itself has none.
    """
    found = [_promising(ranking, chosen, rank) for rank in range(len(chosen))]
    best = [lines[0] for lines in found if lines]
    others = sorted((line for lines in found for line in lines[1:]), key=lambda line: -line.promise)

    def shown(line: PromisingLine) -> ShownText:
        return ShownText(line.line, ranking.excerpt(chosen[line.rank].file, line.line))

    heads = {line.rank: shown(line) for line in best}
    texts = ((line.rank, shown(line)) for line in others)  # few of them are asked for
    more = [*islice(_unlike(texts, heads.values()), OTHERS * len(chosen))]
    return [
        [heads[rank], *sorted((one for at, one in more if at == rank), key=lambda one: one.line)] if lines else []
        for rank, lines in enumerate(found)
    ]


def _promising(ranking: Ranking, chosen: Sequence[Candidate], rank: int) -> Sequence[PromisingLine]:
    """Return the lines of one place, the most promising first."""
    each = chosen[rank]
    if each.is_column:
        return ()
    extra = standing(rank, each.value, chosen[0].value)
    found = (PromisingLine(rank, line, promise + extra) for line, promise in ranking.promises(each).items())
    return sorted(found, key=lambda line: -line.promise)


def _unlike(lines: Iterable[tuple[int, ShownText]], shown: Iterable[ShownText]) -> Iterator[tuple[int, ShownText]]:
    """Yield the lines that say something, and more than other numbers: the entries of a log are alike."""
    known = {_plain(line.text) for line in shown}
    for rank, line in lines:
        plain = _plain(line.text)
        if len(plain) >= LEAST and plain not in known:
            known.add(plain)
            yield rank, line


def _plain(text: str) -> str:
    return _NUMBERS.sub("0", text)
