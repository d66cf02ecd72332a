"""What goes into a pack, what never does, and that it is the same file again."""

import json
import os
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import pytest
from skillstill.skills.registry import Document, read_registry, write_registry

from tests.server.packs.conftest import BASE, Skillstill, released, sha256


def change(registry: Path, **changes: object) -> None:
    entry = read_registry(registry).entries[0].model_copy(update=changes)
    write_registry(registry, Document(entries=(entry,)))


def test_it_holds_the_skill_the_adapter_the_scorecard_and_their_hashes(packed: Path, base: Path) -> None:
    with ZipFile(packed) as archive:
        names = archive.namelist()
        manifest = json.loads(archive.read("manifest.json"))
        assert {info.compress_type for info in archive.infolist()} == {ZIP_STORED}
        assert archive.read("skill/settings/LICENSE") == b"Do what you like.\n"
    assert names[0] == "manifest.json"
    assert names[1:] == [member["path"] for member in manifest["members"]] == sorted(names[1:])
    assert {"adapter.gguf", "scorecard.json", "skill/settings/SKILL.md", "skill/settings/goals.py"} <= set(names)
    entry = manifest["entry"]
    assert entry["base"] == {"source": BASE, "sha256": sha256(base)}
    assert entry["claimed"] == {"success": 0.875, "n": 480, "seconds": 3.1}
    assert "measured" not in entry
    assert len(entry["serving_hash"]) == len(entry["provenance_hash"]) == 64


def test_the_same_release_is_the_same_file_whoever_packs_it_and_when(
    packed: Path, base: Path, skillstill: Skillstill, tmp_path: Path
) -> None:
    other = released(tmp_path / "elsewhere" / "deep", base)
    for file in other.parent.rglob("*"):
        os.utime(file, (1, 1))
    assert skillstill("pack", "settings", "-o", tmp_path / "other", "--registry", other).code == 0
    assert (tmp_path / "other").read_bytes() == packed.read_bytes()


def test_neither_traces_nor_runs_nor_hidden_files_nor_anybody_s_folders_go_along(
    publisher: Path, skillstill: Skillstill, tmp_path: Path
) -> None:
    skill = publisher.parent / "skills" / "settings"
    for name in ("runs/1/2-traces.jsonl", "traces.jsonl", ".env", ".git/config", "__pycache__/goals.pyc", "w.gguf"):
        (skill / name).parent.mkdir(parents=True, exist_ok=True)
        (skill / name).write_text("private", encoding="utf-8")
    assert skillstill("pack", "settings", "-o", tmp_path / "pack", "--registry", publisher).code == 0
    content = (tmp_path / "pack").read_bytes()
    assert b"private" not in content
    assert str(tmp_path).encode() not in content
    with ZipFile(tmp_path / "pack") as archive:
        card = json.loads(archive.read("scorecard.json"))
    assert card["arms"][0]["label"] == "stock.gguf"
    assert card["adapter"]["source"] == "beside:adapter.gguf"


def test_the_licences_are_stated_or_said_to_be_not(publisher: Path, skillstill: Skillstill, tmp_path: Path) -> None:
    skill = publisher.parent / "skills" / "settings" / "SKILL.md"
    skill.write_text(skill.read_text("utf-8").replace("Apache-2.0", "MIT"), encoding="utf-8")
    change(publisher, provenance_hash=None, goals_hash=None)
    said = skillstill("pack", "settings", "-o", tmp_path / "pack", "--registry", publisher, "--licence", "CC-BY-4.0")
    assert said.out.endswith("licences: skill MIT, base not stated, adapter CC-BY-4.0\n")


def test_a_skill_whose_licence_forbids_derived_works_is_not_shared(
    publisher: Path, skillstill: Skillstill, tmp_path: Path
) -> None:
    skill = publisher.parent / "skills" / "settings" / "SKILL.md"
    skill.write_text(skill.read_text("utf-8").replace("Apache-2.0", "CC-BY-NC-ND-4.0"), encoding="utf-8")
    said = skillstill("pack", "settings", "-o", tmp_path / "pack", "--registry", publisher)
    assert (said.code, said.err.count("\n")) == (1, 1)
    assert "in SKILL.md, forbids derived works" in said.err


def test_an_untrained_entry_has_nothing_to_share(skillstill: Skillstill) -> None:
    said = skillstill("pack", "explore")
    assert (said.code, said.out) == (1, "")
    assert "explore is untrained and has no adapter" in said.err


def test_a_skill_that_changed_since_it_was_measured_is_not_shared_with_those_figures(
    publisher: Path, skillstill: Skillstill, tmp_path: Path
) -> None:
    (publisher.parent / "skills" / "settings" / "goals.py").write_text("FAMILIES = ()\n", encoding="utf-8")
    said = skillstill("pack", "settings", "-o", tmp_path / "pack", "--registry", publisher)
    assert said.code == 1
    assert "changed since settings was measured" in said.err
    assert not (tmp_path / "pack").exists()


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("serving_hash", "0" * 64, "settings is stale"),
        ("title", "Read\u202e settings", "characters that a reader does not see"),
    ],
)
def test_an_entry_that_nobody_else_could_use_is_not_shared(
    publisher: Path, skillstill: Skillstill, tmp_path: Path, field: str, value: str, says: str
) -> None:
    change(publisher, **{field: value})
    said = skillstill("pack", "settings", "-o", tmp_path / "pack", "--registry", publisher)
    assert (said.code, said.err.count("\n")) == (1, 1)
    assert says in said.err
    assert not (tmp_path / "pack").exists()


def test_a_base_that_only_this_machine_has_is_not_shared(
    publisher: Path, base: Path, skillstill: Skillstill, tmp_path: Path
) -> None:
    toml = publisher.parent / "skills" / "settings" / "subagent.toml"
    toml.write_text(toml.read_text("utf-8").replace(BASE, f"file:{base}"), encoding="utf-8")
    said = skillstill("pack", "settings", "-o", tmp_path / "pack", "--registry", publisher)
    assert "which nobody else has: put it on a hub" in said.err


@pytest.mark.parametrize("name", ["a\nb.md", "con:x.md", "name ", "link.md"])
def test_a_file_that_not_every_system_can_have_is_named(
    publisher: Path, skillstill: Skillstill, tmp_path: Path, name: str
) -> None:
    change(publisher, provenance_hash=None, goals_hash=None)
    file = publisher.parent / "skills" / "settings" / name
    file.symlink_to("/etc/passwd") if name.startswith("link") else file.touch()
    said = skillstill("pack", "settings", "-o", tmp_path / "pack", "--registry", publisher)
    assert said.code == 1
    assert "cannot be shared: it is a link or a device, or its name is not plain" in said.err


def test_a_text_that_names_a_folder_of_this_machine_is_not_shared(
    publisher: Path, skillstill: Skillstill, tmp_path: Path, home: Path
) -> None:
    change(publisher, provenance_hash=None, goals_hash=None)
    (publisher.parent / "skills" / "settings" / "notes.md").write_text(f"see {home}/secret", encoding="utf-8")
    said = skillstill("pack", "settings", "-o", tmp_path / "pack", "--registry", publisher)
    assert f"notes.md names {home}/, a folder of this machine" in said.err


def test_a_pack_that_cannot_be_written_is_one_sentence(publisher: Path, skillstill: Skillstill, tmp_path: Path) -> None:
    said = skillstill("pack", "settings", "-o", tmp_path / "nowhere" / "pack", "--registry", publisher)
    assert said.err.endswith("pack cannot be written: No such file or directory\n")
