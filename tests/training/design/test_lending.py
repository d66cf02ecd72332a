"""A skill of one's own is lent to a foreign one, with the tool that it brings."""

import json
import shutil
from pathlib import Path

import anyio
import pytest
from skillstill.skills.skill import load_skill
from skillstill.util.storage import data_folder
from skillstill_training.evaluation.baseline import freeze_baseline
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import load_recipe
from skillstill_training.stages.goals import make_goals

from tests.scenes import ROOT, write
from tests.training.design.scenes import SETTINGS, Run

TOOL = '''
from typing import Annotated

from pydantic import Field
from skillstill.tools import Line, Result, tool
from skillstill.types import Copied
from skillstill.workspace import Workspace

Key = Annotated[str, Field(max_length=80, description="a part of the line"), Copied()]


async def setting(workspace: Workspace, key: Key) -> Result:
    """Show the lines of all settings that hold this text."""
    files = sorted(workspace.root.glob("*.ini"))
    rows = [(file.name, n, text) for file in files for n, text in enumerate(file.read_text().split("\\n"), 1)]
    found = [Line.at(name, number, text) for name, number, text in rows if key in text]
    return Result((Line(f"{len(found)} lines"), *found), empty=not found)


TOOLS = (tool(setting),)
'''
DESIGN = """\
topics = '\\bsettings?\\b'
tools = ["setting"]

[families]
direct = { always = true, answers = ["value", "absent"] }
linked = { cues = ["value of"], answers = ["value"] }
beyond = { always = true, answers = ["declined"] }
again = { always = true, answers = ["value", "absent"] }
"""
GOLDEN = {
    "setting": [
        {
            "workspace": "golden",
            "arguments": {"key": "size"},
            "result": "1 lines\nmain.ini:1: size = 3",
            "spans": [["main.ini", 1, 1]],
            "places": [[1, "main.ini", 1]],
        }
    ]
}


def register(place: str) -> Path:
    """The fixture skill `settings` in the user's registry, with a tool of its own in place of `search`."""
    folder = data_folder() / place
    shutil.copytree(ROOT / "tests" / "fixtures" / "settings", folder)
    for name, old, new in (
        ("goals.py", 'call("search", pattern=', 'call("setting", key='),
        ("subagent.toml", '["search"]', '["setting"]'),
    ):
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    golden = {"golden.json": json.dumps(GOLDEN), "golden/main.ini": "size = 3\n"}
    write(folder, {"design.toml": DESIGN, "tools.py": TOOL, **golden})
    freeze_baseline(folder)
    entry = {"name": "settings", "title": "S", "description": "D", "state": "untrained", "skill": place,
             "base": {"source": "file:base.gguf", "sha256": "1" * 64}}  # fmt: skip
    write(data_folder(), {"registry.json": json.dumps({"version": 1, "entries": [entry]})})
    return folder


def test_a_skill_of_ones_own_lends_its_families_and_its_tool(design: Run, tmp_path: Path) -> None:
    register("settings")
    folder = tmp_path / "settings-finder"
    code, out, err = design(SETTINGS, "-o", str(folder), "--few", "1", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert (told["lender"], sorted(told["families"])) == ("settings", ["again", "beyond", "direct", "linked"])
    assert "setting" in load_skill(folder).subagent.tools
    assert (folder / "golden" / "main.ini").read_text(encoding="utf-8") == "size = 3\n"
    made = anyio.run(
        lambda: make_goals(
            folder, RunFolder(tmp_path / "runs" / "1"), recipe=load_recipe(folder).changed(few=1), offline=True
        )
    )
    assert {goal.family for goal in made.goals} == set(told["families"])
    assert any(goal.calls for goal in made.goals)


def test_a_skill_whose_python_is_not_trusted_lends_nothing_and_is_not_imported(design: Run, tmp_path: Path) -> None:
    folder = register("packs/settings/skill")
    with (folder / "tools.py").open("a", encoding="utf-8") as file:
        file.write(f"open({str(tmp_path / 'imported')!r}, 'w').close()\n")
    code, _, err = design(SETTINGS, "-o", str(tmp_path / "settings-finder"), "--few", "1")
    assert code != 0, err
    assert not (tmp_path / "imported").exists()


@pytest.fixture(autouse=True)
def empty_data_folder() -> None:
    data_folder().mkdir(parents=True, exist_ok=True)
