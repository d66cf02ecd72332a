"""The Python of a pack does not run until its owner has looked at it and said so."""

import sys
from pathlib import Path

import pytest
from skillstill.errors import RegistryError
from skillstill.skills.code import import_from
from skillstill.util.storage import data_folder
from skillstill_training.authoring.families import load_families
from skillstill_training.evaluation.baseline import load_baseline

from tests.server.packs.conftest import Skillstill, everything


@pytest.fixture
def proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that the pack's `goals.py` leaves when it runs."""
    monkeypatch.setenv("PROOF", str(tmp_path / "it-ran"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "it-ran"


@pytest.fixture
def skill(packed: Path, skillstill: Skillstill) -> Path:
    """The unpacked skill."""
    assert skillstill("unpack", packed).code == 0
    return data_folder() / "packs" / "settings" / "skill" / "settings"


def test_no_command_runs_a_foreign_goals_py_and_each_says_what_to_type(
    skill: Path, proof: Path, skillstill: Skillstill, tmp_path: Path
) -> None:
    said = skillstill("goals", skill, "--runs", tmp_path / "runs", "--offline")
    assert said.code == 1
    pack = data_folder() / "packs" / "settings"
    assert f"{pack} came from somebody else, and its Python is not trusted" in said.err
    assert f"type `skillstill trust {pack}`" in said.err
    assert not proof.exists()


def test_no_door_to_a_skill_s_python_is_open(skill: Path, proof: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(skill)
    (tmp_path / "packs").symlink_to(skill.parents[2])
    through = tmp_path / "packs" / "settings" / "skill" / "settings"
    for folder in (skill, tmp_path / "link", through, skill / ".." / "settings"):
        for door in (load_families, load_baseline, lambda one: import_from(one, "steps")):
            with pytest.raises(RegistryError, match="is not trusted"):
                door(folder)
    assert not proof.exists()


def test_trusted_it_runs_and_stays_trusted_until_anything_changes(
    skill: Path, proof: Path, skillstill: Skillstill
) -> None:
    before = everything(skill)
    assert skillstill("trust", data_folder() / "packs" / "settings").code == 0
    assert [family.name for family in load_families(skill)]
    assert proof.read_text("utf-8") == "it ran"
    assert callable(load_baseline(skill))
    assert everything(skill) == before, "no bytecode: it would change what was pinned"
    load_families(skill)
    (skill / "wordings" / "train.toml").write_text("", encoding="utf-8")
    with pytest.raises(RegistryError, match="is not trusted"):
        load_families(skill)


def test_trust_is_for_one_pack_and_can_be_taken_back(packed: Path, skill: Path, skillstill: Skillstill) -> None:
    skillstill("unpack", packed, "--as", "second")
    assert skillstill("trust", skill).code == 0, "anywhere inside is the pack"
    load_families(skill)
    with pytest.raises(RegistryError, match="packs/second came from somebody else"):
        load_families(data_folder() / "packs" / "second" / "skill" / "settings")
    assert skillstill("trust", skill, "--forget").code == 0
    with pytest.raises(RegistryError, match="is not trusted"):
        load_families(skill)


def test_ones_own_skills_need_no_trust(publisher: Path, proof: Path) -> None:
    load_families(publisher.parent / "skills" / "settings")
    assert proof.exists()
