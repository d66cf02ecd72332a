"""A folder that has nothing of the kind bears out no absence: it was most likely not meant."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import loop
from skillstill.skills.registry import Registry
from skillstill.types import Message
from skillstill.workspace import Workspace

from tests.scenes import write

pytestmark = pytest.mark.anyio
CODE = {"shop/cart.py": "class Cart:\n    items = 3\n"}


@pytest.mark.parametrize(
    ("name", "files", "look", "why"),
    [
        ("logs", CODE, call("tally", by="level", level="error"), "there are no logs in the workspace"),
        ("logs", {}, call("entries", pattern="refused"), "there are no logs in the workspace"),
        ("explore", {}, call("outline", target="Session"), "there are no files in the workspace"),
        ("explore", {}, call("search", pattern="Session"), "there are no files in the workspace"),
        ("tables", CODE, call("describe"), "there is no table to look in"),
    ],
)
async def test_nothing_is_denied_where_there_is_nothing_to_look_in(
    tmp_path: Path, name: str, files: dict[str, str], look: Message, why: str
) -> None:
    root = write(tmp_path / "w", files)
    root.mkdir(exist_ok=True)
    brief = loop.Brief(Registry().entry(name).skill(), "how many are there?", "system")
    model = ScriptedModel([look, "There is none (r1)."])
    report = (await loop.run(brief, nullcontext(model), Workspace(root))).report
    assert report.status == "escalate"
    assert why in report.answer


async def test_an_absence_in_a_folder_that_has_some_is_an_answer(tmp_path: Path) -> None:
    brief = loop.Brief(Registry().entry("explore").skill(), "where is Session defined?", "system")
    model = ScriptedModel([call("outline", target="Session"), "There is none (r1)."])
    report = (await loop.run(brief, nullcontext(model), Workspace(write(tmp_path, CODE)))).report
    assert (report.status, report.answer) == ("answered", "There is none (r1).")
