"""The serving hash: what an adapter was measured with, and nothing else."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from skillstill.chat.references import after_result
from skillstill.contract import provenance_hash, serving_hash
from skillstill.contract.behaviour import observe
from skillstill.skills.skill import Around, Opening, Skill, load_skill
from skillstill.tools import TOOLS, Result, Tool
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


def test_every_other_part_changes_it(skill: Skill) -> None:
    fewer = with_subagent(skill, tools=skill.subagent.tools[:-1])
    hashes = [
        serving_hash(skill, BASE, None),
        serving_hash(skill, BASE, ADAPTER),
        serving_hash(skill, ADAPTER, None),
        serving_hash(with_subagent(skill, system="explore more"), BASE, None),
        serving_hash(with_subagent(skill, limits=skill.subagent.limits.model_copy(update={"steps": 9})), BASE, None),
        serving_hash(with_subagent(skill, opening=Opening(tool="list")), BASE, None),
        serving_hash(with_subagent(skill, quotes=Around(above=1)), BASE, None),
        serving_hash(with_subagent(skill, quotes=Around(above=2)), BASE, None),
        serving_hash(fewer, BASE, None),
    ]
    assert len(set(hashes)) == len(hashes)


def extra_grammar(dialect: object, tools: object, marker: object, said: object) -> list[str]:
    return ['call: "anything"', "ANSWER: /.*/", "intent: /#/"]


def changed_tool(name: str, **schema: Any) -> dict[str, Tool]:
    tool = TOOLS[name]
    return {**TOOLS, name: replace(tool, schema=tool.schema.model_copy(update=schema))}


SAID = "skillstill.tools.logs.pattern_grammar"
CHANGES: dict[str, tuple[str, str, Any]] = {
    "a stop word of log patterns": ("logs", f"{SAID}.ASKING", ["orders"]),
    "the room of an answer": ("explore", "skillstill.run.loop.ANSWER_CHARACTERS", 1_200),
    "the repeats that end a run": ("explore", "skillstill.run.loop.MAX_REPEATS", 5),
    "the header of a turn": ("explore", "skillstill.chat.renderer.HEADER", "<|im_start|>helper\n"),
    "the letters of lines": ("explore", "skillstill.chat.references.ascii_uppercase", "ZYXWVUTSRQPONMLKJIHGFEDCBA"),
    "lines that a letter stands for": ("explore", "skillstill.chat.references.MOST_LETTERS", 1),
    "arguments that a letter can stand for": (
        "logs",
        "skillstill.skills.skill.TOOLS",
        changed_tool("entries", references={}),
    ),
    "what a turn may be": ("explore", "skillstill.chat.lines.Lines.rules", extra_grammar),
    "which words name a file": ("explore", "skillstill.tools.code.files.LIKE_A_FILE", re.compile("nothing")),
    "which functions a query may call": ("tables", "skillstill.tools.tables.query_grammar.FUNCTIONS", ("abs",)),
    "how an intent is read": ("explore", "skillstill.chat.lines.INTENT", re.compile(r"!(\w+)\n")),
    "when a line is meant": ("logs", "skillstill.contract.hashes.LEAST", 2.0),
    "what is weighed": ("logs", "skillstill.contract.hashes.SAID", " means {}"),
    "second thoughts": ("explore", "skillstill.contract.hashes.SECOND_THOUGHTS", 0),
    "the warning of an unsure answer": ("explore", "skillstill.run.finish.UNSURE", "(Perhaps.)"),
    "how much of a call is quoted": ("tables", "skillstill.run.finish.CALL_CHARACTERS", 10),
    "what counts as a place": ("explore", "skillstill.run.evidence.LOCATION", re.compile(r"(nothing):(\d+)-(\d+)")),
    "what a model is told of a tool": (
        "explore",
        "skillstill.skills.skill.TOOLS",
        changed_tool("read", description="Read."),
    ),
    "what a tool answers": (
        "explore",
        "skillstill.contract.goldens._recorded_result",
        lambda call: Result.of_text("otherwise"),
    ),
}


def forget_observations() -> None:
    observe.cache_clear()
    after_result.cache_clear()


@pytest.mark.parametrize("change", CHANGES)
def test_changed_behaviour_changes_it(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, target, value = CHANGES[change]
    skill = load_skill(ROOT / "skills" / name)
    before = serving_hash(skill, BASE, None)
    forget_observations()
    monkeypatch.setattr(target, value)
    after = serving_hash(skill, BASE, None)
    forget_observations()
    assert after != before


COSMETICS: tuple[tuple[str, str, str], ...] = (
    ("run/loop.py", '"""Do the work with the leased model;', '"""Work with the leased model;'),
    ("run/loop.py", "def own_words(", "def in_own_words("),
    ("run/loop.py", "self.own_words(", "self.in_own_words("),
    ("run/evidence.py", "_behind", "_path_first"),
    ("run/record.py", "EXCERPT = 200  # characters", "EXCERPT = 100 + 100  # characters of a result"),
    ("chat/renderer.py", "_result(", "_tool_turn("),
    ("chat/lines.py", "_call_rule", "_rule_of_call"),
    ("chat/references.py", "_meaning", "_stands_for"),
    ("chat/grammar.py", "rules = [", "parts = ["),
    ("chat/grammar.py", "join(rules)", "join(parts)"),
    ("tools/logs/pattern_grammar.py", "stretch", "span_of_words"),
    ("tools/tables/query_grammar.py", "_about", "_rules_of_table"),
    ("tools/code/files.py", "    words = ", "    # Words first.\n    words = "),
    ("models/llama.py", "_matchers", "_matchers_of_turn"),
)
PRINT = """
from pathlib import Path
from skillstill.contract import serving_hash
from skillstill.skills.skill import load_skill
from skillstill.types import ModelFile
base = ModelFile(source="file:base.gguf", sha256="1" * 64)
for name in ("explore", "logs", "tables"):
    print(serving_hash(load_skill(Path("skills") / name), base, None))
