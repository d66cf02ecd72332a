"""Which questions are like those that a skill teaches: fitted to its wordings and to natural questions."""

import shutil
from pathlib import Path

import pytest
from skillstill_training.field.familiarity import fit_familiarity

from tests.scenes import ROOT


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """Those of `tests`, a small skill, with natural questions of another kind."""
    folder = shutil.copytree(ROOT / "skills" / "tests", tmp_path / "tests")
    shutil.rmtree(folder / "field")
    return folder


def test_its_own_wordings_are_known_and_natural_questions_are_not() -> None:
    learned = fit_familiarity(ROOT / "skills" / "explore")
    assert learned
    assert learned.knows("Where is Client.get defined?")
    assert not learned.knows(
        "so the build I got last week, does it tell me anything on who signed off on that change, and if it does, is "
        "it the same person that complained about it afterwards? asking for a friend in finance"
    )


def test_a_skill_without_natural_questions_asks_its_model_whatever_it_is_asked(skill: Path) -> None:
    assert fit_familiarity(skill) is None
