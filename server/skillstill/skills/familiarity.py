"""Whether a question is like those that an adapter learned: asked before it runs, by a linear model over hashed words.

A small model takes any question for one that it knows, and is as sure of its answer: of 119 unsure answers of the
release of `explore` to natural questions none is right (docs/experiments.md).
"""

from skillstill.util.question_model import QuestionModel


class Familiarity(QuestionModel):
    """A model of the questions that were learned; `least` is the logit from which a question is like them."""

    least: float

    def knows(self, question: str) -> bool:
        """Return whether the question is like those that were learned."""
        return self.logit(question) >= self.least
