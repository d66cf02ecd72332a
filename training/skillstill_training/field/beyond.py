"""Fit which questions looking at files cannot answer, on the training questions of several skills in all wordings."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from skillstill.util.question_model import FEATURES, QuestionModel, question_features

from skillstill_training.field.question import load_questions
from skillstill_training.field.rewordings import load_rewordings
from skillstill_training.util.hashed_logistic import fit_logistic, quantized, row_of

DECAY = 1e-3  # of the weights, as for the questions that are learned


def fit_beyond(skill_folders: Sequence[Path]) -> QuestionModel:
    """Return the model. Raise SkillstillError if a folder has no training questions."""
    known = [example for folder in skill_folders for example in _examples(folder)]
    rows = [row_of(question_features(text)) for text, _ in known]
    weights, biases = fit_logistic(rows, np.array([[float(is_beyond)] for _, is_beyond in known]), FEATURES, DECAY)
    whole, (scale,) = quantized(weights)
    return QuestionModel(weights=b64encode(whole.tobytes()).decode(), scale=scale, bias=float(biases[0]))


def _examples(skill_folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield the wordings of each question, and whether looking cannot answer it."""
    rewordings = load_rewordings(skill_folder)
    for question in load_questions(skill_folder, "train"):
        for text in (question.prompt, *rewordings.get(question.id, ())):
            yield text, question.gold.outcome == "beyond"
