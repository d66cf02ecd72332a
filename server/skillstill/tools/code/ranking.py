"""Definitions and stretches of text ranked by the words of a description: BM25F (Robertson and Zaragoza, 2009).

The words of all fields of a text are counted into one frequency, each with its field's weight, before that is dampened.
Words are compared by their stems.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
ENDINGS = re.compile(r"(?:ations?|ators?|ions?|ings?|ments?|ers?|ors?|ed|es|e|s|ly)$")
LEAST = 3  # letters that a stem keeps
DAMPING, LENGTH = 3.0, 0.7  # k1 and b of BM25, chosen on the training needles of `explore`
NAME, OWNER, SIGNATURE, BODY = 6.0, 1.5, 2.0, 1.0  # the weight of a word by its place
# They stand in every description and distinguish nothing.
STOP_WORDS = frozenset(files("skillstill.util").joinpath("stop_words.txt").read_text(encoding="utf-8").split())


@dataclass(frozen=True, slots=True, eq=False)
class RankedText:
    """What can be found at a line of a file: each of its words with the sum of its weights, and the sum of all."""

    path: str
    line: int
    words: Mapping[str, float] = field(repr=False)
    size: float

    @classmethod
    def of(cls, path: str, line: int, fields: Iterable[tuple[str, float]]) -> "RankedText":
        """Return the text at a line. Each field is a text and the weight of its words."""
        words: Counter[str] = Counter()
        for text, weight in fields:
            for word in stems(text):
                words[word] += weight  # type: ignore[assignment]  # weights are no whole numbers
        return cls(path, line, words, sum(words.values()))


def rank(description: str, texts: Sequence[RankedText]) -> list[RankedText]:
    """Return the texts that share a telling word with the description, the likeliest first."""
    asked = [word for word in dict.fromkeys(stems(description)) if word not in STOP_WORDS]
    frequencies = Counter(word for text in texts for word in asked if word in text.words)
    if not frequencies:
        return []
    worth = {word: math.log(1 + (len(texts) - count + 0.5) / (count + 0.5)) for word, count in frequencies.items()}
    mean = sum(text.size for text in texts) / len(texts)
    scored = ((_score(text, mean, worth), text) for text in texts)
    found = [(score, text) for score, text in scored if score > 0]
    return [text for _, text in sorted(found, key=lambda one: (-one[0], one[1].path, one[1].line))]


def stems(text: str) -> list[str]:
    """Return the words of a text without their endings, a name as the words that it is made of."""
    return [_stem(piece.lower()) for word in WORD.findall(text) for piece in PIECE.findall(word)]


def _score(text: RankedText, mean: float, worth: Mapping[str, float]) -> float:
    words, room = text.words, DAMPING * (1 - LENGTH + LENGTH * text.size / mean)
    return sum(words[word] * value / (words[word] + room) for word, value in worth.items() if word in words)


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    shorter = ENDINGS.sub("", word)
    return shorter if len(shorter) >= LEAST else word
