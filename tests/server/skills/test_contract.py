"""The serving hash: what an adapter was measured with, and nothing else."""

from pathlib import Path
from typing import Any

import pytest
from skillstill.skills import contract
from skillstill.skills.contract import golden, provenance_hash, serving_hash
from skillstill.skills.skill import Skill, load_skill
from skillstill.tools import TOOLS
from skillstill.types import ModelFile

from tests.scenes import ROOT, write

BASE = ModelFile(source="file:base.gguf", sha256="1" * 64)
ADAPTER = ModelFile(source="file:adapter.gguf", sha256="2" * 64)


@pytest.fixture
def skill() -> Skill:
    return load_skill(ROOT / "skills" / "explore")


def with_subagent(skill: Skill, **changes: Any) -> Skill:
    return skill.model_copy(update={"subagent": skill.subagent.model_copy(update=changes)})


def test_the_same_parts_give_the_same_hash(skill: Skill) -> None:
    assert serving_hash(skill, BASE, ADAPTER) == serving_hash(skill.model_copy(deep=True), BASE, ADAPTER)


def test_the_text_of_the_skill_is_not_part_of_it(skill: Skill) -> None:
    other = skill.model_copy(update={"instructions": "Do it otherwise.", "description": "Another."})
    assert serving_hash(other, BASE, None) == serving_hash(skill, BASE, None)


def test_where_a_file_comes_from_is_not_part_of_it(skill: Skill) -> None:
    moved = BASE.model_copy(update={"source": "file:elsewhere.gguf"})
    assert serving_hash(skill, moved, None) == serving_hash(skill, BASE, None)


def test_every_other_part_changes_it(skill: Skill, monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = with_subagent(skill, tools=skill.subagent.tools[:-1])
    hashes = [
        serving_hash(skill, BASE, None),
        serving_hash(skill, BASE, ADAPTER),
        serving_hash(skill, ADAPTER, None),
        serving_hash(with_subagent(skill, system="explore more"), BASE, None),
        serving_hash(fewer, BASE, None),
    ]
    answers = {**golden(), "read": [{"arguments": {"path": "a"}, "result": "otherwise"}]}
    monkeypatch.setattr(contract, "golden", lambda: answers)
    hashes.append(serving_hash(skill, BASE, None))
    assert len(set(hashes)) == len(hashes)
    assert serving_hash(fewer, BASE, None) == hashes[4], "a tool that the skill has not is none of its business"


def test_a_changed_schema_changes_it(skill: Skill, monkeypatch: pytest.MonkeyPatch) -> None:
    before = serving_hash(skill, BASE, None)
    schema = TOOLS["read"].schema.model_copy(update={"description": "Read."})
    monkeypatch.setattr("skillstill.skills.skill.TOOLS", {**TOOLS, "read": TOOLS["read"].__class__(
        schema, TOOLS["read"].function, TOOLS["read"].arguments
    )})  # fmt: skip
    assert serving_hash(skill, BASE, None) != before


def test_the_golden_answers_are_installed_with_the_package() -> None:
    assert (Path(contract.__file__).parents[1] / "tools" / "golden.json").is_file()
    assert list(golden()) == list(TOOLS)


def test_goals_and_the_texts_of_a_skill_are_its_provenance(tmp_path: Path) -> None:
    texts = (
        "SKILL.md",
        "subagent.toml",
        "goals.py",
        "families/look.py",
        "recipe.toml",
        "wordings/test.toml",
        "floor.py",
    )
    skill = write(tmp_path, dict.fromkeys(texts, "as it is"))
    hashes = [provenance_hash(skill, "1"), provenance_hash(skill, "2")]
    for name in texts:
        (skill / name).write_text(f"{name} otherwise", encoding="utf-8")
        hashes.append(provenance_hash(skill, "1"))
    assert len(set(hashes)) == len(hashes)


def test_caches_and_releases_are_not(tmp_path: Path) -> None:
    skill = write(tmp_path, {"SKILL.md": "", "goals.py": ""})
    before = provenance_hash(skill, "1")
    write(skill, {"releases/1.json": "", "__pycache__/goals.py": "", ".mypy_cache/a.json": "", "adapter.gguf": ""})
    assert provenance_hash(skill, "1") == before


def test_how_lines_are_weighed_is_part_of_it_where_a_tool_leaves_a_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    skills = [load_skill(ROOT / "skills" / name) for name in ("explore", "logs")]
    before = [serving_hash(skill, BASE, None) for skill in skills]
    monkeypatch.setattr(contract, "SAID", " means {}")
    after = [serving_hash(skill, BASE, None) for skill in skills]
    assert before[0] == after[0]
    assert before[1] != after[1]
