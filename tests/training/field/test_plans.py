"""Plans of people who know the answer, for the tools of another size than they were written for."""

from pathlib import Path

import pytest
from skillstill.skills.registry import bundled
from skillstill.skills.skill import Opening, load_skill
from skillstill.types import ToolCall
from skillstill_training.field.arms import Asked, PlanArm
from skillstill_training.field.plans import Plan, plan_for

pytestmark = pytest.mark.anyio
SHELF = Path(__file__).parents[2] / "fixtures" / "shelf"
TABLES = load_skill(bundled() / "skills" / "tables")
PLAN = Plan(
    question="shelf/01",
    calls=(
        ToolCall(name="describe", arguments={"table": "book"}),
        ToolCall(name="sql", arguments={"query": "select count(*) from book"}),
    ),
    answer="40 (r3), of the table book (r2).",
)


def test_a_plan_stays_what_it_is_for_the_tools_that_it_was_written_for() -> None:
    assert plan_for(TABLES, PLAN) == PLAN


async def test_a_plan_is_followed_with_the_tools_of_another_size() -> None:
    skill = TABLES.sized("0.5b")
    row = await PlanArm(skill, {PLAN.question: PLAN}).solve(Asked(id=PLAN.question, prompt="How many books?"), SHELF)
    assert row.trace
    assert [receipt.tool for receipt in row.trace.receipts] == ["tables", "named", "select"]
    assert row.answer.text.startswith("40 (r3), of the table book (r1).")


async def test_a_plan_for_runs_that_begin_otherwise_names_the_receipts_anew(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text("2026-03-01 10:00:00 ERROR disk full\n")
    count = ToolCall(name="query", arguments={"sql": "select count(*) from entries"})
    plan = Plan(question="app/01", calls=(count,), answer="1 (r2).", opening_calls=1)
    skill = load_skill(bundled() / "skills" / "logs")
    begins = {"opening": Opening(tool="overview", shared=True), "hint": Opening(tool="likeliest", prompt="text")}
    use = skill.subagent.model_copy(update={"tools": ("overview", "likeliest", "query"), **begins})
    skill = skill.model_copy(update={"subagent": use})
    row = await PlanArm(skill, {plan.question: plan}).solve(Asked(id="app/01", prompt="How many entries?"), tmp_path)
    assert row.trace
    assert [receipt.tool for receipt in row.trace.receipts] == ["overview", "likeliest", "query"]
    assert row.answer.text.startswith("1 (r3).")
