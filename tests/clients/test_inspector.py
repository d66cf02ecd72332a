"""The Inspector's command line: what its users see, how portable the schemas are, how calls bear load."""

from pathlib import Path

import pytest

from tests.clients.counterparts import serving
from tests.clients.programs import CALL, Inspector, load, over_http, over_stdio
from tests.scenes import tools_with

pytestmark = pytest.mark.clients
TOKEN = "a-token-for-this-test-alone"
ERAS = ["legacy", "modern"]


@pytest.fixture
def inspector(tmp_path: Path, workspace: Path) -> Inspector:
    return over_stdio(tmp_path, workspace)


@pytest.mark.parametrize("era", ERAS)
def test_the_tool_list_has_no_portability_problem(era: str, inspector: Inspector) -> None:
    listed = inspector.result("--method", "tools/list", "--strict", era=era)
    assert [tool["name"] for tool in listed["tools"]] == tools_with()


@pytest.mark.parametrize("era", ERAS)
def test_a_call_over_stdio_gives_the_report(era: str, inspector: Inspector) -> None:
    report = inspector.result(*CALL, era=era)["structuredContent"]
    assert report["status"] == "answered"
    assert report["evidence"] == ["cart.py:3"]


@pytest.mark.parametrize("era", ERAS)
def test_a_call_over_http_with_the_token_gives_the_report(era: str, tmp_path: Path, workspace: Path) -> None:
    with serving(tmp_path, workspace, "--token", TOKEN) as url:
        inspector = over_http(tmp_path, url, {"Authorization": f"Bearer {TOKEN}"})
        assert inspector.result(*CALL, era=era)["structuredContent"]["status"] == "answered"


def test_fifty_calls_eight_at_a_time_all_succeed(inspector: Inspector) -> None:
    summary = inspector.result(*load(50, 8))
    assert (summary["requests"], summary["ok"]) == (50, 50)
