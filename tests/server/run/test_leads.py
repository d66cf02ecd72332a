"""Leads: what whoever goes on with a question is handed, from the results of the run and from the index."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import anyio
import pytest
from pydantic import Field
from skillstill.errors import SkillstillError
from skillstill.facts.readers import BUNDLED
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import leads, loop
from skillstill.run.finish import finish, finish_with_index
from skillstill.server.wire import tool_result
from skillstill.skills.registry import Registry
from skillstill.skills.skill import Opening, Skill
from skillstill.tools import TOOLS, Line, Result, Tool, tool
from skillstill.types import LEAD_CHARACTERS, LEADS_HEADING, Lead, Report, Span, Trace
from skillstill.workspace import Workspace

from tests.scenes import HANGS, Scripted, write

pytestmark = pytest.mark.anyio
PROMPT = "how long do we wait before we try again?"
FILES = {
    "shop/retry.py": "def wait_again(tries: int) -> float:\n    return 0.5 * tries\n",
    "shop/cart.py": "class Cart(dict):\n    items = 3\n",
}
LOOK = call("search", pattern="class Cart")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "w", FILES)


@pytest.fixture
def asking() -> Skill:
    """A skill that has an index."""
    return Registry().entry("explore").skill().model_copy(update={"readers": (BUNDLED["code"],)})


def begin(lead: Lead) -> str:
    return f"{lead.path}:{lead.line}"


async def solved(skill: Skill, root: Path, *turns: Any, tools: list[Tool] | None = None) -> Trace:
    brief = loop.Brief(skill, PROMPT, "system")
    return await loop.run(brief, nullcontext(ScriptedModel(turns)), Workspace(root), tools=tools)


async def reported(skill: Skill, root: Path, *turns: Any) -> Report:
    return (await finish_with_index(await solved(skill, root, *turns), skill, Workspace(root), None)).report


async def locate(workspace: Workspace, text: Annotated[str, Field(min_length=1)]) -> Result:
    """Guess where a text leads."""
    found = [Line.at("shop/retry.py", 1, "wait_again: def"), Line.at("shop/cart.py", 2, "items")]
    return Result((Line("likeliest places:"), *found), guess=True)


GUESSING = [tool(locate), TOOLS["search"], TOOLS["read"]]


async def test_a_hand_over_leads_to_the_ranked_places_then_to_the_first_of_each_other_result(root: Path) -> None:
    skill = Registry().entry("explore").skill()
    turns = (call("read", path="shop/cart.py"), LOOK, call("locate", text=PROMPT), "escalate: I cannot tell")
    report = finish(await solved(skill, root, *turns, tools=GUESSING)).report
    places = ["shop/retry.py:1", "shop/cart.py:2", "shop/cart.py:1"]
    assert [begin(lead) for lead in report.leads][:3] == places
    assert report.leads[0] == Lead(path="shop/retry.py", line=1, text="wait_again: def")
    assert report.text.split("\n")[1:3] == [LEADS_HEADING, "shop/retry.py:1: wait_again: def"]


async def test_a_line_that_is_shown_for_the_lines_around_it_leads_to_all_of_them(root: Path) -> None:
    async def locate(workspace: Workspace, text: Annotated[str, Field(min_length=1)]) -> Result:
        """Guess where a text leads."""
        shown = replace(Line.at("shop/cart.py", 2, "items"), spans=(Span(path="shop/cart.py", first=1, last=2),))
        return Result((Line("likeliest places:"), shown), guess=True)

    skill = Registry().entry("explore").skill()
    turns = (call("locate", text=PROMPT), "escalate: I cannot tell")
    report = finish(await solved(skill, root, *turns, tools=[tool(locate)])).report
    assert report.leads == (Lead(path="shop/cart.py", line=1, last=2, text="items"),)


async def test_other_lines_of_a_lead_are_no_leads_of_their_own(root: Path) -> None:
    async def locate(workspace: Workspace, text: Annotated[str, Field(min_length=1)]) -> Result:
        """Guess where a text leads."""
        best = replace(Line.at("shop/cart.py", 2, "items"), spans=(Span(path="shop/cart.py", first=1, last=2),))
        return Result((best, Line.at("shop/cart.py", 1, "class"), Line.at("shop/retry.py", 2, "return")), guess=True)

    skill = Registry().entry("explore").skill()
    turns = (call("locate", text=PROMPT), "escalate: I cannot tell")
    report = finish(await solved(skill, root, *turns, tools=[tool(locate)])).report
    assert [lead.place for lead in report.leads] == ["shop/cart.py:1-2", "shop/retry.py:2"]


@pytest.mark.parametrize("last", ["escalate: I cannot tell", "There is none (r1)."])
async def test_what_the_run_has_not_shown_the_index_adds(asking: Skill, root: Path, last: str) -> None:
    report = await reported(asking, root, call("search", pattern="unicorn"), last)
    assert report.leads[0].place == "shop/retry.py:1-2", "the whole function, for that is where to look"
    assert "wait_again" in report.leads[0].text


async def test_an_unsure_answer_has_leads_and_a_sure_one_none(asking: Skill, root: Path) -> None:
    sure, unsure = "class Cart is at shop/cart.py:1", "class Cart is at shop/cart.py:1, since 4711"
    assert (await reported(asking, root, LOOK, sure)).leads == ()
    report = await reported(asking, root, LOOK, unsure)
    assert [begin(lead) for lead in report.leads][:2] == ["shop/cart.py:1", "shop/retry.py:1"]


@pytest.mark.parametrize("error", [SkillstillError("the index cannot be kept"), ZeroDivisionError()])
async def test_a_run_ends_well_if_the_index_cannot_be_had(
    asking: Skill, root: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr("skillstill.tools.facts.leads._is_fresh", broken)
    report = await reported(asking, root, LOOK, "escalate: I cannot tell")
    assert [begin(lead) for lead in report.leads] == ["shop/cart.py:1"]


async def test_nobody_waits_for_an_index_that_is_read_for_long(
    asking: Skill, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leads, "SECONDS", 0.0)
    with anyio.fail_after(HANGS):
        report = await reported(asking, root, "escalate: I cannot tell")
    assert report.leads == ()


async def test_of_tables_the_columns_lead_that_share_words_with_the_question(tmp_path: Path) -> None:
    root = write(tmp_path / "w", {"pauses.csv": "name,wait\nfirst,30\nsecond,60\n", "colours.csv": "name\nred\n"})
    skill = Registry().entry("tables").skill()
    report = finish(await solved(skill, root, call("describe", table="pauses"), "escalate: I cannot tell")).report
    assert report.leads[0].path == "pauses.csv"
    assert "wait INTEGER: 2 distinct" in report.leads[0].text
    assert "colours" not in report.text


@pytest.mark.parametrize(("arguments", "line"), [({}, 2), ({"line": 1}, 1)])
async def test_of_a_part_of_a_file_the_line_leads_that_was_asked_for_else_the_likeliest(
    tmp_path: Path, arguments: dict[str, int], line: int
) -> None:
    root = write(tmp_path / "w", {"a.py": "import time\nWAIT = 3\nTRIES = 2\n"})
    skill = Registry().entry("explore").skill()
    report = finish(await solved(skill, root, call("read", path="a.py", **arguments), "escalate: no")).report
    assert [begin(lead) for lead in report.leads] == [f"a.py:{line}"]


async def test_leads_are_short_and_only_text(tmp_path: Path) -> None:
    root = write(tmp_path / "w", {"a.py": f"wait = '<|im_end|>{'x' * 300}'\n"})
    skill = Registry().entry("explore").skill()
    report = finish(await solved(skill, root, call("read", path="a.py"), "escalate: I cannot tell")).report
    assert "< |im_end|>" in report.leads[0].text
    assert len(report.leads[0].text) == LEAD_CHARACTERS
    assert Report.model_validate_json(report.model_dump_json()) == report


async def test_a_client_gets_leads_in_a_field_of_their_own_and_only_if_there_are_any(
    scripted: Scripted, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leads, "SECONDS", 0)  # without the index
    handed, sure = [
        tool_result(await scripted([LOOK, last]).run("explore", "Where is Cart?", root)).structured_content or {}
        for last in ("escalate: I cannot tell", "shop/cart.py:1: class Cart(dict):")
    ]
    assert handed["leads"] == ["shop/cart.py:1: class Cart(dict):"]
    assert LEADS_HEADING not in handed["answer"], "it is not said twice"
    assert "leads" not in sure


async def test_a_line_that_the_run_and_the_index_name_is_one_lead_with_all_that_it_spans(root: Path) -> None:
    trace = await solved(Registry().entry("explore").skill(), root, LOOK, "escalate: I cannot tell")
    indexed = Lead(path="shop/cart.py", line=1, last=2, text="Cart: class Cart(dict):")
    report = finish(trace.model_copy(update={"index_leads": (indexed,)})).report
    assert [lead.place for lead in report.leads] == ["shop/cart.py:1-2"]


async def test_the_question_is_not_told_again_as_what_was_tried(root: Path) -> None:
    skill = Registry().entry("explore").skill()
    subagent = skill.subagent.model_copy(update={"opening": Opening(tool="locate", prompt="text")})
    opened = skill.model_copy(update={"subagent": subagent})
    handed = finish(await solved(opened, root, LOOK, "escalate: I cannot tell", tools=GUESSING)).report
    assert "Tried: locate(); search(class Cart)." in handed.answer
    told = finish(await solved(opened, root, LOOK, "Cart is in shop/cart.py (r1, r2).", tools=GUESSING)).report
    assert told.sources == ("r1: locate()", "r2: search(class Cart)")
