"""The direction of imports: what may know what, in the runtime and in the pipeline."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenes import ROOT

SERVER = ROOT / "server" / "skillstill"
TRAINING = ROOT / "training" / "skillstill_training"
LEAVES = {"types", "errors", "text", "packages", "storage", "options", "hosts"}
COMPLETED = {"registry", "runs"}  # what a shell's completion looks up, from an option that several commands take
# Each room and the rooms it may open. `cli` opens everything lazily but the insides of the others.
ARROWS = {
    "workspace": set(),
    "symbols": set(),
    "tools": {"workspace", "symbols"},
    "skill": {"tools"},
    "evidence": set(),
    "record": {"evidence", "tools"},
    "agent": {"evidence", "record", "skill", "tools", "workspace"},
    "chat": set(),
    "grammar": {"chat"},
    "models": {"chat", "grammar"},
    "trust": set(),
    "confidence": set(),
    "registry": {"confidence", "skill", "trust"},
    "releases": {"models", "registry"},
    "contract": {"chat", "skill", "tools"},
    "runs": set(),
    "runtime": {"agent", "chat", "confidence", "contract", "registry", "runs", "skill", "workspace"},
    "server": {"library", "registry", "runtime", "workspace"},
    "clients": {"registry", "workspace"},
    "library": {"registry", "tools"},
    "packs": {"chat", "contract", "library", "models", "registry", "releases", "skill", "trust"},
    "doctor": {"models", "registry", "runtime", "symbols", "tools"},
    "removal": {"models"},
    "settings": set(),
    "show": {"doctor", "registry", "removal", "runs", "runtime"},
    "cli": {"clients", "doctor", "library", "models", "packs", "registry", "releases", "removal", "runs", "runtime"}
    | {"server", "settings", "show", "trust", "workspace"},
    "__init__": {"models", "registry", "runtime"},
}


TRAINING_LEAVES = {"hashes", "jsonl", "tasks", "reasons", "numbers", "skillcode"}
# Stages hand over files: none of `goals`, `traces`, `dataset`, `sft`, `shipping`, `evaluate`, `publish` knows another.
TRAINING_ARROWS = {
    "attempt": set(),
    "loop": set(),
    "checks": {"attempt"},
    "goal": {"checks"},
    "plan": {"goal"},
    "scorecard": set(),
    "recipe": {"goal", "scorecard"},
    "material": set(),
    "families": {"goal", "material", "plan"},
    "solving": {"attempt", "checks", "families", "goal", "plan"},
    "folder": {"attempt", "checks", "goal", "recipe"},
    "floor": {"attempt", "checks", "goal"},
    "borrowing": {"families", "floor"},
    "proposed": {"checks", "families", "goal", "material"},
    "design": {"attempt", "borrowing", "checks", "drawing", "families", "floor", "goal", "material", "proposed"}
    | {"recipe", "teachers"},
    "teachers": {"attempt", "checks", "families", "folder", "goal", "plan", "recipe", "solving"},
    "samples": {"teachers"},
    "drawing": {"attempt", "checks", "families", "folder", "goal", "loop", "material", "plan", "recipe", "solving"},
    "page": {"checks", "drawing", "folder", "goal", "plan", "recipe", "teachers"},
    "report": {"checks", "folder", "goal", "measuring", "page", "plan", "scorecard", "teachers"},
    "gguf": set(),
    "measuring": {"attempt", "checks", "families", "floor", "folder", "goal", "loop", "recipe", "scorecard", "solving"}
    | {"teachers"},
    "learning": {
        "families",
        "folder",
        "gguf",
        "goal",
        "loop",
        "material",
        "measuring",
        "recipe",
        "samples",
        "scorecard",
    },
    "goals": {"drawing", "families", "folder", "goal", "material", "page", "recipe"},
    "traces": {"folder", "goal", "material", "page", "teachers"},
    "dataset": {"drawing", "folder", "goal", "recipe", "samples", "teachers"},
    "sft": {"folder", "learning", "recipe", "report", "samples", "scorecard"},
    "shipping": {"folder", "gguf", "learning", "samples", "scorecard"},
    "evaluate": {"families", "folder", "goal", "material", "measuring", "recipe", "scorecard"},
    "publish": {"folder", "measuring", "recipe", "scorecard"},
    "pipeline": {"dataset", "evaluate", "folder", "goals", "learning", "measuring", "publish", "recipe", "report"}
    | {"scorecard", "sft", "shipping", "teachers"},
    "commands": {"__main__", "dataset", "design", "drawing", "families", "floor", "folder", "goal", "goals", "material"}
    | {"measuring", "pipeline", "publish", "recipe", "report", "scorecard", "sft", "shipping", "teachers", "traces"},
    "__init__": set(),
    "__main__": set(),
}


def room(file: Path, package: Path) -> str:
    return file.relative_to(package).with_suffix("").parts[0]


def imported_rooms(file: Path, package: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == package:
            inside = (node.module or "").split(".")[1:]
            yield from [inside[0]] if inside else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith(f"{package}."))


@pytest.mark.parametrize("file", sorted(SERVER.rglob("*.py")), ids=lambda file: str(file.relative_to(SERVER)))
def test_imports_go_one_way(file: Path) -> None:
    home = room(file, SERVER)
    completed = COMPLETED if home == "options" else set()
    allowed = {home} | completed if home in LEAVES else ARROWS[home] | LEAVES | {home}
    assert set(imported_rooms(file, "skillstill")) <= allowed


@pytest.mark.parametrize("file", sorted(TRAINING.rglob("*.py")), ids=lambda file: str(file.relative_to(TRAINING)))
def test_imports_of_the_pipeline_go_one_way(file: Path) -> None:
    home = room(file, TRAINING)
    allowed = {home} if home in TRAINING_LEAVES else TRAINING_ARROWS[home] | TRAINING_LEAVES | {home}
    assert set(imported_rooms(file, "skillstill_training")) <= allowed


def test_the_runtime_knows_nothing_of_training() -> None:
    assert not [file for file in SERVER.rglob("*.py") if "skillstill_training" in file.read_text(encoding="utf-8")]


def test_no_file_has_more_than_500_lines() -> None:
    """A floor apart: it is one script on purpose, frozen by its hash."""
    for folder in ("server", "training", "skills", "scripts"):
        for file in (ROOT / folder).rglob("*.py"):
            if not file.name.startswith("floor"):
                assert len(file.read_text(encoding="utf-8").splitlines()) <= 500, file
