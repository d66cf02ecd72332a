"""A skill folder brings its own tools: the example of docs/writing-tools.md, used from outside the package."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from skillstill.contract import serving_hash
from skillstill.errors import Refusal, SkillError
from skillstill.models.scripted import ScriptedModel, call
from skillstill.runtime import Runtime
from skillstill.skills.registry import Registry
from skillstill.skills.skill import load_skill
from skillstill.types import ModelFile
from skillstill.workspace import Workspace

from tests.scenes import ROOT, ScriptedModels, write

pytestmark = pytest.mark.anyio
BASE = ModelFile(source="file:base.gguf", sha256="1" * 64)
FILE = re.compile(r"^`(notes/[\w./]+|registry\.json)`:\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEIGHBOUR = '''
from typing import Annotated
from skillstill.tools import Result, tool
from .words import GREETING


async def read(workspace, name: str) -> Result:
    """Greet somebody."""
    return Result.of_text(f"{GREETING} {name}")


TOOLS = (tool(read),)
'''


def written(folder: Path) -> Path:
    """Write the files that the page shows; return the skill's folder."""
    page = (ROOT / "docs" / "writing-tools.md").read_text(encoding="utf-8")
    return write(folder, dict(FILE.findall(page))) / "notes"


def recorded(skill: Path) -> Path:
    """Let `scripts/golden` ask the skill's tools."""
    done = subprocess.run([sys.executable, ROOT / "scripts" / "golden", skill], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return skill


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    return written(tmp_path)


def contract(skill: Path) -> str:
    return serving_hash(load_skill(skill), BASE, None)


def change(file: Path, before: str, after: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")


async def test_a_subagent_answers_with_the_tool_that_its_skill_brings(skill: Path, shop: Path) -> None:
    model = ScriptedModel([call("headings", path="README.md"), "It begins at README.md:1."])
    runtime = Runtime(Registry(skill.parent / "registry.json"), ScriptedModels(model))
    trace = await runtime.run("notes", "Where does the readme begin?", shop)
    assert (trace.report.status, trace.report.evidence) == ("answered", ("README.md:1",))
    assert [tool.name for tool in trace.tools] == ["list", "headings"]
    assert trace.tools[1].description == "Show the headings of a Markdown file with their lines."


async def test_it_refuses_what_it_was_written_to_refuse_and_what_does_not_fit_its_types(skill: Path) -> None:
    (tool,) = (one for one in load_skill(skill).tools if one.name == "headings")
    with pytest.raises(Refusal, match=r"^guide\.txt is no Markdown file"):
        await tool.call(Workspace(skill / "fixture"), {"path": "guide.txt"})
    with pytest.raises(Refusal, match=r"^headings: word: Input should be a valid string; the arguments are path, word"):
        await tool.call(Workspace(skill / "fixture"), {"path": "guide.md", "word": 3})


def test_its_golden_outputs_are_made_by_the_script_and_part_of_the_serving_hash(skill: Path) -> None:
    recorded(skill)
    calls = json.loads((skill / "golden.json").read_text(encoding="utf-8"))["headings"]
    assert calls[0]["result"] == "2 headings\nguide.md:1: Guide\nguide.md:3: Install"
    assert calls[0]["spans"] == [["guide.md", 1, 1], ["guide.md", 3, 3]]
    assert calls[1]["refusal"].startswith("guide.txt is no Markdown file")
    before = contract(skill)
    change(skill / "tools.py", "What this skill can look at", "What one may look at")
    assert contract(skill) == before, "a comment is no behaviour"
    change(skill / "tools.py", 'f"{len(found)} headings"', 'f"{len(found)} titles"')
    assert contract(recorded(skill)) != before


def test_what_a_model_is_told_of_it_is_part_of_the_serving_hash(skill: Path) -> None:
    before = contract(recorded(skill))
    change(skill / "tools.py", "Show the headings", "List the headings")
    assert contract(skill) != before


def test_nothing_is_measured_with_a_tool_that_has_no_golden_output(skill: Path) -> None:
    with pytest.raises(SkillError, match=r"notes/golden\.json: headings: .* type `scripts/golden .*/notes`$"):
        contract(skill)
    (skill / "golden.json").unlink()
    with pytest.raises(SkillError, match=r"notes/golden\.json: headings: expected calls of it"):
        contract(skill)


async def test_its_own_tool_takes_the_place_of_a_bundled_one_and_may_import_its_neighbours(skill: Path) -> None:
    write(skill, {"tools.py": NEIGHBOUR, "words.py": 'GREETING = "Good day,"'})
    change(skill / "subagent.toml", '"headings"', '"read"')
    tool = load_skill(skill).tools[1]
    assert (await tool.call(Workspace(skill), {"name": "Ada"})).text == "Good day, Ada"
    write(skill, {"words.py": 'GREETING = "Hello"'})
    tool = load_skill(skill).tools[1]
    assert (await tool.call(Workspace(skill), {"name": "Ada"})).text == "Hello Ada", "as the folder is now"


def test_a_skill_is_equal_to_itself_until_its_folder_changes(skill: Path) -> None:
    before = load_skill(skill)
    assert load_skill(skill) == before
    change(skill / "tools.py", "no Markdown", "not Markdown")
    assert load_skill(skill) != before


@pytest.mark.parametrize(
    ("python", "expected"),
    [
        ("TOOLS = (", r"notes/tools\.py: file: cannot be imported: SyntaxError: "),
        ("import nothing_of_this_name", r"tools\.py: file: cannot be imported: ModuleNotFoundError: "),
        ("", r"tools\.py: TOOLS: expected a tuple of tools: TOOLS = "),
        ("TOOLS = ()", r"tools\.py: TOOLS: expected a tuple of tools"),
        ("TOOLS = (len,)", r"tools\.py: TOOLS: expected a tuple of tools"),
        (NEIGHBOUR.replace("async ", "").replace(".words", "._words"), r"ModuleNotFoundError"),
        (NEIGHBOUR.replace("async ", ""), r"TypeError: read: expected `async def`"),
        (NEIGHBOUR.replace('"""Greet somebody."""', "..."), r"TypeError: read: expected a docstring"),
        (NEIGHBOUR.replace("name: str", "name"), r"expected a type for the argument 'name', such as name: str"),
        (NEIGHBOUR.replace("tool(read),", "tool(read), tool(read)"), r"TOOLS: expected each name once, got 'read'"),
        (NEIGHBOUR.replace("read", "Read"), r"TOOLS: expected names of a-z, 0-9 and underscores .*, got 'Read'"),
        (NEIGHBOUR, r"subagent\.toml: tools: no tool called 'headings'; the tools are read, list, find, search"),
    ],
)
def test_a_mistake_in_tools_py_is_one_sentence(skill: Path, python: str, expected: str) -> None:
    write(skill, {"tools.py": python, "words.py": 'GREETING = "Hello"'})
    with pytest.raises(SkillError, match=expected):
        load_skill(skill)


@pytest.mark.parametrize(
    ("golden", "expected"),
    [
        ("{", "golden.json: file: cannot be read as JSON"),
        ("[]", "golden.json: file: Input should be a valid dictionary"),
        ('{"headings": [{}]}', "golden.json: headings.0.workspace: Field required"),
        ('{"heading": []}', "golden.json: file: expected calls of headings, got 'heading'"),
    ],
)
def test_a_mistake_in_golden_json_is_one_sentence(skill: Path, golden: str, expected: str) -> None:
    write(skill, {"golden.json": golden})
    with pytest.raises(SkillError, match=re.escape(expected)):
        contract(skill)
