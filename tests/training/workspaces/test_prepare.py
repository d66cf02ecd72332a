"""A workspace is made once, is what was pinned, and can't be changed; steps note what they know beside it."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from skillstill.errors import WorkspaceSourceError
from skillstill_training.workspaces import BuiltWorkspace, Source, build_workspace
from skillstill_training.workspaces.requests import cache_folder

from tests.scenes import write

EMPTY = """
import shutil
def mark(tree, rng):
    shutil.rmtree(tree)
    tree.mkdir()
"""
SHOP = {"shop/cart.py": "TOTAL = 3\n", "shop/tax.py": "RATE = 7\n", "README.md": "A shop.\n"}


def tree_hash(files: dict[str, str]) -> str:
    """As it is defined: of sorted lines of a path, NUL and the content's hash."""
    lines = (f"{name}\0{hashlib.sha256(text.encode()).hexdigest()}\n" for name, text in sorted(files.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def shown(built: BuiltWorkspace) -> dict[str, str]:
    files = (path for path in built.root.rglob("*") if path.is_file())
    return {path.relative_to(built.root).as_posix(): path.read_text(encoding="utf-8") for path in files}


def of_folder(files: dict[str, str] = SHOP, **fields: Any) -> Source:
    return Source(**{"name": "shop", "split": "test", "source": "folder:shop", "sha256": tree_hash(files), **fields})


def refusal(source: Source, skill: Path, offline: bool = False) -> str:
    with pytest.raises(WorkspaceSourceError) as caught:
        build_workspace(source, skill, offline=offline)
    assert "\n" not in str(caught.value)
    assert not list(cache_folder().glob("*/source.json")), "nothing half made stays"
    assert not list(cache_folder().glob(".part-*"))
    return str(caught.value)


@pytest.fixture
def skill(skill: Path) -> Path:
    write(skill / "shop", SHOP)
    return skill


def test_a_folder_is_a_snapshot_that_nobody_can_write(skill: Path) -> None:
    built = build_workspace(of_folder(), skill)
    (skill / "shop/README.md").write_text("changed", encoding="utf-8")
    assert shown(built) == SHOP
    assert (built.name, built.split, dict(built.notes)) == ("shop", "test", {})
    modes = {path: path.stat().st_mode & 0o777 for path in [built.root, *built.root.rglob("*")]}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o555}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o444}


def test_a_folder_of_the_source_can_be_the_whole_workspace(skill: Path) -> None:
    inner = {name.removeprefix("shop/"): text for name, text in SHOP.items() if name.startswith("shop/")}
    assert shown(build_workspace(of_folder(inner, root="shop"), skill)) == inner


def test_a_root_that_is_not_there_is_named(skill: Path) -> None:
    assert "there is no folder gone in it" in refusal(of_folder(root="gone"), skill)


