"""A linear model over hashed words that tells a kind of questions by their words, whatever the names in them."""

import re
from base64 import b64decode
from functools import lru_cache

from skillstill.types import Frozen
from skillstill.util.hashed_words import bucket, features

FEATURES = 4_096  # hashed words, pairs of words, and the length
LENGTHS, LENGTH = (4, 6, 8, 10, 12, 15, 19, 25, 35), 0.5  # words, and what the length counts beside them
# What is written as only code writes it, or quoted: which name is meant says nothing of the kind of question.
_NAME = re.compile(r"`[^`]+`|\"[^\"\s]+\"|'[^'\s]+'|\b\w*(?:[a-z][A-Z]|_|\.\w|::|/)[\w./:-]*(?:\(\))?|\b\w+\(\)")


class QuestionModel(Frozen):
    """A linear model that tells a kind of questions by their words.

    weights   of each feature a signed byte, all in base64; `scale` is what one stands for
    """

    weights: str
    scale: float
    bias: float

    def logit(self, question: str) -> float:
        weights = _weights(self.weights)
        return self.bias + self.scale * sum(weights[at] * value for at, value in question_features(question))


def question_features(question: str) -> tuple[tuple[int, float], ...]:
    """Return the features of a question by number, names apart; a number may come twice."""
    text = without_names(question)
    step = sum(len(text.split()) > words for words in LENGTHS)
    found = [*features(text).items(), (bucket(f"length {step}"), LENGTH)]
    return tuple((number % FEATURES, value) for number, value in found)


def without_names(text: str) -> str:
    return _NAME.sub("X", text)


@lru_cache(maxsize=8)
def _weights(encoded: str) -> memoryview:
    return memoryview(b64decode(encoded)).cast("b")
