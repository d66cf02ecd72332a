"""The tool `overview`: what a folder of logs holds, before anybody asks for more."""

from pathlib import Path

import pytest
from skillstill.facts.readers import BUNDLED
from skillstill.tools.facts.tools import tools_of
from skillstill.workspace import Workspace

from tests.scenes import write

pytestmark = pytest.mark.anyio
LOG = """\
2026-03-01 10:00:00,100 - orders.api - INFO - order 17 accepted after=20ms
2026-03-01 10:00:05,200 - orders.api - ERROR - payment refused order=17
"""


async def overview(root: Path, text: str) -> str:
    tool = next(one for one in tools_of((BUNDLED["logs"],)) if one.name == "overview")
    return (await tool.call(Workspace(root), {"text": text})).text


async def test_it_names_logs_with_their_times_levels_and_fields_and_other_files(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"orders.log": LOG, "notes.txt": "nothing of note\n"})
    shown = (await overview(root, "was a payment refused?")).split("\n")
    assert shown[0] == "orders.log: python, 2 entries, 2026-03-01 10:00:00 to 2026-03-01 10:00:05"
    assert "no logs: notes.txt" in shown
    assert "levels: ERROR 1, INFO 1" in shown
    assert "orders.log:2: 2026-03-01 10:00:05,200 - orders.api - ERROR - payment refused order=17" in shown


async def test_of_many_logs_the_largest_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {f"{name}.log": LOG * (1 + (name == "big")) for name in ("big", *"abcdefghij")})
    shown = (await overview(root, "payment")).split("\n")
    assert shown[0].startswith("big.log: python, 4 entries")
    assert "… 8 more logs" in shown


async def test_a_place_that_it_shows_is_a_guess(tmp_path: Path) -> None:
    tool = next(one for one in tools_of((BUNDLED["logs"],)) if one.name == "overview")
    result = await tool.call(Workspace(write(tmp_path / "root", {"orders.log": LOG})), {"text": "payment"})
    assert result.guess
