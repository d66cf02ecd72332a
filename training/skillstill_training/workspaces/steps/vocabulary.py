"""Words: which of a tree are telling, which plain ones may stand for them, and the forms that a word takes."""

import builtins
import keyword
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from skillstill_training.workspaces.steps.definitions import Definitions

SHORTEST = 4  # letters: shorter ones are mostly abbreviations that many programs share
RARER = 20  # times: a base that is rarer than that beside its form is a typing error or of another language
PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
BUILT_IN_TYPES = (str, bytes, list, dict, set, tuple, int, float, Exception, type, object)


def count(tokens: Iterable[str]) -> Counter[str]:
    """Return how often each word stands there, in lower case."""
    counts: Counter[str] = Counter()
    for token, often in Counter(tokens).items():
        if token.isalpha():
            counts[token.lower()] += often
    return counts


def telling(found: Definitions, counts: Mapping[str, int]) -> set[str]:
    """Return the words of what the tree defines, each in its shortest form that occurs; none that has to stay."""
    stay = staying(found)
    stay |= {base(word, counts) for word in stay}
    candidates = {base(word, counts) for name in found.defined for word in pieces(name)} - stay - common()
    return {word for word in candidates if len(word) >= SHORTEST and counts[word]}


def packages(texts: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the tree's own top packages, if they are one word."""
    inits = (PurePosixPath(name).parent for name in texts if name.endswith("/__init__.py"))
    found = {path.name for path in inits if f"{path.parent}/__init__.py".removeprefix("./") not in texts}
    return frozenset(name for name in found if re.fullmatch(r"[a-z]{4,}", name)) - common()


def staying(found: Definitions) -> frozenset[str]:
    """Return the words of names that come from outside: they would be another's if they changed."""
    return frozenset(word for name in found.outside for word in pieces(name))


def pieces(name: str) -> Iterator[str]:
    """Yield `parse_HTTPRequest` -> parse, http, request."""
    for piece in PIECE.findall(name):
        yield piece.lower()


def base(word: str, counts: Mapping[str, int]) -> str:
    """Return the shortest word of which it is a form, among those that occur as words; else the word itself."""
    for end in range(len(word) - 1, SHORTEST - 1, -1):
        for candidate in (word[:end], f"{word[:end]}e", f"{word[:end]}y"):
            often = counts.get(candidate, 0) * RARER >= counts.get(word, 0) > 0
            if candidate != word and often and word in dict(forms(candidate)):
                return base(candidate, counts)
    return word


@cache
def forms(word: str) -> tuple[tuple[str, str], ...]:
    """Return what it becomes with an ending, and that ending as a word of our own vocabulary takes it."""
    stem = word.removesuffix("e")
    plural = word + "s"
    if re.search(r"[^aeiou]y$", word):
        plural = word[:-1] + "ies"
    elif re.search(r"(?:[sxz]|[cs]h)$", word):
        plural = word + "es"
    # Of a word in -y: tried, trier; it keeps its y in trying.
    past = word[:-1] + "ie" if re.search(r"[^aeiou]y$", word) else stem + "e"
    doubled = word + word[-1] if re.search(r"[^aeiou][aeiou][bdgklmnprt]$", word) else None
    found = {word: "", plural: "s", past + "d": "ed", stem + "ing": "ing", past + "r": "er", past + "rs": "ers"}
    if doubled:
        found |= {doubled + ending: ending for ending in ("ed", "ing", "er", "ers")}
    return tuple(found.items())


@cache
def common() -> frozenset[str]:
    """Return what any program may say: Python's own words, and those of the bundled list, in all their forms."""
    names = [*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *sys.stdlib_module_names]
    names += [name for one in BUILT_IN_TYPES for name in dir(one)]
    words = {word for name in names for word in pieces(name)} | set(_listed("common.txt"))
    return frozenset(form for word in words for form, _ in forms(word))


@cache
def plain() -> tuple[str, ...]:
    """Return words that take every ending as it is, and begin with a consonant: `a` never becomes `an`."""
    return tuple(word for word in dict.fromkeys(_listed("plain.txt")) if word not in common())


def _listed(name: str) -> list[str]:
    return Path(__file__).with_name(name).read_text(encoding="utf-8").split()
