"""The way back from a release: through the command line, over real files."""

import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from skillstill import cli
from skillstill.skills.registry import Registry, RegistryEntry, read_registry
from skillstill.skills.releases import register
from skillstill.types import ModelFile

from tests.scenes import ROOT

Rollback = Callable[..., tuple[int, str, str]]


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    """One of the bundled entries, in a folder of its own."""
    document = json.loads((ROOT / "registry.json").read_text(encoding="utf-8"))
    file = tmp_path / "registry.json"
    file.write_text(json.dumps(document | {"entries": [untrained()]}), encoding="utf-8")
    (tmp_path / "skills").mkdir()
    return file


@pytest.fixture
def rollback(registry: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Rollback:
    def run(*arguments: str) -> tuple[int, str, str]:
        named = ["--registry", str(registry)] if registry.exists() else []
        monkeypatch.setattr(sys, "argv", ["skillstill", "rollback", *(arguments or ["explore"]), *named])
        with pytest.raises(SystemExit) as exit:
            cli.main()
        captured = capsys.readouterr()
        return int(exit.value.code or 0), captured.out, captured.err

    return run


def untrained() -> dict[str, Any]:
    base = {"source": "file:base.gguf", "sha256": "1" * 64}
    return {"name": "explore", "title": "T", "description": "D", "state": "untrained", "skill": "skills/explore",
            "base": base}  # fmt: skip


def release(registry: Path, content: bytes, success: float = 0.8) -> RegistryEntry:
    """Registered, with an adapter of this content beside it."""
    found = hashlib.sha256(content).hexdigest()
    file = registry.parent / "skills" / "explore" / "releases" / f"{found[:12]}.gguf"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    adapter = ModelFile(source=f"beside:skills/explore/releases/{file.name}", sha256=found)
    changes = {"state": "released", "adapter": adapter, "serving_hash": found, "measured": _measured(success)}
    return register(registry, RegistryEntry.model_validate({**untrained(), **changes}))


def _measured(success: float) -> dict[str, float]:
    return {"success": success, "n": 480, "seconds": 3.1}


def test_it_goes_back_a_release_and_once_more_to_the_untrained_entry(registry: Path, rollback: Rollback) -> None:
    before = read_registry(registry)
    first = release(registry, b"first", 0.8)
    release(registry, b"second", 0.6)
    code, out, _ = rollback()
    assert code == 0
    assert out.startswith(f"explore is again released {first.serving_hash[:12]}, 80% of 480 verified; before this")  # type: ignore[index]
    assert read_registry(registry).entries == (first,)
    assert rollback()[0] == 0
    assert read_registry(registry) == before


def test_with_nothing_to_go_back_to_it_says_so(registry: Path, rollback: Rollback) -> None:
    code, out, err = rollback()
    assert (code, out) == (1, "")
    assert err == (f"skillstill: explore has nothing to go back to: this untrained entry is the first of {registry}\n")


def test_what_was_left_is_kept_and_can_be_released_again(registry: Path, rollback: Rollback) -> None:
    release(registry, b"first")
    second = release(registry, b"second")
    kept = set((registry.parent / "skills" / "explore" / "releases").iterdir())
    rollback()
    assert kept <= set((registry.parent / "skills" / "explore" / "releases").iterdir())
    assert release(registry, b"second").adapter == second.adapter
    rollback()
    rollback()
    assert read_registry(registry).entries[0].state == "untrained"


@pytest.mark.parametrize("damage", ["gone", "altered"])
def test_an_old_adapter_that_is_not_what_it_was_is_refused_and_nothing_changes(
    registry: Path, rollback: Rollback, damage: str
) -> None:
    first = release(registry, b"first")
    release(registry, b"second")
    assert first.adapter
    file = Path(first.adapter.resolved_from(registry.parent).source.removeprefix("file:"))
    file.write_bytes(b"other") if damage == "altered" else file.unlink()
    before = _everything(registry.parent)
    code, _, err = rollback()
    assert code == 1
    assert str(file) in err
    assert ("is not the file that was meant" if damage == "altered" else "does not exist") in err
    assert _everything(registry.parent) == before


@pytest.mark.parametrize(("damage", "says"), [("gone", "is gone"), ("altered", "is not the entry that was kept")])
def test_a_history_that_was_bent_is_refused(registry: Path, rollback: Rollback, damage: str, says: str) -> None:
    release(registry, b"first")
    file = next((registry.parent / "skills" / "explore" / "releases").glob("*.entry.json"))
    file.write_text(file.read_text("utf-8").replace("1", "2"), "utf-8") if damage == "altered" else file.unlink()
    before = _everything(registry.parent)
    code, _, err = rollback()
    assert code == 1
    assert says in err
    assert err.count("\n") == 1
    assert _everything(registry.parent) == before


def test_an_unknown_name_is_told_the_known_ones(rollback: Rollback) -> None:
    code, _, err = rollback("nobody")
    assert code == 64
    assert "no subagent called 'nobody'" in err


def test_registered_once_more_it_lengthens_no_history(registry: Path) -> None:
    first = release(registry, b"first")
    before = _everything(registry.parent)
    assert release(registry, b"first") == first
    assert _everything(registry.parent) == before


def test_an_adapter_beside_the_registry_is_found_from_anywhere(
    registry: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    release(registry, b"first")
    monkeypatch.chdir(registry.parent)
    listed = Registry(Path("registry.json")).entry("explore")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert listed.entry.adapter
    assert Path(listed.entry.adapter.source.removeprefix("file:")).read_bytes() == b"first"


def _everything(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_it_goes_forward_again_step_by_step(registry: Path, rollback: Rollback) -> None:
    release(registry, b"first")
    release(registry, b"second")
    newest = read_registry(registry)
    code, _, err = rollback("explore", "--forward")
    assert (code, err) == (1, f"skillstill: explore has nothing to go forward to: it is the newest of {registry}\n")
    rollback()
    rollback()
    assert [rollback("explore", "--forward")[0] for _ in range(2)] == [0, 0]
    assert read_registry(registry) == newest


@pytest.fixture
def package(registry: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The registry as that of the installed package, which its user may not write."""
    release(registry, b"first")
    release(registry, b"second")
    folder = shutil.copytree(registry.parent, tmp_path_factory.mktemp("site-packages") / "package")
    registry.unlink()
    monkeypatch.delenv("SKILLSTILL_REGISTRY")
    monkeypatch.setattr("skillstill.skills.registry.bundled", lambda: folder)
    return folder


def test_a_bundled_subagent_goes_back_and_forward_for_this_user_alone(package: Path, rollback: Rollback) -> None:
    untouched = _everything(package)

    def counting() -> RegistryEntry:
        return Registry().entry("explore").entry

    newest = counting()
    assert rollback()[0] == 0
    first = counting()
    assert first.adapter
    assert first.adapter.sha256 == hashlib.sha256(b"first").hexdigest()
    assert rollback()[0] == 0
    assert counting().state == "untrained"
    code, _, err = rollback()
    assert code == 1
    assert "nothing to go back to" in err
    assert rollback("explore", "--forward")[0] == 0
    assert counting() == first
    assert rollback("explore", "--forward")[0] == 0
    assert counting() == newest
    assert rollback("explore", "--forward")[0] == 1
    assert _everything(package) == untouched


def test_a_pin_that_the_package_no_longer_keeps_is_told_and_does_not_count(package: Path, rollback: Rollback) -> None:
    rollback()
    newest = read_registry(package / "registry.json").entries[0]
    for file in (package / "skills" / "explore" / "releases").glob("*.entry.json"):
        file.unlink()
    registry = Registry()
    assert registry.entry("explore").entry.serving_hash == newest.serving_hash
    assert "is gone" in " ".join(registry.ignored.values())
