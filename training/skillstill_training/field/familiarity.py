"""Fit which questions are like those that a skill teaches: wordings of its families against natural questions.

How much is let through is chosen on wordings that the model has not seen.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
from skillstill.skills.familiarity import Familiarity
from skillstill.util.question_model import FEATURES, without_names

from skillstill_training.authoring.families import families_by_name, load_wordings
from skillstill_training.field.question import has_field_questions, load_questions, prompt_of
from skillstill_training.field.question_fit import DECAY, fit_questions, rows_of
from skillstill_training.field.rewordings import load_rewordings
from skillstill_training.util.hashed_logistic import Matrix, Row, fit_logistic, logits_of

KEPT = 0.985  # of the wordings that were learned, in parts that the model has not seen
PARTS = 5
NAMED = 0.6  # of the slots hold a name as only code writes it, the others a word
SLOT = re.compile(r"\{[^{}]*\}")
WORD = re.compile(r"[a-z]{4,}")


def fit_familiarity(skill_folder: Path) -> Familiarity | None:
    """Return the model; None if the skill has no natural questions to tell its own from. Raise SkillstillError."""
    if not has_field_questions(skill_folder, "train"):
        return None
    natural = _natural_questions(skill_folder)
    return _fitted(_taught_questions(skill_folder, natural), natural)


def _natural_questions(skill_folder: Path) -> Sequence[str]:
    questions = {one.id: one for one in load_questions(skill_folder, "train")}
    reworded = (text for texts in load_rewordings(skill_folder).values() for text in texts)
    return [*(prompt_of(one, questions) for one in questions.values()), *reworded]


def _taught_questions(skill_folder: Path, natural: Sequence[str]) -> Sequence[str]:
    """Return each wording of the trained families with its slots filled, by names or by words of natural questions."""
    families = [one for one in families_by_name(skill_folder).values() if not one.held_out]
    wordings = load_wordings(skill_folder, "train", families)
    chance = Random(0)  # noqa: S311 - no secret
    words = sorted({word for text in natural for word in WORD.findall(without_names(text))})

    def filled(_: re.Match[str]) -> str:
        return "X" if chance.random() < NAMED else chance.choice(words)

    return [SLOT.sub(filled, wording) for family in families for wording in wordings[family.name]]


def _fitted(taught: Sequence[str], natural: Sequence[str]) -> Familiarity:
    rows = rows_of([*taught, *natural])
    wanted = np.array([[1.0]] * len(taught) + [[0.0]] * len(natural))
    unseen = _unseen_logits(rows, wanted)[: len(taught)]
    least = round(float(np.quantile(unseen, 1 - KEPT)), 3)
    return Familiarity(**fit_questions(rows, wanted).model_dump(), least=least)


def _unseen_logits(rows: Sequence[Row], wanted: Matrix) -> Matrix:
    """Return the logit of each row by a model that was fitted without its part."""
    found = np.zeros(len(rows))
    for part in range(PARTS):
        others = [at for at in range(len(rows)) if at % PARTS != part]
        weights, biases = fit_logistic([rows[at] for at in others], wanted[others], FEATURES, DECAY)
        found[part::PARTS] = logits_of(rows[part::PARTS], weights, biases)[:, 0]
    return found
