"""What the tools answer on the fixture workspaces is part of the serving hash: a change must be meant."""

import difflib
import json
from typing import Any

import pytest
from skillstill.contract.goldens import goldens
from skillstill.errors import Refusal
from skillstill.tools import TOOLS
from skillstill.workspace import Workspace

from tests.scenes import SHOP

pytestmark = pytest.mark.anyio
FIXTURES = SHOP.parent
CALLS = [(name, call) for name, calls in goldens().items() for call in calls]


@pytest.mark.parametrize(
    ("name", "call"), CALLS, ids=[f"{name}-{json.dumps(call['arguments'])}" for name, call in CALLS]
)
async def test_a_tool_answers_as_it_did_when_adapters_were_trained(name: str, call: dict[str, Any]) -> None:
    try:
        result = await TOOLS[name].call(Workspace(FIXTURES / call["workspace"]), call["arguments"])
        spans = "\n".join(f"{span.path}:{span.first}-{span.last}" for span in result.spans)
        now = {"result": result.text, "missed": result.missed, "spans": spans}
    except Refusal as refusal:
        now = {"refusal": str(refusal)}
    before = {key: call.get(key, "") for key in now}
    if "spans" in before:
        before["spans"] = "\n".join(f"{path}:{first}-{last}" for path, first, last in before["spans"])
    assert now == before, (
        f"{name}({json.dumps(call['arguments'])}) answers differently; if that is meant, run scripts/golden\n"
        + "\n".join(difflib.ndiff(lines_of(before), lines_of(now)))
    )


def lines_of(answer: dict[str, str]) -> list[str]:
    return [line for kind, text in answer.items() for line in (f"[{kind}]", *text.split("\n"))]


def test_every_tool_has_golden_answers_and_at_least_one_refusal() -> None:
    assert list(goldens()) == list(TOOLS)
    for calls in goldens().values():
        assert len(calls) >= 6
        assert any("refusal" in call for call in calls)
