"""How sure a run can be of its answer: what its trace shows, and a calibration that makes a probability of that."""

import math
from collections.abc import Sequence
from typing import Self

from pydantic import Field, model_validator

from skillstill.skills.familiarity import Familiarity
from skillstill.types import Event, Frozen, Message, Trace

# What `features` returns, in this order. A calibration holds for exactly these: change both together.
FEATURES = (
    "mean",  # log-probability of the decision tokens
    "least",
    "last mean",  # the same of the last turn, which is the answer
    "last least",
    "overruled",  # tokens that the grammar did not allow
    "cited",  # pieces of evidence
    "turns",
    "misused",
    "repeated",
    "length",  # of the answer, as a logarithm: 20 characters more matter to a short one only
    "intent",  # log-probability of what the first turn takes the question for; 0 if it does not say
    "placed",  # whether any evidence is a place: that something is not there is borne out by none
)
STEEPEST = 30.0  # logits beyond it differ in nothing but a probability that floats round to 1


class Calibration(Frozen):
    """A logistic regression on standardised features: the probability that an answered run is right.

    An answer is sure enough from `threshold` on; 1.0, which no confidence reaches, if none is. `goals` is how many
    validation goals it was fitted on. `familiarity` tells questions like those that were learned from others, which are
    not asked; None: any is.
    """

    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    bias: float
    threshold: float = Field(default=1.0, ge=0, le=1)
    goals: int = Field(default=0, ge=0)
    familiarity: Familiarity | None = None

    @model_validator(mode="after")
    def _even(self) -> Self:
        if not len(self.means) == len(self.scales) == len(self.weights):
            raise ValueError("expected a mean, a scale and a weight for each feature")
        if not all(scale > 0 for scale in self.scales):
            raise ValueError("expected scales above 0")
        return self

    def confidence(self, features: Sequence[float]) -> float:
        """Return the probability, 0 and 1 excluded.

        It is 0.0 if a feature that it was fitted to is unknown, as behind some endpoints.
        """
        if len(features) != len(self.weights):
            return 0.0
        parts = zip(features, self.means, self.scales, self.weights, strict=True)
        logit = self.bias + sum((value - mean) / scale * weight for value, mean, scale, weight in parts)
        return 1 / (1 + math.exp(-max(-STEEPEST, min(STEEPEST, logit))))


def features(trace: Trace) -> tuple[float, ...]:
    """Return what a confidence is made of, by FEATURES; nothing if the model told no log-probabilities.

    They depend on what was said alone, on no clock: the same run is as sure on every machine.
    """
    turns = [message for message in trace.messages if message.role == "assistant"]
    mean, least = _sureness(trace.messages)  # of the turns, and of choices among lines
    if math.isnan(mean):
        return ()
    return (
        mean,
        least,
        *(_sureness(turns[-1:]) if turns[-1].decisions else (mean, least)),
        float(sum(one.overruled for turn in turns for one in turn.decisions)),
        float(len(trace.report.evidence)),
        float(len(turns)),
        float(misuses(trace)),
        float(repeats(trace)),
        math.log1p(len(trace.report.answer)),
        _intent(turns[0]),
        float(any(":" in piece for piece in trace.report.evidence)),
    )


def misuses(trace: Trace) -> int:
    """Return how many calls were refused by a tool or could not be read."""
    refused = sum(receipt.refused for receipt in trace.receipts)
    return refused + sum(message.malformed is not None for message in trace.messages)


def repeats(trace: Trace) -> int:
    """Return how many calls were made before. The one that ends a run is not among them, but is never the first."""
    return sum(message.event is Event.REPEATED_CALL for message in trace.messages)


def _intent(turn: Message) -> float:
    """Return a line of its own, at the beginning of the turn."""
    if not turn.intent:
        return 0.0
    end = next((at for at, one in enumerate(turn.decisions) if "\n" in one.token), 0)
    return sum(one.logprob for one in turn.decisions[: end + 1])


def _sureness(messages: Sequence[Message]) -> tuple[float, float]:
    """Return the mean and least log-probability of what the grammar did not force; NaN if there is none."""
    found = [one.logprob for message in messages for one in message.decisions]
    return (sum(found) / len(found), min(found)) if found else (math.nan, math.nan)
