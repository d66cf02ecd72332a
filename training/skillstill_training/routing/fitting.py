"""Learns the router's model: linear models by Adagrad over hashed features, then how their logits are weighed.

How they are weighed is learned from logits of examples that the model had not seen: it is fitted without each third of
the groups in turn. What a stranger's texts count is learned in the same way, from models that do not know one subagent.
"""

import math
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from skillstill.routing.model import Gate, Head, RoutingModel
from skillstill.util.hashed_words import READ, SIZE, bucket, features, words

from skillstill_training.routing.examples import Example
from skillstill_training.util.hashed_logistic import Matrix, fit_logistic, logits_of, quantized, row_of

FOLDS = 3
UNSEEN = 5_000  # words that requests might hold besides
STRANGER = Gate(asks=1.0, fits=0.0, bias=0.0)  # `asks` is a logit: above zero is likelier than not
Texts = Mapping[str, Sequence[Counter[str]]]


@dataclass(frozen=True, slots=True)
class Linear:
    """Weights of shape (SIZE, names + 1) and biases; the last column is `asks`."""

    names: tuple[str, ...]
    weights: Matrix
    biases: Matrix

    def logits(self, tasks: Sequence[str]) -> Matrix:
        return logits_of([row_of(features(task).items()) for task in tasks], self.weights, self.biases)


@dataclass(frozen=True, slots=True)
class Weighing:
    """How logits and the likeness of texts are weighed: `known`, `fit` and `likeness` of the head."""

    known: Gate
    fit: float = 1.0
    likeness: tuple[float, float] = (0.0, 0.0)


def fit_model(examples: Sequence[Example], texts: Texts) -> RoutingModel:
    """Return the model of the subagents that the examples are for; `texts` are those of each, short and long."""
    names = _names(examples)
    model = fit_weighed(examples, Weighing(_known_gate(examples, names)))
    fit, likeness = _choice_weights(model, examples, names, texts)
    return RoutingModel(
        model.head.model_copy(update={"fit": fit, "likeness": likeness}), model.weights, model.background
    )


def fit_weighed(examples: Sequence[Example], weighing: Weighing) -> RoutingModel:
    """Return the model of the subagents that the examples are for, weighed as said."""
    background, rarity = _background(examples)
    linear = fit_linear(examples, _names(examples))
    weights, scales = quantized(linear.weights)
    head = Head(
        subagents=linear.names,
        scales=tuple(scales),
        biases=tuple(map(float, linear.biases)),
        rarity=rarity,
        known=weighing.known,
        stranger=STRANGER,
        fit=weighing.fit,
        likeness=weighing.likeness,
    )
    return RoutingModel(head, weights, background)


def _names(examples: Sequence[Example]) -> tuple[str, ...]:
    return tuple(sorted({one.subagent for one in examples} - {""}))


def fit_linear(examples: Sequence[Example], names: tuple[str, ...]) -> Linear:
    """Return one logistic model a name, and one of whether a task is for any."""
    rows = [row_of(features(one.task).items()) for one in examples]
    wanted = np.array([[*(one.subagent == name for name in names), one.subagent in names] for one in examples], float)
    weights, biases = fit_logistic(rows, wanted, SIZE)
    return Linear(names, weights, biases)


def _background(examples: Sequence[Example]) -> tuple[NDArray[np.uint8], float]:
    """Return the rarity of the words of requests as bytes, and what a byte stands for in nats."""
    counts = Counter(bucket(word) for one in examples for word in words(one.task[:READ]) if word.isalpha())
    total = counts.total() + UNSEEN
    rarity = math.log(total / 0.5) / 255
    nats = [math.log(total / (counts[number] + 0.5)) for number in range(SIZE)]
    return np.round(np.array(nats) / rarity).astype(np.uint8), rarity


def _unseen_logits(examples: Sequence[Example], names: tuple[str, ...]) -> Matrix:
    """Return the logits of each example by a model that has seen nothing of its group."""
    known = [one for one in examples if one.subagent in names or not one.subagent]
    folds = np.array([zlib.crc32(_fold_key(one).encode()) % FOLDS for one in examples])
    found = np.zeros((len(examples), len(names) + 1))
    for fold in range(FOLDS):
        rest = [one for one in known if zlib.crc32(_fold_key(one).encode()) % FOLDS != fold]
        own = np.flatnonzero(folds == fold)
        found[own] = fit_linear(rest, names).logits([examples[int(at)].task for at in own])
    return found


def _fold_key(one: Example) -> str:
    """Return the group; the few sources of tasks that none fits are too large to be left out whole."""
    return one.group if one.subagent else one.task


def _known_gate(examples: Sequence[Example], names: tuple[str, ...]) -> Gate:
    """Return how `asks` and the logit of a subagent tell its tasks from those that none fits, in a folder of its."""
    logits = _unseen_logits(examples, names)
    own = [names.index(one.subagent) if one.subagent else at % len(names) for at, one in enumerate(examples)]
    seen = np.stack([logits[:, -1], logits[np.arange(len(own)), own]], 1)
    (asks, fits), bias = _logistic(seen, np.array([bool(one.subagent) for one in examples], float))
    return Gate(asks=round(asks, 3), fits=round(fits, 3), bias=round(bias, 3))


def _logistic(seen: Matrix, wanted: Matrix) -> tuple[list[float], float]:
    weights = np.zeros(seen.shape[1] + 1)
    inputs = np.hstack([seen, np.ones((len(seen), 1))])
    for _ in range(3_000):
        weights -= 0.1 * inputs.T @ (1 / (1 + np.exp(-inputs @ weights)) - wanted) / len(wanted)
    return [float(weight) for weight in weights[:-1]], float(weights[-1])


def _choice_weights(
    model: RoutingModel, examples: Sequence[Example], names: tuple[str, ...], texts: Texts
) -> tuple[float, tuple[float, float]]:
    """Return what a learned logit counts, and the likeness of texts, where each subagent in turn is not learned."""
    scores, places = list[list[list[float]]](), list[int]()
    asked = [one for one in examples if one.subagent]
    for stranger in names:
        others = tuple(name for name in names if name != stranger)
        rest = _unseen_logits([*asked, *(one for one in examples if not one.subagent)], others)
        for one, logits in zip(asked, rest, strict=False):
            for text in texts[stranger]:
                like = model.likeness(one.task, text)
                scores.append([*([float(logit), 0.0, 0.0] for logit in logits[:-1]), [0.0, like, 1.0]])
                places.append(others.index(one.subagent) if one.subagent in others else len(others))
    fit, slope, offset = _conditional(np.array(scores), np.array(places))
    return round(fit, 3), (round(slope, 3), round(offset, 3))


def _conditional(scores: Matrix, places: NDArray[np.int64]) -> tuple[float, float, float]:
    """Return the weights under which the right one of several is likeliest."""
    weights = np.array([1.0, 0.0, 0.0])
    rows = np.arange(len(places))
    for _ in range(2_000):
        logits = scores @ weights
        shares = np.exp(logits - logits.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        shares[rows, places] -= 1
        weights -= 0.3 * np.einsum("ij,ijk->k", shares, scores) / len(places)
    return float(weights[0]), float(weights[1]), float(weights[2])
