"""The direction of imports: what may know what, in the runtime and in the pipeline."""

import ast
import runpy
from pathlib import Path

import pytest

from tests.scenes import ROOT

SERVER = ROOT / "server" / "skillstill"
TRAINING = ROOT / "training" / "skillstill_training"
ANYONES = {"types", "errors", "util"}  # every room may open these
# Each room of the runtime and the rooms that it may open. `cli` opens the others only when a command needs them.
ARROWS = {
    "sandbox": set(),
    "workspace": {"sandbox"},
    "symbols": set(),
    "facts": set(),
    "tools": {"workspace", "symbols", "facts", "sandbox"},
    "chat": set(),
    "models": {"chat"},
    "skills": {"models", "sandbox", "tools"},
    "run": {"sandbox", "skills", "tools", "workspace"},
    "contract": {"chat", "models", "run", "skills", "tools", "workspace"},
    "runtime": {"contract", "run", "skills", "workspace"},
    "routing": {"run", "skills", "tools", "workspace"},
    "console": {"models", "routing", "run", "runtime", "sandbox", "skills", "symbols", "tools"},
    "server": {"library", "routing", "runtime", "skills", "workspace"},
    "clients": {"console", "skills", "workspace"},
    "library": {"console", "skills", "tools"},
    "packs": {"chat", "console", "contract", "library", "models", "skills"},
    "cli": {
        "clients",
        "console",
        "library",
        "models",
        "packs",
        "routing",
        "run",
        "runtime",
        "server",
        "skills",
        "workspace",
    },
    "__init__": {"models", "runtime", "skills"},
}

TRAINING_ANYONES = {"util"}
TRAINING_ARROWS = {
    "workspaces": set(),
    "gguf": set(),
    "executors": set(),
    "authoring": {"workspaces"},
    "run": {"authoring"},
    "episode": {"authoring"},
    "teachers": {"authoring", "executors", "episode", "run"},
    "sampling": {"authoring", "executors", "episode", "run", "workspaces"},
    "evaluation": {"authoring", "executors", "episode", "run", "teachers"},
    "learning": {"authoring", "executors", "evaluation", "gguf", "run", "teachers", "workspaces"},
    "export": {"gguf", "learning", "run"},
    "field": {"authoring", "executors", "episode", "evaluation", "run", "workspaces", "teachers"},
    "routing": {"evaluation", "field", "run", "workspaces"},
    "benchmarks": {"authoring", "evaluation", "field", "run", "workspaces"},
    "report": {"authoring", "evaluation", "field", "run", "sampling", "teachers"},
    "compare": {"benchmarks", "evaluation", "field", "report", "run", "teachers", "workspaces"},
    "design": {"authoring", "evaluation", "run", "sampling", "teachers", "workspaces"},
    "stages": {
        "authoring",
        "executors",
        "evaluation",
        "export",
        "field",
        "gguf",
        "learning",
        "report",
        "run",
        "sampling",
        "teachers",
    }
    | {"workspaces"},
    "cli": {
        "__main__",
        "authoring",
        "benchmarks",
        "compare",
        "executors",
        "design",
        "evaluation",
        "export",
        "field",
        "report",
        "run",
        "sampling",
        "stages",
        "teachers",
    }
    | {"workspaces"},
    "__init__": set(),
    "__main__": set(),
}
MOST_ARROWS = 114  # between the rooms of one package: more than that nobody keeps in mind


ARROWS_SCRIPT = runpy.run_path(str(ROOT / "scripts" / "arrows"))
imported_rooms = ARROWS_SCRIPT["imported_rooms"]


def arrows(folder: Path, package: str) -> set[tuple[str, str]]:
    assert folder.name == package
    return set(ARROWS_SCRIPT["arrows"](folder))


PACKAGES = pytest.mark.parametrize(
    ("folder", "package", "plan", "anyones"),
    [
        (SERVER, "skillstill", ARROWS, ANYONES),
        (TRAINING, "skillstill_training", TRAINING_ARROWS, TRAINING_ANYONES),
    ],
    ids=["runtime", "training"],
)


@PACKAGES
def test_rooms_open_only_the_rooms_of_the_plan(
    folder: Path, package: str, plan: dict[str, set[str]], anyones: set[str]
) -> None:
    unplanned = {
        (home, other) for home, other in arrows(folder, package) if other not in plan.get(home, set()) | anyones
    }
    assert not unplanned


@PACKAGES
def test_the_plan_names_no_arrow_that_is_gone(
    folder: Path, package: str, plan: dict[str, set[str]], anyones: set[str]
) -> None:
    drawn = arrows(folder, package)
    assert not {(home, other) for home, others in plan.items() for other in others if (home, other) not in drawn}


@PACKAGES
def test_rooms_are_in_no_circle(folder: Path, package: str, plan: dict[str, set[str]], anyones: set[str]) -> None:
    rest = arrows(folder, package)
    while outer := {home for home, _ in rest} - {other for _, other in rest}:
        rest = {(home, other) for home, other in rest if home not in outer}
    assert not rest


@PACKAGES
def test_few_arrows_join_the_rooms(folder: Path, package: str, plan: dict[str, set[str]], anyones: set[str]) -> None:
    assert len(arrows(folder, package)) <= MOST_ARROWS


def test_the_runtime_knows_nothing_of_training() -> None:
    assert not [file for file in SERVER.rglob("*.py") if "skillstill_training" in file.read_text(encoding="utf-8")]


def test_no_file_has_more_than_500_lines() -> None:
    """A baseline apart: it is one script on purpose, frozen by its hash."""
    for folder in ("server", "training", "skills", "scripts"):
        for file in (ROOT / folder).rglob("*.py"):
            if not file.name.startswith("baseline"):
                assert len(file.read_text(encoding="utf-8").splitlines()) <= 500, file


def test_skills_import_the_pages_for_authors_and_nothing_else_of_ours() -> None:
    pages = {"skillstill_training.authoring", "skillstill_training.authoring.reading", "skillstill_training.workspaces"}
    files = [file for file in (ROOT / "skills").rglob("*.py") if not file.name.startswith("baseline")]
    imports = (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    named = {node.module for node in imports if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    assert {name for name in named if name.startswith("skillstill")} <= pages
