"""A skill folder brings its own reader: the example of docs/facts.md, asked by the bundled tool."""

import re
from pathlib import Path

import pytest
from skillstill.errors import SkillError
from skillstill.skills.skill import load_skill
from skillstill.workspace import Workspace

from tests.scenes import ROOT, write

pytestmark = pytest.mark.anyio
FILE = re.compile(r"^`(notes/[\w./]+)`:\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SKILL_MD = "---\nname: notes\ndescription: Answers questions about what is left to do.\n---\nAsk `query`.\n"


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    page = (ROOT / "docs" / "facts.md").read_text(encoding="utf-8")
    return write(tmp_path, {**dict(FILE.findall(page)), "notes/SKILL.md": SKILL_MD}) / "notes"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    text = "# Plan\nTODO ada: write it\nDone.\nTODO bob: read it\n"
    return Workspace(write(tmp_path / "project", {"plan.md": text, "plan.txt": text}))


async def test_its_tables_are_asked_like_bundled_ones(skill: Path, workspace: Workspace) -> None:
    (query,) = load_skill(skill).tools
    assert "todos(owner, text)" in query.schema.description
    assert "definitions" not in query.schema.description
    result = await query.call(workspace, {"sql": "select text from todos where owner = 'bob'"})
    assert result.text == "1 row: text\nplan.md:4: read it"
    assert [(place.path, place.line) for place in result.places] == [("plan.md", 4)]


async def test_nothing_there_is_empty_and_misses_nothing(skill: Path, workspace: Workspace) -> None:
    (query,) = load_skill(skill).tools
    result = await query.call(workspace, {"sql": "select text from todos where owner = 'eve'"})
    assert result.empty
    assert not result.missed


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ('"code", "nonsense"', "expected some of code, .*, got 'nonsense'"),
        ('"elsewhere:READER"', r"there is no elsewhere\.py in the folder"),
        ('"../todos:READER"', "readers"),
    ],
)
def test_a_reader_that_is_not_there_is_refused(skill: Path, named: str, said: str) -> None:
    file = skill / "subagent.toml"
    file.write_text(file.read_text(encoding="utf-8").replace('"todos:READER"', named), encoding="utf-8")
    with pytest.raises(SkillError, match=said):
        load_skill(skill)


def test_a_skill_gets_the_tables_of_the_readers_that_it_names(skill: Path) -> None:
    file = skill / "subagent.toml"
    file.write_text(file.read_text(encoding="utf-8").replace('"todos:READER"', '"logs"'), encoding="utf-8")
    (query,) = load_skill(skill).tools
    assert "entries(" in query.schema.description
    assert "definitions(" not in query.schema.description
