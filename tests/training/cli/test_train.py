"""A skill that is small enough goes the whole way for real: goals, traces, LoRA training, GGUF, measuring, verdict."""

import sys
from functools import partial
from pathlib import Path

import pytest
from skillstill.cli import main
from skillstill.skills.registry import read_registry
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import Scorecard
from skillstill_training.stages import export

pytest.importorskip("torch", reason="pip install 'skillstill[training]'")
# Every stage has work to do with these few; how well the skill is learned, nobody asks here.
SMALL = """
[train]
tokens = 2000
longest = 512
checkpoints = 2
episodes = 1

[evaluate]
arms = ["baseline", "stock", "ours"]
per_family = 1
seen = 1
paired = 1
workspaces = 1
calibration = 4
field = 0
"""
FEW_PROMPTS = 4  # of 20, for a comparison of every token with torch


def test_a_skill_becomes_an_adapter_with_a_verdict(
    settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = settings / "recipe.toml"
    recipe.write_text(recipe.read_text(encoding="utf-8").partition("[evaluate]")[0] + SMALL, encoding="utf-8")
    monkeypatch.setattr(export, "prompts_of", partial(export.prompts_of, count=FEW_PROMPTS))
    registry = tmp_path / "registry.json"
    registry.write_text('{"version": 1, "entries": []}\n', encoding="utf-8")
    command = ["skillstill", "train", str(settings), "--runs", str(tmp_path / "runs"), "--registry", str(registry)]

    code = typed(command, monkeypatch)

    run = RunFolder.latest(tmp_path / "runs", "settings")
    scorecard = Scorecard.model_validate_json(run.scorecard.read_text(encoding="utf-8"))
    assert scorecard.verdict
    assert {one.arm for one in scorecard.arms} == {"baseline", "stock", "ours"}
    parity = next(gate for gate in scorecard.gates if gate.name == "parity")
    assert parity.passed, parity.told
    assert (code == 0) == (scorecard.verdict == "released") == bool(read_registry(registry).entries)
    assert all(gate.name in run.report.read_text(encoding="utf-8") for gate in scorecard.gates)
    assert run.exported.stat().st_size < 10_000_000
    history = (run.adapter / "history.jsonl").read_text(encoding="utf-8")
    assert history.count('"loss"') > history.count('"success"') == 2

    trained = (run.adapter / "trained.json").read_bytes()
    capsys.readouterr()
    assert typed(command, monkeypatch) == code
    assert capsys.readouterr().err.count("is there already") == 5, "the same command finds everything done"
    assert (run.adapter / "trained.json").read_bytes() == trained


def typed(command: list[str], monkeypatch: pytest.MonkeyPatch) -> int | str | None:
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code
