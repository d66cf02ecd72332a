"""Identifiers: their words, their spellings, and invented ones."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from random import Random
from typing import TypeVar

Thing = TypeVar("Thing")
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def parts(name: str) -> list[str]:
    """Return the words of an identifier in lower case: http, server, get, item for `HTTPServer.get_item`."""
    return [word.lower() for word in WORDS.findall(name)]


def last_part(name: str) -> str:
    """Return the part after the last dot."""
    return name.rpartition(".")[2]


def outline_target(name: str) -> str:
    """Return a name as an argument of `outline`, which accepts any spelling."""
    return name.strip().removesuffix("()")


def as_identifier(name: str) -> str:
    """Return a name as a search pattern: `back_off` for `back off` and `back-off`, `close` for `close()`."""
    return re.sub(r"[\s-]+", "_", outline_target(name))


def spell_out(name: str) -> str:
    """Return the words of a name: `connection pool` for `ConnectionPool`."""
    return " ".join(parts(name))


def recombine(names: Sequence[str], text: str, rng: Random) -> Iterator[str]:
    """Yield invented names, made of parts of these, that do not occur in the lower-case text in any spelling."""
    heads = [name for name in names if 2 <= len(parts(name)) <= 4 and not name.startswith("_")]
    squeezed = re.sub(r"[_\s-]", "", text)
    while len(heads) > 1:
        first, second = rng.sample(heads, 2)
        invented = _join(first, second)
        if invented and "".join(parts(invented)) not in squeezed:
            yield invented


def _join(first: str, second: str) -> str:
    """Return the first words of one and the last of the other; empty if the two differ in style."""
    one, other = parts(first), parts(second)
    if ("_" in first) != ("_" in second) or first[0].isupper() != second[0].isupper():
        return ""
    words = [*one[: (len(one) + 1) // 2], *other[len(other) // 2 :]]
    if len(set(words)) < len(words):
        return ""
    if "_" in first:
        joined = "_".join(words)
        return joined.upper() if first.isupper() else joined
    joined = "".join(map(str.capitalize, words))
    return joined if first[0].isupper() else words[0] + joined[len(words[0]) :]


def format_names(names: Sequence[str]) -> str:
    """Return the names as code: `a`, `b` and `c`."""
    return format_list([f"`{name}`" for name in names])


def format_list(texts: Sequence[str]) -> str:
    """Return the texts as a list: a, b and c."""
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def limit_per_key(things: Iterable[Thing], key: Callable[[Thing], object], most: int) -> Iterator[Thing]:
    """Yield the things, at most `most` with the same key."""
    counts: Counter[object] = Counter()
    for thing in things:
        counts[key(thing)] += 1
        if counts[key(thing)] <= most:
            yield thing


def shuffled(things: Collection[Thing], rng: Random) -> list[Thing]:
    """Return all of them in random order."""
    return rng.sample(list(things), len(things))
