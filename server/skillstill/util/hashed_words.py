"""The words of a text, and its features: words, pairs of words and shapes, hashed to numbers."""

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

SIZE = 1 << 15  # features; twice as many change the accuracy on validation tasks by less than half a point
READ = 1_000  # characters of a task: what is asked stands in the first
_PARTS = re.compile(r"[A-Za-z]+(?:'[a-z]+)?|\d+|[^\sA-Za-z\d]")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SHAPES: Mapping[str, re.Pattern[str]] = {
    "identifier": re.compile(r"[a-z][A-Z]|\w_\w|\w\.\w+\(|::|\(\)"),
    "path": re.compile(r"\w/\w|\.\w{1,4}\b"),
    "clock": re.compile(r"\d\d?:\d\d"),
    "year": re.compile(r"\b(19|20)\d\d\b"),
    "digit": re.compile(r"\d"),
    "question": re.compile(r"\?"),
    "address": re.compile(r"\d+\.\d+\.\d+\.\d+"),
    "capital": re.compile(r"\A[A-Z]"),
}


def words(text: str) -> Sequence[str]:
    """Return the words, numbers and marks of a text in small letters; a number counts by its length alone."""
    found = _PARTS.findall(_HUMP.sub(" ", text))
    return ["0" * len(part) if part.isdigit() else part.lower() for part in found]


def bucket(feature: str) -> int:
    """Return the number of a feature, the same in every process."""
    return zlib.crc32(feature.encode("utf-8", "replace")) % SIZE


def features(text: str) -> Mapping[int, float]:
    """Return the features of a task by number; their squares add up to one."""
    weights: dict[int, float] = {}
    for feature, count in Counter(_named_features(text[:READ])).items():
        number = bucket(feature)
        weights[number] = weights.get(number, 0.0) + 1 + math.log(count)
    length = math.sqrt(sum(weight * weight for weight in weights.values()))
    return {number: weight / length for number, weight in weights.items()}


def _named_features(text: str) -> Iterator[str]:
    before = "^"
    for word in words(text):
        yield f"word {word}"
        yield f"pair {before} {word}"
        before = word
    yield from (f"shape {name}" for name, shape in _SHAPES.items() if shape.search(text))
