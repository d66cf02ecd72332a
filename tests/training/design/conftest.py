"""The command line of `design`, and a bundled skill that a test may change."""

import shutil
import sys
from pathlib import Path

import pytest
from skillstill import cli
from skillstill_training.evaluation.baseline import freeze_baseline

from tests.scenes import ROOT
from tests.training.design.scenes import Run


@pytest.fixture
def design(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """`skillstill design` of a skill's text, which lies in a file; its exit code, output and errors."""

    def run(text: str, *arguments: str) -> tuple[int, str, str]:
        (file := tmp_path / "agent.md").write_text(text, encoding="utf-8")
        monkeypatch.setattr(sys, "argv", ["skillstill", "design", str(file), *arguments])
        with pytest.raises(SystemExit) as exit:
            cli.main()
        captured = capsys.readouterr()
        return int(exit.value.code or 0), captured.out, captured.err

    return run


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The bundled skill `logs`: a copy, from which is borrowed meanwhile."""
    copy = tmp_path / "bundled" / "skills" / "logs"
    shutil.copytree(ROOT / "skills" / "logs", copy, ignore=shutil.ignore_patterns("__pycache__"))
    freeze_baseline(copy)
    monkeypatch.setattr("skillstill.skills.lending.bundled", lambda: tmp_path / "bundled")
    return copy
