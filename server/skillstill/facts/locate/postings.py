"""Which files hold a word, and about how often: two bytes for each word of a file.

The words of a file lie together in one text, so it is written and removed with the file, and no list over all files is
ever mended. The inverse is built in memory when a code base is first asked: a sort of one array.

A text is a list of units of 16 bits in base 85. A unit is the distance of a word's key from the one before, and a code
for its counts; code 0 is no word, but a step on the way to a key that is farther off than a unit can say.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

KEYS = 1 << 18  # of 30,000 words one in ten shares its key with another
FARTHEST = (1 << 12) - 1  # of two keys that follow each other in a unit
COMMENT = 0.5  # what a word in a comment counts: in 244 issues comments named a file half as well as its code
NAME_STEPS = (1, 2)
BODY_STEPS = (1.0, 2.0, 5.0, 15.0)
# What the steps stand for, from below the first one on.
NAME_COUNTS = (0.0, 1.0, 2.5)
BODY_COUNTS = (0.5, 1.2, 3.0, 8.0, 30.0)
BASE = 85
ALPHABET = bytes(byte for byte in range(35, 121) if byte != ord("\\"))  # none that JSON would escape

Array: TypeAlias = NDArray[Any]
_DIGITS = np.zeros(256, dtype=np.int64)
_DIGITS[list(ALPHABET)] = np.arange(BASE)
_POWERS = BASE ** np.arange(4, -1, -1, dtype=np.int64)
_NAMES = np.array([0.0, *(name for name in NAME_COUNTS for _ in BODY_COUNTS)])
_BODIES = np.array([0.0, *BODY_COUNTS * len(NAME_COUNTS)])


@dataclass(slots=True)
class Counts:
    """How often a file holds a word: in the names that it defines, in its comments, and outside of comments."""

    names: int = 0
    comments: int = 0
    code: int = 0


def pack(counts: Mapping[str, Counts]) -> str:
    """Return the words of a file with their counts, rounded to steps."""
    codes: dict[int, int] = {}
    for word, count in counts.items():
        key = key_of(word)
        codes[key] = max(codes.get(key, 0), _code(count))
    units = np.fromiter(_units(codes), dtype="<u2")
    pairs = np.append(units, np.zeros(len(units) % 2, dtype="<u2")).view("<u4").astype(np.int64)
    digits = pairs[:, None] // _POWERS % BASE
    return str(np.frombuffer(ALPHABET, dtype=np.uint8)[digits].tobytes(), "ascii")


def key_of(word: str) -> int:
    return crc32(word.encode()) % KEYS


def _code(count: Counts) -> int:
    name = sum(count.names >= step for step in NAME_STEPS)
    body = sum(count.code + COMMENT * count.comments >= step for step in BODY_STEPS)
    return 1 + name * len(BODY_COUNTS) + body


def _units(codes: Mapping[int, int]) -> Iterator[int]:
    last = 0
    for key in sorted(codes):
        far, near = divmod(key - last, FARTHEST)
        yield from [FARTHEST << 4] * far
        yield near << 4 | codes[key]
        last = key


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """The words of all files, by key. A file is known by its position."""

    keys: Array
    files: Array
    codes: Array

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Postings":
        """Return the postings of files, each given as `pack` made it."""
        lengths: list[int] = []
        joined = b"".join(_noted(text, lengths) for text in texts)
        digits = _DIGITS[np.frombuffer(joined, dtype=np.uint8)].reshape(-1, len(_POWERS))
        units = (digits @ _POWERS).astype("<u4").view("<u2").astype(np.int64)
        sizes = np.array(lengths, dtype=np.int64) // len(_POWERS) * 2
        keys, codes = _keys(units >> 4, sizes), units & 15
        files = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        words = np.flatnonzero(codes)
        order = words[np.argsort(keys[words], kind="stable")]
        return cls(keys[order].astype(np.int32), files[order], codes[order].astype(np.uint8))

    def of_word(self, word: str) -> tuple[Array, Array, Array]:
        """Return the files that hold a word, and its counts in their names and in all the rest of them."""
        key = key_of(word)
        first, last = np.searchsorted(self.keys, np.array([key, key + 1], dtype=np.int32))
        codes = self.codes[first:last]
        return self.files[first:last], _NAMES[codes], _BODIES[codes]


def _noted(text: str, lengths: list[int]) -> bytes:
    lengths.append(len(text))
    return text.encode("ascii")


def _keys(steps: Array, sizes: Array) -> Array:
    """Return the sums of the steps, begun anew with each file."""
    sums = np.cumsum(steps)
    ends = np.cumsum(sizes)
    before = np.concatenate([[0], sums])[ends - sizes] if len(sizes) else np.zeros(0, dtype=np.int64)
    keys: Array = sums - np.repeat(before, sizes)
    return keys