"""


def test_what_changes_no_behaviour_does_not(tmp_path: Path) -> None:
    """Docstrings, comments, names of private things, and a file that is moved, in a copy of the package."""
    package = shutil.copytree(ROOT / "server" / "skillstill", tmp_path / "skillstill")
    for file, before, after in COSMETICS:
        text = (package / file).read_text(encoding="utf-8")
        assert before in text, (file, before)
        (package / file).write_text(text.replace(before, after), encoding="utf-8")
    (package / "util" / "text.py").rename(package / "util" / "words.py")
    for source in package.rglob("*.py"):
        text = source.read_text(encoding="utf-8")
        source.write_text(text.replace("skillstill.util.text", "skillstill.util.words"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PRINT], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True
    )
    now = [serving_hash(load_skill(ROOT / "skills" / name), BASE, None) for name in ("explore", "logs", "tables")]
    assert done.stdout.decode().split() == now, done.stderr.decode()


def test_goals_and_the_texts_of_a_skill_are_its_provenance(tmp_path: Path) -> None:
    texts = (
        "SKILL.md",
        "subagent.toml",
        "goals.py",
        "families/look.py",
        "recipe.toml",
        "wordings/test.toml",
        "baseline.py",
    )
    skill = write(tmp_path, dict.fromkeys(texts, "as it is"))
    hashes = [provenance_hash(skill, "1"), provenance_hash(skill, "2")]
    for name in texts:
        (skill / name).write_text(f"{name} otherwise", encoding="utf-8")
        hashes.append(provenance_hash(skill, "1"))
    assert len(set(hashes)) == len(hashes)


def test_caches_releases_and_what_lends_the_skill_are_not(tmp_path: Path) -> None:
    skill = write(tmp_path, {"SKILL.md": "", "goals.py": ""})
    before = provenance_hash(skill, "1")
    write(skill, {"releases/1.json": "", "__pycache__/goals.py": "", ".mypy_cache/a.json": "", "adapter.gguf": ""})
    write(skill, {"design.toml": "tools = []"})
    assert provenance_hash(skill, "1") == before
