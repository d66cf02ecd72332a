"""The skill `research`: its runs, with a scripted model and the real tools."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import loop
from skillstill.skills.skill import load_skill
from skillstill.types import Message, Trace
from skillstill.workspace import Workspace

from tests.scenes import ROOT
from tests.server.tools.web.scene import LocalWeb

pytestmark = pytest.mark.anyio
MANUAL = ROOT / "tests" / "fixtures" / "manual"


async def run(folder: Path, prompt: str, turns: Sequence[Message | str]) -> Trace:
    skill = load_skill(ROOT / "skills" / "research")
    brief = loop.Brief(skill, prompt, skill.instructions)
    return await loop.run(brief, nullcontext(ScriptedModel(turns)), Workspace(folder))


async def test_a_passage_that_opens_the_run_is_an_answer_with_its_place() -> None:
    quoted = "docs/commands.rst:12: .. option:: --once Read all probes once, print the values and exit."
    trace = await run(MANUAL, "what does --once do", [quoted])
    assert (trace.report.status, trace.report.evidence) == ("answered", ("docs/commands.rst:12",))


async def test_a_passage_that_nobody_showed_is_withheld() -> None:
    trace = await run(MANUAL, "what does --once do", ["docs/commands.rst:40: it does everything twice."])
    assert trace.report.status == "escalate"
    assert "docs/commands.rst:40, which no tool has shown" in trace.report.answer


async def test_that_there_is_none_is_not_believed_of_a_ranking() -> None:
    trace = await run(MANUAL, "what does --twice do", ["There is none (r1 found nothing)."])
    assert trace.report.status == "escalate"


async def test_without_an_endpoint_a_run_has_no_tool_for_the_web() -> None:
    trace = await run(MANUAL, "what does --once do", ["escalate: it is not there."])
    assert [tool.name for tool in trace.tools] == ["passages", "search", "read", "list"]


async def test_with_an_endpoint_a_page_is_quoted_by_its_place(web: LocalWeb) -> None:
    url = f"{web.address}/project/typer"
    place = f"@web/127.0.0.1_{web.port}/project/typer"
    calls = [call("web_search", query="typer install"), call("fetch", url=url, text="pip install typer")]
    shown = await run(MANUAL, "how do I install typer", [*calls, "escalate: to see the lines."])
    line = next(span.first for span in shown.receipts[-1].spans if span.path == place)
    trace = await run(MANUAL, "how do I install typer", [*calls, f"{place}:{line}: pip install typer"])
    assert (trace.report.status, trace.report.evidence) == ("answered", (f"{place}:{line}",))
