"""Plans for field questions are executed and judged with the traces, and those that are right become samples."""

from pathlib import Path

import pytest
from skillstill.errors import GateError, StageError
from skillstill.types import ToolCall
from skillstill_training.field.plans import Plan
from skillstill_training.field.question import FieldQuestion, Gold
from skillstill_training.field.rewordings import Rewording
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import DatasetConfig
from skillstill_training.stages.dataset import make_dataset
from skillstill_training.stages.traces import make_traces
from skillstill_training.teachers import FIELD, TraceRow
from skillstill_training.teachers.batch import TeachingProgress
from skillstill_training.util.jsonl import read_lines, write_lines
from skillstill_training.workspaces import tree

from tests.scenes import SHOP, write
from tests.training.runs import constructed

pytestmark = pytest.mark.anyio
LOOK = ToolCall(name="search", arguments={"pattern": "attempts"})
PLANS = (Plan(question="own/01", calls=(LOOK,), answer="4 (r1)."),)


def question(name: str, prompt: str, fact: str, *places: str) -> FieldQuestion:
    gold = Gold(outcome="answer", answer=fact, facts=((fact,),), places=places)
    return FieldQuestion(id=name, prompt=prompt, gold=gold, checked="agreed")


def with_plans(settings: Path, *plans: Plan) -> Path:
    """The skill with two field questions for training, and these plans."""
    source = f'[[workspace]]\nname = "own"\nsplit = "train"\nsource = "folder:{SHOP}"\nsha256 = "{tree.sha256(SHOP)}"\n'
    write(settings, {"field/sources.toml": source})
    asked = [question("own/01", "how many attempts are made?", "4"), question("own/02", "and how long?", "0.5")]
    write_lines(settings / "field" / "questions" / "train.jsonl", asked)
    write_lines(settings / "field" / "plans" / "train.jsonl", plans)
    return settings


async def test_a_plan_that_is_right_becomes_a_sample_and_one_that_is_wrong_a_row_with_a_reason(
    settings: Path, frozen: RunFolder
) -> None:
    right = Plan(question="own/01", calls=(LOOK,), answer="4 (r1).")
    with_plans(settings, right, Plan(question="own/02", calls=(LOOK,), answer="7 (r1)."))
    await make_traces(settings, frozen, constructed(settings))
    kept, wrong = read_lines(frozen.demonstrations, TraceRow)
    assert (kept.goal, kept.kept, kept.reason) == ("own/01", True, "")
    assert (wrong.goal, wrong.kept) == ("own/02", False)
    assert wrong.reason.startswith("wrong: ")
    dataset = make_dataset(settings, frozen, DatasetConfig(abstain=0))
    (sample,) = [sample for sample in dataset.samples if sample.family == FIELD]
    assert sample.messages[1].content == "how many attempts are made?"
    assert [call.name for turn in sample.messages for call in turn.calls] == ["search"]


async def test_a_plan_that_looks_for_what_nobody_said_or_showed_is_not_learned(
    settings: Path, frozen: RunFolder
) -> None:
    with_plans(settings, *PLANS)
    asked = [question("own/01", "how often do we try?", "4")]
    write_lines(settings / "field" / "questions" / "train.jsonl", asked)
    await make_traces(settings, frozen, constructed(settings))
    (row,) = read_lines(frozen.demonstrations, TraceRow)
    assert (row.kept, row.reason) == (False, "nobody could know it")
    write_lines(settings / "field" / "plans" / "train.jsonl", [one.model_copy(update={"tried": True}) for one in PLANS])
    await make_traces(settings, frozen, constructed(settings))
    (row,) = read_lines(frozen.demonstrations, TraceRow)
    assert row.kept


async def test_a_question_is_learned_in_all_its_wordings(settings: Path, frozen: RunFolder) -> None:
    with_plans(settings, *PLANS)
    asked = [question("own/01", "how many attempts are made?", "4")]
    write_lines(settings / "field" / "questions" / "train.jsonl", asked)
    other = Rewording(question="own/01", texts=("attempts?", "Tell me the default of `attempts`."))
    write_lines(settings / "field" / "rewordings" / "train.jsonl", [other])
    await make_traces(settings, frozen, constructed(settings))
    rows = read_lines(frozen.demonstrations, TraceRow)
    assert [row.trace.prompt for row in rows if row.trace] == ["how many attempts are made?", *other.texts]
    assert all(row.kept for row in rows)


async def test_an_interrupted_stage_goes_on_with_the_next_question_and_changed_plans_begin_anew(
    settings: Path, frozen: RunFolder
) -> None:
    with_plans(settings, *PLANS, Plan(question="own/02", calls=(LOOK,), answer="4 (r1)."))

    def stop(progress: TeachingProgress) -> None:
        raise StageError("stopped")

    with pytest.raises(StageError, match="stopped"):
        await make_traces(settings, frozen, constructed(settings), at_once=1, on_progress=stop)
    assert [row.goal for row in read_lines(frozen.part(FIELD), TraceRow)] == ["own/01"]
    await make_traces(settings, frozen, constructed(settings), at_once=1)
    assert [row.goal for row in read_lines(frozen.demonstrations, TraceRow)] == ["own/01", "own/02"]
    asked = [question("own/01", "how many attempts are made?", "4")]
    write_lines(settings / "field" / "plans" / "train.jsonl", PLANS)
    write_lines(settings / "field" / "questions" / "train.jsonl", asked)
    await make_traces(settings, frozen, constructed(settings), at_once=1)
    assert [row.goal for row in read_lines(frozen.demonstrations, TraceRow)] == ["own/01"]


async def test_what_the_first_result_shows_is_quoted_and_what_nothing_shows_is_handed_back(
    settings: Path, frozen: RunFolder
) -> None:
    told = (settings / "subagent.toml").read_text().replace('["search"]', '["locate", "search"]')
    opening = 'readers = ["code"]\nopening = { tool = "locate", prompt = "text" }\n'
    write(settings, {"subagent.toml": opening + told})
    with_plans(settings, *(Plan(question=name, calls=(LOOK,), answer="8.0 (r2).") for name in ("own/01", "own/02")))
    asked = [
        question("own/01", "what is the maximum of seconds to wait?", "8.0", "shop/retry.py:10"),
        question("own/02", "and whose idea was it?", "nobody", "shop/retry.py:1"),
    ]
    write_lines(settings / "field" / "questions" / "train.jsonl", asked)
    await make_traces(settings, frozen, constructed(settings))
    quoted, handed_back = (row.trace for row in read_lines(frozen.demonstrations, TraceRow))
    assert quoted
    assert handed_back
    assert quoted.messages[-1].content == "shop/retry.py:10: MAX_SECONDS = 8.0"
    assert handed_back.messages[-1].content == "escalate: none of the likeliest places says it."
    samples = make_dataset(settings, frozen, DatasetConfig(abstain=0)).samples
    absent = {goal.id for goal in frozen.frozen_goals() if goal.absent}
    abstaining = 1 + sum(sample.goal in absent for sample in samples)
    make_dataset(settings, frozen, DatasetConfig(abstain=abstaining / len(samples)))
    with pytest.raises(GateError, match="of the samples abstain"):
        make_dataset(settings, frozen, DatasetConfig(abstain=(abstaining + 1) / len(samples)))


async def test_a_plan_for_a_question_that_is_not_taught_ends_the_stage(settings: Path, frozen: RunFolder) -> None:
    with_plans(settings, Plan(question="own/03", calls=(), answer="escalate: no"))
    with pytest.raises(StageError, match="there is a plan or a rewording for own/03, which is no training question"):
        await make_traces(settings, frozen, constructed(settings))
