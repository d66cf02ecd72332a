"""`delegate` through a real client: one tool for all subagents, the same reports, and a quick no."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from skillstill.models.scripted import call
from skillstill.routing.experience import Count, experience
from skillstill.run import store
from skillstill.server import build
from skillstill.server.delegating import NAME, Expose, tool

from tests.scenes import HANGS, Scripted, tools_with, write

pytestmark = pytest.mark.anyio
LOOK = call("search", pattern="class Cart")
CLAIM = "Cart is defined in shop/cart.py:1."
QUESTION = "where is the class Cart defined?"
MOST_TOKENS = 270


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path, {"shop/cart.py": "class Cart(dict):\n    pass\n", "shop/stock.py": "", "logs/app.log": ""})


async def delegated(runtime: Any, project: Path, **arguments: Any) -> Any:
    async with Client(build(runtime, project, expose="delegate"), mode="2026-07-28") as client:
        return await client.call_tool(NAME, arguments)


@pytest.mark.parametrize(
    ("expose", "names"),
    [("each", tools_with()), ("delegate", [NAME, "feedback"]), ("both", [NAME, *tools_with()])],
)
async def test_what_is_exposed_is_what_is_listed(
    scripted: Scripted, project: Path, expose: Expose, names: list[str]
) -> None:
    async with Client(build(scripted([]), project, expose=expose), mode="2026-07-28") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == names


async def test_the_answer_names_the_subagent_and_has_the_form_of_its_reports(scripted: Scripted, project: Path) -> None:
    result = await delegated(scripted([LOOK, CLAIM]), project, task=QUESTION)
    assert result.structured_content == {
        "answer": CLAIM,
        "status": "answered",
        "evidence": ["shop/cart.py:1"],
        "subagent": "explore",
    }
    assert json.loads(result.content[0].text) == result.structured_content
    assert experience(project) == {"explore": Count(answered=1)}


async def test_a_task_for_none_is_handed_back_without_a_run_and_with_places(
    scripted: Scripted, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillstill.run.leads.SECONDS", HANGS)
    result = await delegated(scripted([]), project, task="Refactor the Cart class and add unit tests for it")
    content = result.structured_content
    assert (content["status"], content["subagent"]) == ("escalate", NAME)
    assert content["answer"].startswith("escalate: no subagent fits")
    assert any("shop/cart.py" in lead for lead in content["leads"])
    assert store.load("last").skill == NAME


async def test_places_that_were_not_looked_for_in_time_are_told_in_a_sentence(
    scripted: Scripted, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillstill.run.leads.SECONDS", 0.0)
    result = await delegated(scripted([]), project, task="Refactor the Cart class and add unit tests for it")
    assert result.structured_content["answer"].endswith("\n(The index was not searched for likely places in time.)")
    assert "leads" not in result.structured_content


async def test_a_part_of_the_folder_decides_for_that_part(scripted: Scripted, project: Path) -> None:
    result = await delegated(scripted(["escalate: no"]), project, task="how many came first?", workspace="logs")
    assert result.structured_content["subagent"] == "logs"


@pytest.mark.parametrize("arguments", [{}, {"task": ""}, {"task": "a", "workspace": "../.."}, {"prompt": "a"}])
async def test_a_wrong_call_is_told_in_a_sentence(scripted: Scripted, project: Path, arguments: dict[str, str]) -> None:
    result = await delegated(scripted([]), project, **arguments)
    assert result.is_error
    assert "Traceback" not in result.content[0].text


async def test_it_is_no_tool_unless_it_is_exposed(scripted: Scripted, project: Path) -> None:
    async with Client(build(scripted([]), project), mode="2026-07-28") as client:
        with pytest.raises(Exception, match="no subagent called 'delegate'"):
            await client.call_tool(NAME, {"task": QUESTION})


def test_its_definition_is_small_whatever_is_installed() -> None:
    """A token of code-like text has more than three characters."""
    shown = tool(may_write=False).model_dump(
        by_alias=True, exclude_none=True, include={"name", "description", "input_schema"}
    )
    assert len(json.dumps(shown)) / 3 < MOST_TOKENS
