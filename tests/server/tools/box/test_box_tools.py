"""The tools that execute, in real sandboxes: what a model gets to read of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from skillstill.errors import Refusal
from skillstill.sandbox.sandbox import Driver, SandboxLimits, SandboxPlan
from skillstill.tools import TOOLS, Result
from skillstill.workspace import Workspace

from tests.scenes import write
from tests.server.sandbox.conftest import driver

__all__ = ["driver"]
pytestmark = pytest.mark.anyio
CALC = "def add(a, b):\n    return a - b\n\n\ndef fail():\n    raise ValueError('no')\n"
TESTS = """import unittest
from calc import add, fail

class Sums(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)

    def test_fail(self):
        fail()

    def test_none(self):
        self.assertEqual(add(0, 0), 0)
"""
NODE = """import test from 'node:test';
import assert from 'node:assert';
test('adds', () => { assert.strictEqual(1 + 1, 3); });
test('holds', () => {});
"""


class Scene:
    """A workspace with a sandbox around it."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    async def call(self, name: str, **arguments: Any) -> Result:
        return await TOOLS[name].call(self.workspace, arguments)

    async def refused(self, name: str, **arguments: Any) -> str:
        with pytest.raises(Refusal) as caught:
            await self.call(name, **arguments)
        return str(caught.value)


@pytest.fixture
async def scene(driver: Driver, tmp_path: Path) -> AsyncIterator[Scene]:
    folder = write(tmp_path / "work", {"calc.py": CALC, "tests/__init__.py": "", "tests/test_calc.py": TESTS})
    folder.chmod(0o777)
    (folder / "calc.py").chmod(0o666)
    async with sandboxed(driver, folder) as scene:
        yield scene


@asynccontextmanager
async def sandboxed(driver: Driver, folder: Path) -> AsyncIterator[Scene]:
    async with driver.open(folder, SandboxPlan(writable=True, limits=SandboxLimits(seconds=20))) as sandbox:
        yield Scene(Workspace(folder, sandbox))


async def test_shell_tells_how_a_command_ended_and_which_places_it_named(scene: Scene) -> None:
    found = await scene.call("shell", command="grep -n def *.py; grep -n 'x y' /workspace/calc.py nothing.py:9; exit 3")
    assert found.text.startswith("exit code 3, ")
    found = await scene.call(
        "shell", command="grep -rn def . ; echo see /workspace/calc.py:5, calc.py:99 and ../x.py:1"
    )
    assert {f"{span.path}:{span.first}" for span in found.spans} >= {"calc.py:1", "calc.py:5"}
    assert "calc.py:99" not in {f"{span.path}:{span.first}" for span in found.spans}


async def test_a_line_that_begins_with_a_place_is_a_line_of_that_file(scene: Scene) -> None:
    found = await scene.call("shell", command="grep -Hn def calc.py")
    assert [(place.path, place.line) for place in found.places] == [("calc.py", 1), ("calc.py", 5)]


async def test_of_much_output_the_beginning_and_the_end_are_shown(scene: Scene) -> None:
    found = await scene.call("shell", command="seq 1 3000")
    lines = found.text.split("\n")
    assert (lines[1], lines[-1]) == ("1", "3000")
    assert (
        found.omitted == next(int(line.split()[1]) for line in lines if line.startswith("…")) == 3001 - len(lines) + 1
    )
    assert len(found.text) <= 1_800


async def test_a_command_line_is_one_whatever_it_begins_with(scene: Scene) -> None:
    assert (await scene.call("shell", command="--version")).text.startswith("exit code 127")
    assert "wrote nothing" in (await scene.call("shell", command="true # -c")).text


async def test_python_imports_the_workspace_and_its_errors_name_places(scene: Scene) -> None:
    found = await scene.call("python", code="import calc; print(calc.add(5, 2)); calc.fail()")
    assert "\n3\n" in found.text
    assert "calc.py:6" in {f"{span.path}:{span.first}" for span in found.spans}
    assert not list(scene.workspace.root.rglob("*.pyc"))


async def test_edit_replaces_a_text_that_is_there_once(scene: Scene) -> None:
    found = await scene.call("edit", path="calc.py", old="a - b", new="a + b")
    assert found.text == "calc.py: edited\ncalc.py:2:     return a + b"
    assert (scene.workspace.root / "calc.py").read_text(encoding="utf-8") == CALC.replace("a - b", "a + b")


@pytest.mark.parametrize(
    ("path", "old", "why"),
    [
        ("calc.py", "def", "is there 2 times (lines 1, 5)"),
        ("calc.py", "return a-b", "no such text"),
        ("calc.py", "  return a - b  ", "one line is so but for spaces: '    return a - b'"),
        ("none.py", "def", "No such file"),
        ("tests", "def", "not a regular file"),
        (".git/config", "def", "may hold secrets"),
        ("/etc/passwd", "def", "give a path from the workspace root"),
    ],
)
async def test_edit_says_why_it_changes_nothing(scene: Scene, path: str, old: str, why: str) -> None:
    assert why in await scene.refused("edit", path=path, old=old, new="x")
    assert (scene.workspace.root / "calc.py").read_text(encoding="utf-8") == CALC


async def test_write_makes_a_file_and_the_folders_above_it(scene: Scene) -> None:
    assert (await scene.call("write", path="docs/a.md", content="# A\n\nb\n")).text == "docs/a.md: written, 3 lines"
    assert (scene.workspace.root / "docs/a.md").read_text(encoding="utf-8") == "# A\n\nb\n"


async def test_run_tests_tells_how_many_failed_which_where_and_why(scene: Scene) -> None:
    found = await scene.call("run_tests")
    lines = found.text.split("\n")
    assert lines[0].startswith("unittest: Ran 3 tests in ")
    assert "FAILED (failures=1, errors=1); exit code 1" in lines[0]
    assert "tests/test_calc.py:6: test_add (tests.test_calc.Sums.test_add)" in lines
    assert "  AssertionError: -1 != 3" in lines
    assert "calc.py:6: test_fail (tests.test_calc.Sums.test_fail)" in lines
    await scene.call("edit", path="calc.py", old="a - b", new="a + b")
    assert "FAILED (errors=1)" in (await scene.call("run_tests", target="tests/test_calc.py")).text


async def test_run_tests_finds_a_package_below_src(scene: Scene) -> None:
    (scene.workspace.root / "src").mkdir()
    (scene.workspace.root / "calc.py").rename(scene.workspace.root / "src/calc.py")
    found = await scene.call("run_tests")
    assert "src/calc.py" in {span.path for span in found.spans}
    assert "No module named" not in found.text


async def test_run_tests_runs_those_of_node(scene: Scene) -> None:
    write(scene.workspace.root, {"package.json": "{}", "web/a.test.mjs": NODE})
    try:
        found = await scene.call("run_tests")
    except Refusal as refusal:
        pytest.skip(str(refusal))
    assert "tests 2; pass 1; fail 1; exit code 1" in found.text
    assert "web/a.test.mjs:3: adds\n" in found.text
    assert "  actual: 2" in found.text


async def test_run_tests_says_which_program_is_missing(scene: Scene) -> None:
    write(scene.workspace.root, {"none.go": ""})
    if (await scene.call("shell", command="command -v go")).text.startswith("exit code 0"):
        pytest.skip("go is there")
    assert "go test is not in the sandbox" in await scene.refused("run_tests", target="none.go")
