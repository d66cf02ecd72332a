"""Questions that looking at files cannot answer: of what is to come, what runs elsewhere, what people think.

Of 4,206 training questions 283 are such. A linear model of their words and those of their rewordings finds half of
them, folders in turn, and is right in six of ten that it finds (docs/experiments.md). `scripts/beyond` fits it.
"""

from functools import cache
from importlib.resources import files

from skillstill.facts.locate.question import last_question
from skillstill.tools.facts.extract import probability
from skillstill.util.question_model import QuestionModel

FILE = "beyond.json"


def chance_beyond(text: str) -> float:
    """Return how likely looking at files cannot answer the last question of a text, 0 to 1."""
    return probability(_model().logit(last_question(text)))


@cache
def _model() -> QuestionModel:
    return QuestionModel.model_validate_json(files(__package__).joinpath(FILE).read_text("utf-8"))
