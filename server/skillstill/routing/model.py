"""What was learned from field questions: linear models over hashed features, in one small file (scripts/router).

asks    whether a task asks what stands in files, which is all that a read-only subagent can do
fits    for each bundled subagent, whether a task is like the questions that people asked it
"""

import json
import math
import zlib
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skillstill.types import Frozen
from skillstill.util.hashed_words import READ, SIZE, bucket, features, words
from skillstill.util.storage import write_atomically

FILE = Path(__file__).with_name("router.bin")


class Gate(Frozen):
    """A task is for a subagent if `asks` * its logit + `fits` * that of the subagent + `bias` is above zero."""

    asks: float
    fits: float
    bias: float


class Head(Frozen):
    """What stands before the weights of the file.

    subagents   names, in the order of the columns; one more column is `asks`
    scales      of a column: a weight is its scale times a signed byte
    rarity      of a byte of the background: -ln of the share of a word among the words of requests
    known       the gate of a subagent whose field questions were learned; stranger: of one that has texts alone
    fit         what the logit of a learned one counts beside others
    likeness    what the likeness of texts counts beside such logits, and what is added to it
    """

    subagents: tuple[str, ...]
    scales: tuple[float, ...]
    biases: tuple[float, ...]
    rarity: float
    known: Gate
    stranger: Gate
    fit: float
    likeness: tuple[float, float]


class RoutingModel:
    """The head and the weights, of shape (SIZE, subagents + 1); `background` holds the rarity of words by number."""

    def __init__(self, head: Head, weights: NDArray[np.int8], background: NDArray[np.uint8]) -> None:
        self.head, self.weights, self.background = head, weights, background

    def logits(self, task: str) -> Mapping[str, float]:
        """Return the logit of each learned subagent by name, and that of `asks` under ""."""
        found = features(task)
        numbers = np.fromiter(found, np.int64, len(found))
        values = np.fromiter(found.values(), np.float64, len(found))
        sums = (values @ self.weights[numbers]) * self.head.scales + self.head.biases
        return dict(zip((*self.head.subagents, ""), map(float, sums), strict=True))

    def likeness(self, task: str, texts: Counter[str]) -> float:
        """Return how much likelier the words of a task are in these texts than in any request: nats a word.

        Half of the words of any text are taken to be those of any request, so that short texts and long ones compare.
        """
        asked = [word for word in words(task[:READ]) if word.isalpha()]
        total = max(1, texts.total())
        ratios = (math.log((texts[word] / total / self._share(word) + 1) / 2) for word in asked)
        return sum(ratios) / (len(asked) + 3)

    def _share(self, word: str) -> float:
        return math.exp(-self.head.rarity * float(self.background[bucket(word)]))


@cache
def routing_model() -> RoutingModel:
    return read_model(FILE)


def read_model(file: Path) -> RoutingModel:
    head, _, packed = file.read_bytes().partition(b"\n")
    read = Head.model_validate_json(head)
    content, columns = zlib.decompress(packed), len(read.subagents) + 1
    weights = np.frombuffer(content, np.int8, SIZE * columns).reshape(SIZE, columns)
    return RoutingModel(read, weights, np.frombuffer(content, np.uint8, SIZE, SIZE * columns))


def write_model(model: RoutingModel, file: Path, mode: int) -> None:
    """Write the same bytes for the same model. Raise OSError."""
    head = json.dumps(model.head.model_dump(mode="json")).encode()
    content = model.weights.tobytes() + model.background.tobytes()
    write_atomically(file, head + b"\n" + zlib.compress(content, 9), mode=mode)
