"""The words of texts and names, as they are counted and compared."""

import re
from collections.abc import Iterator
from functools import lru_cache

NAME = re.compile(r"[^\W\d][\w$]*")
PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+")
ENDINGS = re.compile(r"(?:ations?|ators?|ions?|ings?|ments?|ers?|ors?|ed|es|e|s|ly)$")
LEAST = 3  # letters that a stem keeps
LONGEST = 64  # characters of a name: a longer one is data


def names_in(text: str) -> Iterator[str]:
    """Yield the names and words of a text as they stand there."""
    return (name for name in NAME.findall(text) if len(name) <= LONGEST)


def stems_in(text: str) -> Iterator[str]:
    """Yield the stems of a text, those of a name's parts one by one: `maxRetries` and `max_retry` give the same two."""
    for name in names_in(text):
        yield from stems_of(name)


@lru_cache(maxsize=200_000)
def stems_of(name: str) -> tuple[str, ...]:
    """Return the stems of the parts of a name. Single letters tell nothing."""
    return tuple(stem(piece.lower()) for piece in PIECE.findall(name) if len(piece) > 1)


def stem(word: str) -> str:
    """Return a word without its ending."""
    shorter = ENDINGS.sub("", word)
    return shorter if len(shorter) >= LEAST else word
