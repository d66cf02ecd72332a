"""Fit which questions looking at files cannot answer, on the training questions of several skills in all wordings."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from skillstill.util.question_model import QuestionModel

from skillstill_training.field.question import load_questions
from skillstill_training.field.question_fit import fit_questions, rows_of
from skillstill_training.field.rewordings import load_rewordings


def fit_beyond(skill_folders: Sequence[Path]) -> QuestionModel:
    """Return the model. Raise SkillstillError if a folder has no training questions."""
    known = [example for folder in skill_folders for example in _examples(folder)]
    wanted = np.array([[float(is_beyond)] for _, is_beyond in known])
    return fit_questions(rows_of([text for text, _ in known]), wanted)


def _examples(skill_folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield the wordings of each question, and whether looking cannot answer it."""
    rewordings = load_rewordings(skill_folder)
    for question in load_questions(skill_folder, "train"):
        for text in (question.prompt, *rewordings.get(question.id, ())):
            yield text, question.gold.outcome == "beyond"
