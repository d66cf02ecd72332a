"""The tools that a run about logs begins with: what the folder holds, and the likeliest lines for a question."""

from pathlib import Path

import pytest
from skillstill.facts.readers import BUNDLED
from skillstill.tools.facts.tools import tools_of
from skillstill.tools.kit.tool import Result
from skillstill.workspace import Workspace

from tests.scenes import write

pytestmark = pytest.mark.anyio
LOG = """\
2026-03-01 10:00:00,100 - orders.api - INFO - order 17 accepted after=20ms
2026-03-01 10:00:05,200 - orders.api - ERROR - payment refused order=17
"""


async def asked(name: str, root: Path, **arguments: str) -> Result:
    tool = next(one for one in tools_of((BUNDLED["logs"],)) if one.name == name)
    return await tool.call(Workspace(root), arguments)


async def overview(root: Path) -> list[str]:
    return (await asked("overview", root)).text.split("\n")


async def likeliest(root: Path, text: str) -> list[str]:
    return (await asked("likeliest", root, text=text)).text.split("\n")


async def test_logs_are_shown_with_times_levels_components_and_other_files(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"orders.log": LOG, "notes.txt": "nothing of note\n"})
    shown = await overview(root)
    assert shown[0] == "orders.log: python, 2 entries, 2026-03-01 10:00:00 to 2026-03-01 10:00:05"
    assert "no logs: notes.txt" in shown
    assert "level: ERROR 1, INFO 1" in shown
    assert "component: orders.api 2" in shown


async def test_fields_are_shown_by_the_names_that_a_query_asks_for_with_their_values(tmp_path: Path) -> None:
    shown = await overview(write(tmp_path / "root", {"orders.log": LOG * 3}))
    assert {"name order (number) 6: 17", "name after (duration_ms) 3: 20"} <= {*shown}


async def test_the_commonest_messages_are_shown_with_how_often_they_stand_there(tmp_path: Path) -> None:
    many = "".join(LOG.replace("17", str(number)) for number in range(5))
    shown = await overview(write(tmp_path / "root", {"orders.log": many}))
    assert any(line.startswith("5 payment refused") for line in shown), shown


async def test_of_many_logs_the_largest_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {f"{name}.log": LOG * (1 + (name == "big")) for name in ("big", *"abcdefghij")})
    shown = await overview(root)
    assert shown[0].startswith("big.log: python, 4 entries")
    assert "… 5 more logs" in shown


async def test_a_file_whose_lines_fit_no_format_is_said_to_be_one(tmp_path: Path) -> None:
    shown = await overview(write(tmp_path / "root", {"odd.log": "ab\ncd\nef\n"}))
    assert shown[0] == "odd.log: no known format, 0 entries, 3 lines unread"


async def test_the_likeliest_lines_are_shown_one_of_each_kind(tmp_path: Path) -> None:
    many = "".join(LOG.replace("17", str(number)) for number in range(5))
    shown = await likeliest(write(tmp_path / "root", {"orders.log": many}), "was a payment refused?")
    assert shown[0].endswith("orders.api - ERROR - payment refused order=0 (5 times)")
    assert sum("payment refused" in line for line in shown) == 1


async def test_words_of_a_question_that_stand_in_no_file_are_named(tmp_path: Path) -> None:
    shown = await likeliest(write(tmp_path / "root", {"orders.log": LOG}), "was a payment refunded by Visa?")
    assert shown[-1] == "in no file: refunded, Visa"


async def test_what_a_run_begins_with_is_a_guess(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"orders.log": LOG})
    assert (await asked("overview", root)).guess
    assert (await asked("likeliest", root, text="payment")).guess
