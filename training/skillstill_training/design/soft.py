"""Questions whose answers no check can judge: kept if a teacher's attempts agree, and never counted as goals."""

from typing import Literal

from skillstill.types import Frozen

from skillstill_training.authoring.goal import Split

FILE = "soft.jsonl"


class Soft(Frozen):
    """Such a question, an answer that was given, and how many attempts of how many said the same.

    It stands in a file of its own: no goal is made of it, so that no figure of a scorecard rests on it.
    """

    topic: str
    workspace: str
    split: Split
    question: str
    answer: str
    agreed: int
    attempts: int
    verified: Literal["agreement"] = "agreement"
