"""The direction of imports: what may know what."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenes import ROOT

SERVER = ROOT / "server" / "skillstill"
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
    "chat": {"tools"},
    "grammar": {"chat"},
    "models": {"chat", "grammar"},
    "trust": set(),
    "registry": {"skill", "trust"},
    "contract": {"chat", "skill"},
    "runs": set(),
    "runtime": {"agent", "chat", "contract", "registry", "runs", "skill", "workspace"},
    "server": {"registry", "runtime", "workspace"},
    "clients": set(),
    "doctor": {"models", "registry", "runtime", "symbols", "tools"},
    "show": {"doctor", "registry", "runs"},
    "cli": {"clients", "doctor", "models", "registry", "runs", "runtime", "server", "show", "trust", "workspace"},
    "__init__": {"models", "registry", "runtime"},
}


def room(file: Path) -> str:
    parts = file.relative_to(SERVER).with_suffix("").parts
    return parts[0]


def imported_rooms(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "skillstill":
            inside = (node.module or "").split(".")[1:]
            yield from [inside[0]] if inside else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("skillstill."))


@pytest.mark.parametrize("file", sorted(SERVER.rglob("*.py")), ids=lambda file: str(file.relative_to(SERVER)))
def test_imports_go_one_way(file: Path) -> None:
    home = room(file)
    allowed = {home} if home in LEAVES else ARROWS[home] | LEAVES | {home}
    assert set(imported_rooms(file)) <= allowed


def test_the_runtime_knows_nothing_of_training() -> None:
    assert not [file for file in SERVER.rglob("*.py") if "skillstill_training" in file.read_text(encoding="utf-8")]


def test_no_file_has_more_than_300_lines() -> None:
    for folder in ("server", "training", "scripts"):
        for file in (ROOT / folder).rglob("*.py"):
            assert len(file.read_text(encoding="utf-8").splitlines()) <= 300, file