def test_it_is_made_once_and_then_found_offline(skill: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build_workspace(of_folder(), skill)
    (skill / "shop").rename(skill / "elsewhere")
    assert build_workspace(of_folder(), skill, offline=True) == first
    assert build_workspace(of_folder(name="other", split="train"), skill).root == first.root


def test_links_bytecode_large_files_and_names_that_are_no_text_stay_out(skill: Path) -> None:
    write(skill / "shop", {"a.pyc": "", "__pycache__/b.txt": "", ".git/config": "", "big.txt": "x" * 5_000_001})
    (skill / "shop/link.py").symlink_to("shop/cart.py")
    Path(os.fsdecode(os.fsencode(skill / "shop") + b"/\xff.py")).touch()
    assert shown(build_workspace(of_folder(), skill)) == SHOP


def test_keep_leaves_what_its_patterns_name(skill: Path) -> None:
    kept = {name: SHOP[name] for name in ("shop/tax.py", "README.md")}
    built = build_workspace(of_folder(kept, keep=("shop/**", "!cart.py", "/README.md")), skill)
    assert shown(built) == kept


def test_keep_that_leaves_nothing_says_what_there_was(skill: Path) -> None:
    assert "nothing is left of it by `keep`: its top level holds README.md, shop" in refusal(
        of_folder(keep=("src/**",)), skill
    )


def test_a_missing_pin_is_told_ready_to_paste(skill: Path) -> None:
    assert f'then add the line `sha256 = "{tree_hash(SHOP)}"`' in refusal(of_folder(sha256=None), skill)


def test_another_tree_than_the_pinned_one_is_refused(skill: Path) -> None:
    write(skill / "shop", {"shop/tax.py": "RATE = 8\n"})
    changed = tree_hash({**SHOP, "shop/tax.py": "RATE = 8\n"})
    text = refusal(of_folder(), skill)
    assert text.startswith("workspace shop (folder:shop): it is not what was pinned")
    assert f"expected sha256 {tree_hash(SHOP)}, got {changed}" in text


def test_a_folder_that_is_not_there_is_named(skill: Path) -> None:
    assert f"{skill}/absent does not exist" in refusal(of_folder(source="folder:absent"), skill)
    assert f"{skill}/shop/README.md is no folder" in refusal(of_folder(source="folder:shop/README.md"), skill)
    assert "cannot be reached" in refusal(of_folder(source="folder:~nobody-of-this-name/a"), skill)


def test_a_packaged_file_is_copied(skill: Path) -> None:
    source = Source(name="license", split="test", source="package:pytest/LICENSE")
    text = refusal(source, skill)
    pinned = source.model_copy(update={"sha256": text.split('"')[1]})
    assert "MIT License" in shown(build_workspace(pinned, skill))["LICENSE"]
    absent = source.model_copy(update={"source": "package:no-such-thing/file"})
    with pytest.raises(WorkspaceSourceError, match="type `pip install no-such-thing`"):
        build_workspace(absent, skill)


def test_a_skill_s_own_steps_generate_and_note(skill: Path) -> None:
    write(
        skill,
        {
            "steps.py": "def make(tree, rng):\n"
            "    (tree / 'price.txt').write_text(str(rng.randrange(1000)))\n"
            "    return {'needles': ['price.txt']}\n"
        },
    )
    source = Source(name="made", split="train", steps=("make",), seed=3)
    pinned = source.model_copy(update={"sha256": refusal(source, skill).split('"')[1]})
    built = build_workspace(pinned, skill)
    assert built.notes == {"needles": ["price.txt"]}
    assert list(shown(built)) == ["price.txt"]
    assert build_workspace(pinned, skill) == built
    other = refusal_of_another_seed(pinned, skill)
    assert "it is not what was pinned" in other


def refusal_of_another_seed(source: Source, skill: Path) -> str:
    with pytest.raises(WorkspaceSourceError) as caught:
        build_workspace(source.model_copy(update={"seed": 4}), skill)
    return str(caught.value)


def test_a_skill_s_step_goes_before_ours_of_that_name(skill: Path) -> None:
    write(skill, {"steps.py": "def rename_words(tree, rng):\n    return {'mine': True}\n"})
    assert build_workspace(of_folder(steps=("rename_words",)), skill).notes == {"mine": True}


def test_changed_steps_make_a_new_tree(skill: Path) -> None:
    source = of_folder(steps=("mark",))
    roots = set()
    for text in ("1", "2"):
        write(skill, {"steps.py": f"def mark(tree, rng):\n    return {{'mark': {text}}}\n"})
        roots.add((built := build_workspace(source, skill)).root)
        assert built.notes == {"mark": int(text)}
    assert len(roots) == 2


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("", "no step 'mark': define it in "),
        ("mark = 3", "no step 'mark': define it in "),
        ("import nothing_of_that_name", "cannot be imported: ModuleNotFoundError"),
        ("def mark(tree, rng): 1 / 0", "its step mark failed: ZeroDivisionError: division by zero"),
        ("def mark(tree, rng): return {'a': tree}", "its step mark must return JSON values by name, or None"),
        (EMPTY, "nothing is left of it after its steps"),
    ],
)  # fmt: skip
def test_a_step_that_is_none_or_fails_is_told(skill: Path, code: str, said: str) -> None:
    write(skill, {"steps.py": code})
    assert said in refusal(of_folder(steps=("mark",)), skill)


def test_what_one_step_noted_no_other_overwrites(skill: Path) -> None:
    write(skill, {"steps.py": "def a(tree, rng): return {'x': 1}\ndef b(tree, rng): return {'x': 2}\n"})
    assert "its step b notes 'x', which an earlier step noted" in refusal(of_folder(steps=("a", "b")), skill)


@pytest.mark.parametrize("lost", ["tree/shop/tax.py", "notes.json", "source.json"])
def test_a_cached_workspace_that_lacks_a_file_is_made_again(skill: Path, lost: str) -> None:
    home = build_workspace(of_folder(), skill).root.parent
    (home / "tree/shop").chmod(0o755)
    (home / lost).unlink()
    assert shown(build_workspace(of_folder(), skill)) == SHOP


def test_of_two_processes_the_first_wins(skill: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build_workspace(of_folder(), skill)
    with monkeypatch.context() as patched:
        patched.setattr("skillstill_training.workspaces.building._intact", lambda home: False)
        patched.setattr("skillstill_training.workspaces.building.shutil.rmtree", lambda *a, **o: None)
        assert build_workspace(of_folder(), skill) == first
    assert shown(first) == SHOP


def test_a_full_disk_is_told(skill: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("shutil.copyfile", full)
    assert f"the disk of {cache_folder()} is full; free some space, or set XDG_CACHE_HOME" in refusal(
        of_folder(), skill
    )


def test_the_cache_says_what_a_tree_was_made_of(skill: Path) -> None:
    home = build_workspace(of_folder(), skill).root.parent
    made = json.loads((home / "source.json").read_text(encoding="utf-8"))
    assert made["source"]["source"] == "folder:shop"
    assert made["tree"] == {"sha256": tree_hash(SHOP), "files": 3, "bytes": sum(map(len, SHOP.values()))}
