"""The direction of imports: what may know what, in the runtime and in the pipeline."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenes import ROOT

SERVER = ROOT / "server" / "skillstill"
TRAINING = ROOT / "training" / "skillstill_training"
LEAVES = {"types", "errors", "text", "packages", "storage"}
# Each room and the rooms it may open. `cli` opens everything lazily but the insides of the others.
ARROWS = {
    "workspace": set(),
    "symbols": set(),
    "tools": {"workspace", "symbols"},
    "skill": {"tools"},
    "evidence": set(),
    "record": {"tools"},
    "agent": {"evidence", "record", "skill", "tools", "workspace"},
    "chat": set(),
    "grammar": {"chat"},
    "models": {"chat", "grammar"},
    "trust": set(),
    "confidence": set(),
    "registry": {"confidence", "skill", "trust"},
    "releases": {"models", "registry"},
    "contract": {"chat", "skill"},
    "runs": set(),
    "runtime": {"agent", "chat", "confidence", "contract", "registry", "runs", "skill", "workspace"},
    "server": {"registry", "runtime", "workspace"},
    "clients": set(),
    "doctor": {"models", "registry", "runtime", "symbols", "tools"},
    "show": {"doctor", "registry", "runs", "runtime"},
    "cli": {"clients", "doctor", "models", "registry", "releases", "runs", "runtime", "server"}
    | {"show", "trust", "workspace"},
    "__init__": {"models", "registry", "runtime"},
}


TRAINING_LEAVES = {"hashes", "jsonl", "tasks", "reasons", "numbers", "skillcode"}
# Stages hand over files: none of `goals`, `traces`, `dataset`, `sft`, `shipping`, `evaluate`, `publish` knows another.
TRAINING_ARROWS = {
    "attempt": set(),
    "checks": {"attempt"},
    "goal": {"checks"},
    "plan": {"goal"},
    "recipe": {"goal", "scorecard"},
    "material": set(),
    "families": {"goal", "material", "plan"},
    "solving": {"attempt", "checks", "families", "goal", "plan"},
    "wording": {"families", "goal", "recipe"},
    "proofs": {"folder", "goal", "plan", "solving"},
    "composing": {"families", "goal", "material", "proofs", "recipe", "solving", "wording"},
    "drawing": {"attempt", "checks", "composing", "families", "goal", "material", "recipe", "wording"},
    "gates": {"families", "goal", "material", "recipe", "wording"},
    "folder": {"attempt", "checks", "goal", "recipe"},
    "teachers": {"attempt", "checks", "families", "folder", "goal", "plan", "recipe", "solving"},
    "page": {"checks", "folder", "gates", "goal", "plan", "recipe", "teachers"},
    "floor": {"attempt", "checks", "goal"},
    "scorecard": set(),
    "resampling": {"scorecard"},
    "calibrating": {"scorecard"},
    "scoring": {"resampling", "scorecard"},
    "chosen": {"goal", "recipe", "scorecard", "teachers"},
    "arms": {"attempt", "checks", "chosen", "families", "floor", "goal", "scorecard", "solving"},
    "asking": {"arms", "folder", "goal", "scorecard"},
    "evaluate": {"arms", "asking", "calibrating", "chosen", "families", "folder", "material", "recipe"}
    | {"scorecard", "scoring"},
    "report": {"checks", "folder", "goal", "page", "plan", "scorecard", "teachers"},
    "goals": {"composing", "drawing", "families", "folder", "gates", "goal", "material", "page", "proofs"} | {"recipe"},
    "traces": {"folder", "goal", "material", "page", "teachers"},
    "samples": {"teachers"},
    "dataset": {"folder", "goal", "recipe", "samples", "teachers", "wording"},
    "hiring": {"folder", "goal", "material", "teachers", "traces"},
    "telling": {"dataset", "drawing", "floor", "folder", "gates", "goal", "goals", "material", "teachers"},
    "commands": {"dataset", "families", "floor", "folder", "goal", "goals", "hiring", "material", "recipe", "teachers"}
    | {"telling", "traces"},
    "gguf_files": set(),
    "gguf_lora": {"gguf_files"},
    "likeness": set(),
    "export": {"folder", "gguf_files", "gguf_lora", "likeness"},
    "merging": {"gguf_files", "gguf_lora", "likeness"},
    "rows": {"samples"},
    "student": set(),
    "attention": set(),
    "tuning": {"attention", "recipe", "rows", "student"},
    "choosing": {"arms", "chosen", "families", "folder", "gguf_lora", "goal", "material", "recipe", "resampling"}
    | {"scorecard"},
    "sft": {"choosing", "folder", "recipe", "report", "rows", "samples", "scorecard", "student", "tuning"},
    "parity": {"folder", "likeness", "scorecard", "student"},
    "judging": {"scorecard"},
    "publish": {"folder", "judging", "scorecard"},
    "shipped": {"folder", "scorecard"},
    "shipping": {"export", "folder", "likeness", "merging", "parity", "samples", "scorecard", "shipped", "student"},
    "pipeline": {"dataset", "evaluate", "folder", "goals", "publish", "recipe", "report", "scorecard", "sft", "shipped"}
    | {"shipping", "teachers"},
    "release_telling": {"export", "folder", "merging", "pipeline", "scorecard"},
    "release_commands": {"__main__", "commands", "folder", "hiring", "pipeline", "publish", "release_telling", "report"}
    | {"sft", "shipped", "shipping", "teachers"},
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
    allowed = {home} if home in LEAVES else ARROWS[home] | LEAVES | {home}
    assert set(imported_rooms(file, "skillstill")) <= allowed


@pytest.mark.parametrize("file", sorted(TRAINING.rglob("*.py")), ids=lambda file: str(file.relative_to(TRAINING)))
def test_imports_of_the_pipeline_go_one_way(file: Path) -> None:
    home = room(file, TRAINING)
    allowed = {home} if home in TRAINING_LEAVES else TRAINING_ARROWS[home] | TRAINING_LEAVES | {home}
    assert set(imported_rooms(file, "skillstill_training")) <= allowed


def test_the_runtime_knows_nothing_of_training() -> None:
    assert not [file for file in SERVER.rglob("*.py") if "skillstill_training" in file.read_text(encoding="utf-8")]


def test_no_file_has_more_than_300_lines() -> None:
    """A floor apart: it is one script on purpose, frozen by its hash."""
    for folder in ("server", "training", "skills", "scripts"):
        for file in (ROOT / folder).rglob("*.py"):
            if not file.name.startswith("floor"):
                assert len(file.read_text(encoding="utf-8").splitlines()) <= 300, file
