"""Bundles: conversations that begin alike, as one row of tokens in which their beginning stands once.

A folder's tables take most of a conversation's tokens, and a question about them few. Each conversation sees the
beginning and itself, at the positions that it would have alone, so the gradient is that of separate rows
(tests/training/learning/test_bundles.py).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from skillstill_training.learning.rows import IGNORED, TrainingRow

WORTH_SHARING = 64  # tokens of a beginning


@dataclass(frozen=True, slots=True)
class Bundle:
    """The first `shared` tokens are those that each conversation begins with; `rests` follow, one a conversation.

    `tokens`, `labels` and `positions` are equally long. `ends` are where the beginning, and then each rest, ends.
    """

    tokens: tuple[int, ...]
    labels: tuple[int, ...]
    positions: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, rows: Sequence[TrainingRow]) -> "Bundle":
        """Return the bundle of rows with the same shared tokens; that of one row begins with nothing."""
        shared = rows[0].shared if len(rows) > 1 else 0
        tokens, labels = [*rows[0].tokens[:shared]], [IGNORED] * shared
        positions, ends = [*range(shared)], [shared]
        for row in rows:
            tokens += row.tokens[shared:]
            labels += row.labels[shared:]
            positions += range(shared, len(row.tokens))
            ends.append(len(tokens))
        return cls(tuple(tokens), tuple(labels), tuple(positions), tuple(ends))


def bundle_rows(rows: Sequence[TrainingRow], longest: int, seed: int) -> Sequence[Bundle]:
    """Return the rows in bundles of at most `longest` tokens, shuffled. Rows that share little stay alone."""
    by_beginning: Mapping[tuple[int, ...], list[TrainingRow]] = defaultdict(list)
    alone = [[row] for row in rows if row.shared < WORTH_SHARING]
    for row in rows:
        if row.shared >= WORTH_SHARING:
            by_beginning[row.tokens[: row.shared]].append(row)
    groups = [*alone, *(group for alike in by_beginning.values() for group in _fill(alike, longest))]
    return Random(seed).sample([Bundle.of(group) for group in groups], len(groups))  # noqa: S311 - no secret


def _fill(rows: Sequence[TrainingRow], longest: int) -> Iterator[Sequence[TrainingRow]]:
    """Yield rows of one beginning in groups as large as there is room. Two equal conversations are never in one."""
    group: list[TrainingRow] = []
    length = 0
    for row in rows:
        rest = len(row.tokens) - row.shared
        if group and (length + rest > longest or row in group):
            yield group
            group = []
        length = length + rest if group else len(row.tokens)
        group.append(row)
    if group:
        yield group
