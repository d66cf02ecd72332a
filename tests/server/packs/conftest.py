"""A release on one machine, a user on another: a tiny base and adapter that llama.cpp would load, a real skill."""

import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from skillstill import cli
from skillstill.contract import provenance_hash, serving_hash
from skillstill.skills.calibration import FEATURES, Calibration
from skillstill.skills.registry import Document, Measured, RegistryEntry, write_registry
from skillstill.skills.skill import load_skill
from skillstill.types import ModelFile
from skillstill.util.storage import data_folder
from skillstill_training.gguf.lora import Layout, read_peft, write_lora

from tests.server.models.conftest import ELSEWHERE
from tests.training.tiny import save_adapter, save_base

FIXTURE = Path(__file__).parents[2] / "fixtures" / "settings"
COMMIT = "f" * 40
BASE = f"hf:owner/tiny/tiny.gguf@{COMMIT}"
ZEROS, ONES = (0.0,) * len(FEATURES), (1.0,) * len(FEATURES)
PROOF = """import os
import pathlib

RAN = pathlib.Path(os.environ.get("PROOF", os.devnull)).write_text("it ran")
"""


class Said(NamedTuple):
    code: int
    out: str
    err: str


Skillstill = Callable[..., Said]


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The release's base, in the hub's cache."""
    for name in ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))
    folder = tmp_path / "huggingface" / "hub" / "models--owner--tiny" / "snapshots" / COMMIT
    folder.mkdir(parents=True)
    return save_base(folder / "tiny.gguf")


@pytest.fixture
def publisher(tmp_path: Path, base: Path) -> Path:
    """The registry of somebody who trained `settings`; its `goals.py` leaves the file $PROOF when it runs."""
    return released(tmp_path / "publisher", base)


@pytest.fixture
def skillstill(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Skillstill:
    """The command, in this process."""

    def run(*arguments: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["skillstill", *map(str, arguments)])
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        with pytest.raises(SystemExit) as exit:
            cli.main()
        captured = capsys.readouterr()
        return Said(int(exit.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def packed(publisher: Path, skillstill: Skillstill, tmp_path: Path) -> Path:
    """The release in one file."""
    said = skillstill("pack", "settings", "-o", tmp_path / "settings.skillstill", "--registry", publisher)
    assert said.code == 0, said.err
    return tmp_path / "settings.skillstill"


def released(folder: Path, base: Path, **changes: Any) -> Path:
    """A registry with the release in it; what it says of itself can be changed."""
    skill = folder / "skills" / "settings"
    shutil.copytree(FIXTURE, skill, ignore=shutil.ignore_patterns("__pycache__"))
    source = ModelFile(source=BASE, sha256=sha256(base))
    toml = (skill / "subagent.toml").read_text("utf-8").partition("[base]")[0]
    (skill / "subagent.toml").write_text(f'{toml}[base]\nsource = "{BASE}"\nsha256 = "{source.sha256}"\n', "utf-8")
    goals = (skill / "goals.py").read_text("utf-8")
    (skill / "goals.py").write_text(f"from .proof import RAN\n{goals}", "utf-8")
    (skill / "proof.py").write_text(PROOF, encoding="utf-8")
    (skill / "LICENSE").write_text("Do what you like.\n", encoding="utf-8")
    write_registry(folder / "registry.json", Document(entries=(_entry(folder, skill, base, source, changes),)))
    return folder / "registry.json"


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def everything(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def placed() -> dict[str, bytes]:
    """What counts of the user's packs: not the lock."""
    found = everything(data_folder()) if data_folder().exists() else {}
    return {name: content for name, content in found.items() if not name.endswith(".lock")}


def _entry(folder: Path, skill: Path, base: Path, source: ModelFile, changes: dict[str, Any]) -> RegistryEntry:
    layout, releases = Layout.of(base), skill / "releases"
    releases.mkdir()
    write_lora(releases / "new", layout.placed(read_peft(save_adapter(folder / "peft"))), layout, "F16", "settings")
    found = sha256(releases / "new")
    (releases / "new").rename(releases / f"{found[:12]}.gguf")
    (releases / f"{found[:12]}.json").write_text(json.dumps(scorecard(folder)), encoding="utf-8")
    adapter = ModelFile(source=f"beside:skills/settings/releases/{found[:12]}.gguf", sha256=found)
    stated: dict[str, Any] = {
        "name": "settings",
        "title": "Read settings",
        "description": "Answers one question about settings.",
        "state": "released",
        "skill": "skills/settings",
        "base": source,
        "adapter": adapter,
        "measured": Measured(success=0.875, n=480, seconds=3.1),
        "serving_hash": serving_hash(load_skill(skill), source, adapter),
        "calibration": Calibration(means=ZEROS, scales=ONES, weights=ZEROS, bias=9, threshold=0.5, goals=400),
        "goals_hash": "9" * 64,
        "provenance_hash": provenance_hash(skill, "9" * 64),
    }
    return RegistryEntry.model_validate({**stated, **changes})


def scorecard(folder: Path) -> dict[str, Any]:
    """As `evaluate` writes it, with the paths of the machine that it ran on."""

    def arm(name: str, success: float, label: str) -> dict[str, Any]:
        counts = {"solved": 420, "asked": 480}
        interval = {"value": success, "low": success - 0.04, "high": success + 0.03}
        return {"arm": name, "label": label, "success": interval, "goals": counts, "seconds": 3.1}

    return {
        "skill": "settings",
        "adapter": {"source": f"file:{folder}/runs/settings/6-adapter.gguf", "sha256": "0" * 64},
        "goals": "9" * 64,
        "machine": "Linux x86_64, 2 processors",
        "arms": [arm("stock", 0.21, f"file:{folder}/stock.gguf"), arm("ours", 0.875, "tiny with its adapter")],
    }
