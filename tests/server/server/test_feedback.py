"""Feedback and follow-ups through a real client: of whose runs, across restarts, and nothing that was not kept."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from skillstill.models.scripted import call
from skillstill.run import store
from skillstill.run.feedback import all_feedback
from skillstill.server import build

from tests.scenes import Scripted, write

pytestmark = pytest.mark.anyio
LOOK = call("search", pattern="class Cart")
CLAIM = "Cart is defined in cart.py:1."
QUESTION = "where is the class Cart defined?"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "project", {"cart.py": "class Cart(dict):\n    pass\n"})


async def called(runtime: Any, project: Path, *calls: tuple[str, dict[str, str]]) -> Any:
    """The result of the last of these calls, made by one client."""
    async with Client(build(runtime, project, expose="both"), mode="2026-07-28") as client:
        return [await client.call_tool(name, arguments) for name, arguments in calls][-1]


async def test_a_caller_says_that_its_last_run_was_wrong_and_what_is_right(scripted: Scripted, project: Path) -> None:
    said = {"verdict": "wrong", "right": "it is in basket.py:3"}
    result = await called(scripted([LOOK, CLAIM]), project, ("explore", {"prompt": QUESTION}), ("feedback", said))
    (kept,) = all_feedback()
    assert (kept.verdict, kept.right, kept.prompt) == ("wrong", "it is in basket.py:3", QUESTION)
    assert result.content[0].text == f'kept: run {kept.run[:12]} of explore was wrong: "{QUESTION}"'


async def test_a_run_of_an_earlier_process_is_found_by_its_id(scripted: Scripted, project: Path) -> None:
    await called(scripted([LOOK, CLAIM]), project, ("explore", {"prompt": QUESTION}))
    first = store.load("last").run
    await called(scripted([LOOK, CLAIM]), project, ("explore", {"prompt": "and its base?", "run": first}))
    assert store.load("last").prompt.startswith(f"{QUESTION}\n\n")
    await called(scripted([]), project, ("feedback", {"verdict": "right", "run": f"run://{first}"}))
    assert [one.run for one in all_feedback()] == [first]


async def test_a_delegated_follow_up_goes_to_the_subagent_of_its_run(scripted: Scripted, project: Path) -> None:
    follow = ("delegate", {"task": "write it", "run": "last"})  # words that alone fit no subagent
    result = await called(scripted([LOOK, CLAIM, LOOK, CLAIM]), project, ("explore", {"prompt": QUESTION}), follow)
    assert result.structured_content["subagent"] == "explore"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("feedback", {"verdict": "maybe"}),
        ("feedback", {"verdict": "wrong", "run": "ffff"}),
        ("explore", {"prompt": "and then?", "run": "last"}),
        ("delegate", {"task": "and then?", "run": "ffff"}),
    ],
)
async def test_a_wrong_call_is_told_in_a_sentence(
    scripted: Scripted, project: Path, name: str, arguments: dict[str, str]
) -> None:
    result = await called(scripted([]), project, (name, arguments))
    assert result.is_error
    assert "Traceback" not in result.content[0].text


async def test_without_traces_there_is_nothing_to_say_it_of(scripted: Scripted, project: Path) -> None:
    runtime = replace(scripted([]), keep_traces=False)
    async with Client(build(runtime, project), mode="2026-07-28") as client:
        assert "feedback" not in [tool.name for tool in (await client.list_tools()).tools]
