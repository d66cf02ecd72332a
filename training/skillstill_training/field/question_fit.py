"""Fit a linear model that tells a kind of questions by their words."""

from base64 import b64encode
from collections.abc import Sequence

from skillstill.util.question_model import FEATURES, QuestionModel, question_features

from skillstill_training.util.hashed_logistic import Matrix, Row, fit_logistic, quantized, row_of

DECAY = 1e-3  # of the weights: ten times that of the router, whose features are eight times as many


def rows_of(texts: Sequence[str]) -> Sequence[Row]:
    return [row_of(question_features(text)) for text in texts]


def fit_questions(rows: Sequence[Row], wanted: Matrix) -> QuestionModel:
    """Return the model of the rows for which 1 is `wanted`, in an array of shape (rows, 1), and not 0."""
    weights, biases = fit_logistic(rows, wanted, FEATURES, DECAY)
    whole, (scale,) = quantized(weights)
    return QuestionModel(weights=b64encode(whole.tobytes()).decode(), scale=scale, bias=float(biases[0]))
