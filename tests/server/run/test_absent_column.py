"""What no table has is told, if a query asked for it in the words of the question."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import loop
from skillstill.run.finish import UNSURE, finish
from skillstill.skills.registry import Registry
from skillstill.types import Report
from skillstill.workspace import Workspace

pytestmark = pytest.mark.anyio
SHELF = Path(__file__).parents[2] / "fixtures" / "shelf"


async def _asked(prompt: str, query: str) -> Report:
    skill = Registry().entry("tables").skill().sized("0.5b")
    turns = ScriptedModel([call("select", query=query), "There is none (r3)."])
    trace = await loop.run(loop.Brief(skill, prompt, "system"), nullcontext(turns), Workspace(SHELF))
    return finish(trace).report


async def test_a_column_that_is_asked_for_and_stands_in_no_table_is_told() -> None:
    report = await _asked("What is the publisher of The Blue Engine?", "select publisher from book")
    assert (report.answer, report.status) == ('No table has a column "publisher".', "answered")
    assert UNSURE in report.notes, "another column may be meant"


@pytest.mark.parametrize(
    ("prompt", "query"),
    [
        ("Who made The Blue Engine?", "select publisher from book"),  # the model's own idea
        ("In which country do they read?", "select country from loans"),  # a column of another table
        ("Which publishers are there?", "select count(*) frm book"),
    ],
)
async def test_what_another_table_has_or_nobody_asked_for_is_handed_back(prompt: str, query: str) -> None:
    assert (await _asked(prompt, query)).status == "escalate"
