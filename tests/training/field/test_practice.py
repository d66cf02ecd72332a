"""What an adapter tries by itself becomes lessons: what it solves, and the way on from a call that led nowhere."""

from pathlib import Path

import pytest
from skillstill import chat
from skillstill.models.scripted import ScriptedModel
from skillstill.run import leads
from skillstill.skills.skill import load_skill
from skillstill.types import ToolCall
from skillstill_training.episode import solve
from skillstill_training.field.arms import Asked, PlanArm
from skillstill_training.field.judge import FieldAnswer
from skillstill_training.field.plans import Plan
from skillstill_training.field.practice import Practice
from skillstill_training.field.question import FieldQuestion, Gold
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import DatasetConfig
from skillstill_training.stages.dataset import make_dataset
from skillstill_training.stages.traces import make_traces
from skillstill_training.teachers import FIELD, TraceRow
from skillstill_training.util.jsonl import write_lines

from tests.scenes import HANGS, ROOT, SHOP
from tests.training.runs import constructed

pytestmark = pytest.mark.anyio
QUESTION = FieldQuestion(
    id="own/01",
    prompt="how often do we try?",
    gold=Gold(outcome="answer", answer="5", facts=(("5",),)),
    checked="agreed",
)
LOOK = ToolCall(name="search", arguments={"pattern": "attempts"})
NOWHERE = ToolCall(name="search", arguments={"pattern": "tentatives"})
PLAN = Plan(question=QUESTION.id, calls=(LOOK,), answer="5 (r1).")


async def practised(settings: Path, *calls: ToolCall, answer: str) -> TraceRow:
    """What is learned if the student makes these calls and says that."""
    skill = load_skill(settings)
    student = PlanArm(skill, {QUESTION.id: Plan(question=QUESTION.id, calls=calls, answer=answer)})
    practice = Practice(student, PlanArm(skill, {QUESTION.id: PLAN}), {QUESTION.id: QUESTION})
    return await practice.attempt(QUESTION, SHOP)


async def test_what_it_solves_is_kept_as_it_did_it(settings: Path) -> None:
    row = await practised(settings, NOWHERE, LOOK, answer="5 (r2).")
    assert row.kept
    assert row.trace
    assert [turn.calls for turn in row.trace.messages if turn.calls] == [(NOWHERE,), (LOOK,)]
    assert not any(turn.mistaken for turn in row.trace.messages)


async def test_after_a_call_that_led_nowhere_the_plan_leads_on(settings: Path) -> None:
    row = await practised(settings, NOWHERE, answer="There is none (r1).")
    assert row.kept
    assert row.trace
    assert [(turn.calls, turn.mistaken) for turn in row.trace.messages if turn.calls] == [
        ((NOWHERE,), True),
        ((LOOK,), False),
    ]
    assert row.trace.report.answer == "5 (r2)."


async def test_a_wrong_answer_after_a_call_that_found_something_teaches_nothing(settings: Path) -> None:
    row = await practised(settings, LOOK, answer="7 (r1).")
    assert (row.kept, row.reason.partition(":")[0]) == (False, "wrong")


async def test_a_mistake_is_read_in_training_and_not_learned(settings: Path, frozen: RunFolder) -> None:
    await make_traces(settings, frozen, constructed(settings))
    write_lines(frozen.practice, [await practised(settings, NOWHERE, answer="There is none (r1).")])
    dataset = make_dataset(settings, frozen, DatasetConfig(abstain=0))
    (sample,) = [sample for sample in dataset.samples if sample.family == FIELD]
    segments = chat.render(sample.messages, chat.LINES, sample.tools)
    learned = "".join(segment.text for segment in segments if segment.learned)
    read = "".join(segment.text for segment in segments if not segment.learned)
    assert "tentatives" in read
    assert "tentatives" not in learned
    assert "attempts" in learned


async def test_what_is_read_off_in_place_of_a_withheld_answer_is_not_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leads, "SECONDS", HANGS)
    skill = load_skill(ROOT / "skills" / "explore")
    asked = Asked(id=QUESTION.id, prompt="where is it set how many attempts a request of the client has?")
    withheld = Plan(question=QUESTION.id, calls=(), answer="nowhere.py:3: attempts = 5")
    read = await solve(asked, skill, ScriptedModel([withheld.answer]), SHOP, "student")
    assert FieldAnswer.of_trace(read).status == "answered", "a caller is told the likeliest lines"
    row = await PlanArm(skill, {QUESTION.id: withheld}).solve(asked, SHOP)
    assert row.answer.status == "escalate"
