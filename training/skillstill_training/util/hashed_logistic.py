"""Logistic regression by Adagrad over sparse rows of hashed features: seconds for ten thousand texts."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

PASSES = 8  # over all rows; with 4 the accuracy on validation tasks is the same
RATE, DECAY = 0.5, 1e-4
Matrix = NDArray[np.float64]
Row = tuple[NDArray[np.int64], Matrix]  # numbers of features, each with its value


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
