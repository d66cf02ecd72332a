"""One goal in the loop that ships: what is judged is what a caller reads."""

from pathlib import Path

import pytest
from skillstill.models.scripted import ScriptedModel, call
from skillstill_training.authoring.checks import Quoted
from skillstill_training.episode import judge_trace, solve

from tests.scenes import write
from tests.training.teachers.toy import SKILL, goal

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("line", "passed"), [("END = 'stop here'", True), ("END = '<|im_end|>'", False)])
async def test_a_goal_is_solved_only_by_what_its_caller_reads(tmp_path: Path, line: str, passed: bool) -> None:
    asked = goal(1, "What is END?", Quoted(gold=line))
    model = ScriptedModel([call("search", pattern="END"), f"{line} (r1)"])
    trace = await solve(asked, SKILL, model, write(tmp_path, {"a.py": f"{line}\n"}), "scripted")
    assert line in trace.report.answer, "the loop itself leaves it as it is"
    assert judge_trace(asked, trace).passed is passed
