"""Several sizes of one subagent: which one this machine runs, and how each is called."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from skillstill import cli
from skillstill.errors import UnknownName
from skillstill.skills import sizes
from skillstill.skills.registry import Registry


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    """A default release of small figures, and a larger one of better figures whose base is here."""
    file = tmp_path / "registry.json"
    _write(file, _entry(tmp_path, None, right=20), _entry(tmp_path, "0.5b", right=60))
    return file


def _write(file: Path, *entries: dict[str, Any]) -> None:
    file.write_text(json.dumps({"version": 1, "entries": entries}), encoding="utf-8")


def _entry(folder: Path, size: str | None, right: int, seconds: float = 4.0) -> dict[str, Any]:
    base = folder / f"{size or 'small'}.gguf"
    base.write_bytes(b"GGUF")
    field = {"asked": 100, "workspaces": 9, "right": right, "handed_back": 5, "silently_wrong": 1, "seconds": seconds}
    return {
        "name": "tables",
        "title": "T",
        "description": "D",
        "state": "released",
        "skill": "skills/tables",
        "base": {"source": f"file:{base}", "sha256": "1" * 64},
        "serving_hash": "2" * 64,
        "measured": {"success": 0.8, "n": 100, "seconds": 1.0, "field": field},
    } | ({"size": size} if size else {})


def _chosen(registry: Path) -> str:
    return Registry(registry).entry("tables").entry.label


def test_the_size_with_the_better_field_figures_runs_if_its_base_is_here(registry: Path) -> None:
    assert _chosen(registry) == "tables@0.5b"
    assert [one.entry.label for one in Registry(registry).entries() if one.origin == registry] == ["tables@0.5b"]


def test_a_size_whose_base_is_missing_is_told_with_what_to_type(
    registry: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (registry.parent / "0.5b.gguf").unlink()
    assert _chosen(registry) == "tables"
    monkeypatch.setattr(sys, "argv", ["skillstill", "list", "--registry", str(registry)])
    with pytest.raises(SystemExit):
        cli.main()
    assert "tables@0.5b: its base is not here: type `skillstill pull tables@0.5b`" in capsys.readouterr().out


def test_a_size_that_memory_has_no_room_for_is_left_alone(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "free_memory", lambda: 5)
    assert _chosen(registry) == "tables"
    assert sizes.best_size(Registry(registry).sizes("tables")).why == (
        "tables@0.5b: it needs some 0 MB of memory, 0 are free",
    )


def test_a_size_that_is_slow_or_no_better_runs_only_if_it_is_named(registry: Path, tmp_path: Path) -> None:
    _write(registry, _entry(tmp_path, None, right=20), _entry(tmp_path, "0.5b", right=60, seconds=40))
    assert _chosen(registry) == "tables"
    _write(registry, _entry(tmp_path, None, right=20), _entry(tmp_path, "0.5b", right=20))
    assert _chosen(registry) == "tables"
    assert Registry(registry).entry("tables@0.5b").entry.size == "0.5b"


def test_a_size_that_there_is_not_is_told_with_those_that_there_are(registry: Path) -> None:
    with pytest.raises(UnknownName, match=r"no tables of the size '7b'; there are: tables, tables@0\.5b"):
        Registry(registry).entry("tables@7b")


def test_the_registry_of_the_user_hides_the_larger_sizes_of_others(registry: Path, tmp_path: Path) -> None:
    own = tmp_path / "own" / "registry.json"
    own.parent.mkdir()
    _write(own, _entry(tmp_path, None, right=1))
    both = Registry(own)
    both.named = (own, registry)
    assert both.entry("tables").origin == own


def test_pull_finds_the_base_of_a_listed_subagent(
    registry: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SKILLSTILL_REGISTRY", str(registry))
    monkeypatch.setattr(sys, "argv", ["skillstill", "pull", "tables@0.5b"])
    with pytest.raises(SystemExit) as exit:
        cli.main()
    assert exit.value.code == 1
    assert "is not the file that was meant" in (err := capsys.readouterr().err) or "sha256" in err
