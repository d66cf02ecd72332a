"""What the tools answer on the fixture workspaces is part of the serving hash: a change must be meant."""

import difflib
import json

import pytest
from skillstill.errors import Refusal
from skillstill.tools import BUNDLED, TOOLS, GoldenCall, bundled_toolset, bundled_toolsets
from skillstill.workspace import Workspace

from tests.scenes import SHOP

pytestmark = pytest.mark.anyio
FIXTURES = SHOP.parent
GOLDENS = {name: calls for toolset in bundled_toolsets() for name, calls in toolset.goldens.items()}
CALLS = [(name, call) for name, calls in GOLDENS.items() for call in calls]


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[f"{name}-{json.dumps(call.arguments)}" for name, call in CALLS])
async def test_a_tool_answers_as_it_did_when_adapters_were_trained(name: str, call: GoldenCall) -> None:
    try:
        result = await TOOLS[name].call(Workspace(FIXTURES / call.workspace), call.arguments)
        spans = "\n".join(f"{span.path}:{span.first}-{span.last}" for span in result.spans)
        now = {"result": result.text, "missed": result.missed, "spans": spans}
    except Refusal as refusal:
        now = {"refusal": str(refusal)}
    told = {**call.model_dump(), "spans": "\n".join(f"{path}:{first}-{last}" for path, first, last in call.spans)}
    before = {key: told[key] for key in now}
    assert now == before, (
        f"{name}({json.dumps(call.arguments)}) answers differently; if that is meant, run scripts/golden\n"
        + "\n".join(difflib.ndiff(lines_of(before), lines_of(now)))
    )


def lines_of(answer: dict[str, str]) -> list[str]:
    return [line for kind, text in answer.items() for line in (f"[{kind}]", *text.split("\n"))]


def test_every_tool_has_golden_answers_and_at_least_one_refusal() -> None:
    assert list(GOLDENS) == list(TOOLS)
    for calls in GOLDENS.values():
        assert len(calls) >= 6
        assert any(call.refusal for call in calls)


def test_each_tool_is_found_in_its_toolset() -> None:
    assert {name: [tool.name for tool in bundled_toolset(name).tools] for name in BUNDLED} == {
        name: [*tools] for name, tools in BUNDLED.items()
    }
