"""Logistic regression by Adagrad over sparse rows of hashed features: seconds for ten thousand texts."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

PASSES = 8  # over all rows; with 4 the accuracy on validation tasks is the same
RATE, DECAY = 0.5, 1e-4
Matrix = NDArray[np.float64]
Row = tuple[NDArray[np.int64], Matrix]  # numbers of features, each with its value


def row_of(features: Iterable[tuple[int, float]]) -> Row:
    """Return features by number as a row."""
    pairs = [*features]
    return np.array([number for number, _ in pairs], np.int64), np.array([value for _, value in pairs], np.float64)


def fit_logistic(rows: Sequence[Row], wanted: Matrix, size: int, decay: float = DECAY) -> tuple[Matrix, Matrix]:
    """Return weights of shape (size, columns) and biases, for what is `wanted` of each row: 0 or 1 in each column."""
    columns = wanted.shape[1]
    weights, biases = np.zeros((size, columns)), np.zeros(columns)
    squares, order = np.full_like(weights, 0.01), np.random.default_rng(0)
    for _ in range(PASSES):
        for at in order.permutation(len(rows)):
            numbers, values = rows[at]
            wrong = 1 / (1 + np.exp(-(values @ weights[numbers] + biases))) - wanted[at]
            slope = np.outer(values, wrong) + decay * weights[numbers]
            squares[numbers] += slope * slope
            weights[numbers] -= RATE * slope / np.sqrt(squares[numbers])
            biases -= 0.01 * wrong
    return weights, biases


def logits_of(rows: Sequence[Row], weights: Matrix, biases: Matrix) -> Matrix:
    """Return the logits of rows, of shape (rows, columns)."""
    return np.array([values @ weights[numbers] + biases for numbers, values in rows])


def quantized(weights: Matrix) -> tuple[NDArray[np.int8], Sequence[float]]:
    """Return weights as signed bytes, and the scale of each column."""
    scales = np.abs(weights).max(0) / 127
    return np.round(weights / scales).astype(np.int8), [float(scale) for scale in scales]
