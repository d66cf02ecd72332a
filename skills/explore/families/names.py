"""Names as people split, spell and make them up."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from random import Random
from typing import TypeVar

Thing = TypeVar("Thing")
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def parts(name: str) -> list[str]:
    """The words of an identifier in small letters: `HTTPServer.get_item` is http, server, get, item."""
    return [word.lower() for word in WORDS.findall(name)]


def last_part(name: str) -> str:
    """What stands behind the last dot."""
    return name.rpartition(".")[2]


def outline_target(name: str) -> str:
    """A name as it is handed to `outline`, which knows it in any spelling."""
    return name.strip().removesuffix("()")


def as_identifier(said: str) -> str:
    """What can be searched for of what was said: `back off` and `back-off` as `back_off`, `close()` as `close`."""
    return re.sub(r"[\s-]+", "_", outline_target(said))


def spell_out(name: str) -> str:
    """How one says it aloud: `ConnectionPool` as `connection pool`."""
    return " ".join(parts(name))


def recombine(names: Sequence[str], text: str, rng: Random) -> Iterator[str]:
    """Names that look like these, made of their parts, whose words stand together nowhere in the (lower-case) text."""
    heads = [name for name in names if 2 <= len(parts(name)) <= 4 and not name.startswith("_")]
    squeezed = re.sub(r"[_\s-]", "", text)
    while len(heads) > 1:
        first, second = rng.sample(heads, 2)
        made = _join(first, second)
        if made and "".join(parts(made)) not in squeezed:
            yield made


def _join(first: str, second: str) -> str:
    """The first words of one and the last of the other, spelled as both are; empty where they are not spelled alike."""
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
    """`a`, `b` and `c`."""
    return format_list([f"`{name}`" for name in names])


def format_list(texts: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def limit_per_key(things: Iterable[Thing], key: Callable[[Thing], object], most: int) -> Iterator[Thing]:
    """The things, but at most so many of each kind."""
    had: Counter[object] = Counter()
    for one in things:
        had[key(one)] += 1
        if had[key(one)] <= most:
            yield one


def shuffled(things: Collection[Thing], rng: Random) -> list[Thing]:
    """All of them in an order of the generator's."""
    return rng.sample(list(things), len(things))
