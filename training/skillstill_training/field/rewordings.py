"""Rewordings: the same training questions as other people would ask them, so that more than one voice is learned."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from skillstill.types import Frozen

from skillstill_training.field.question import FOLDER
from skillstill_training.util.jsonl import read_lines


class Rewording(Frozen):
    """A question by its id, in other words: each text asks for exactly the same."""

    question: str
    texts: tuple[str, ...]


def load_rewordings(skill_folder: Path) -> Mapping[str, Sequence[str]]:
    """Return the other wordings of training questions by their ids, none if nobody wrote any."""
    file = rewordings_file(skill_folder)
    return {one.question: one.texts for one in read_lines(file, Rewording)} if file.is_file() else {}


def rewordings_file(skill_folder: Path) -> Path:
    return skill_folder / FOLDER / "rewordings" / "train.jsonl"
