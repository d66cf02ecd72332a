"""One goal in the loop that ships: what is judged is what a caller reads."""

from pathlib import Path

import pytest
from skillstill.facts.readers import BUNDLED
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import leads
from skillstill.run.finish import finish, finish_with_index
from skillstill.workspace import Workspace
from skillstill_training.authoring.checks import Quoted
from skillstill_training.episode import judge_trace, solve

from tests.scenes import HANGS, write
from tests.training.teachers.toy import SKILL, goal

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("line", "passed"), [("END = 'stop here'", True), ("END = '<|im_end|>'", False)])
async def test_a_goal_is_solved_only_by_what_its_caller_reads(tmp_path: Path, line: str, passed: bool) -> None:
    asked = goal(1, "What is END?", Quoted(gold=line))
    model = ScriptedModel([call("search", pattern="END"), f"{line} (r1)"])
    trace = await solve(asked, SKILL, model, write(tmp_path, {"a.py": f"{line}\n"}), "scripted")
    assert line in trace.report.answer, "the loop itself leaves it as it is"
    assert judge_trace(asked, trace).passed is passed


async def test_a_run_that_is_measured_has_the_leads_that_its_caller_would_get(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leads, "SECONDS", HANGS)
    skill = SKILL.model_copy(update={"readers": (BUNDLED["code"],)})
    root = write(tmp_path, {"retry.py": "def wait_again() -> float:\n    return 0.5\n"})
    asked = goal(1, "how long do we wait before we try again?", Quoted(gold="0.5"))
    measured = await solve(asked, skill, ScriptedModel(["escalate: I cannot tell"]), root, "scripted")
    served = await finish_with_index(measured.model_copy(update={"index_leads": ()}), skill, Workspace(root), None)
    assert finish(measured).report.leads == served.report.leads
    assert served.report.leads[0].place == "retry.py:1-2"
