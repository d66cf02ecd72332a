"""A skill that is small enough to go through all stages within a test, and a place for its runs."""

import shutil
from pathlib import Path

import pytest
from skillstill_training.folder import RunFolder

SETTINGS = Path(__file__).parents[1] / "fixtures" / "settings"


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """The skill `settings`, a copy that a test may change."""
    return shutil.copytree(SETTINGS, tmp_path / "settings", ignore=shutil.ignore_patterns("__pycache__"))


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "runs" / "settings" / "1")
