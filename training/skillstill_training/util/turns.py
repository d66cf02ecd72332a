"""Take items in turns, so that each group has its share of the first ones."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, zip_longest
from typing import TypeVar

T = TypeVar("T")


def interleave(items: Iterable[T], group: Callable[[T], str], count: int) -> Sequence[T]:
    """Return the first `count` items if one of each group is taken in turn. Groups come as their first items do."""
    groups: dict[str, list[T]] = defaultdict(list)
    for item in items:
        groups[group(item)].append(item)
    turns = chain.from_iterable(zip_longest(*groups.values()))
    return [item for item in turns if item is not None][:count]
