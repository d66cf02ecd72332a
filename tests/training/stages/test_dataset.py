"""The stage that chooses what a student learns from."""

from collections import Counter
from pathlib import Path

import pytest
from skillstill.errors import GateError, StageError
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import DatasetConfig, load_recipe
from skillstill_training.stages.dataset import make_dataset
from skillstill_training.teachers import Sample, TraceRow
from skillstill_training.util.jsonl import read_lines, write_lines

pytestmark = pytest.mark.anyio


async def test_samples_are_what_the_tuned_model_will_see(settings: Path, traced: RunFolder) -> None:
    dataset = make_dataset(settings, traced)
    samples = read_lines(traced.dataset, Sample)
    assert tuple(samples) == dataset.samples
    assert {sample.messages[0].content for sample in samples} == {"settings"}
    assert {sample.messages[-1].role for sample in samples} == {"assistant"}
    assert {sample.family for sample in samples} == {"direct", "linked", "beyond"}
    assert dataset.cells["linked/search/2/found"] >= 4
    assert dataset.undeclared == ("beyond/none/0/declined",)


async def test_a_cell_that_is_not_filled_is_named_with_both_numbers(settings: Path, traced: RunFolder) -> None:
    plan = DatasetConfig(cells={"linked/search/3/*": 5})
    with pytest.raises(GateError, match=r"the cell linked/search/3/\* holds 0 samples; the recipe wants at least 5"):
        make_dataset(settings, traced, plan)


async def test_too_few_abstentions_are_refused(settings: Path, traced: RunFolder) -> None:
    with pytest.raises(GateError, match="% of the samples abstain; the recipe wants at least 90%"):
        make_dataset(settings, traced, DatasetConfig(abstain=0.9))


async def test_what_is_refused_can_be_looked_at_and_nobody_trains_on_it(settings: Path, traced: RunFolder) -> None:
    with pytest.raises(GateError):
        make_dataset(settings, traced, DatasetConfig(abstain=0.9))
    assert not traced.dataset.exists()
    assert read_lines(traced.refused, Sample)
    make_dataset(settings, traced)
    assert traced.dataset.exists()
    assert not traced.refused.exists()
    with pytest.raises(GateError):
        make_dataset(settings, traced, DatasetConfig(abstain=0.9))
    assert not traced.dataset.exists(), "an earlier one is of other traces"


async def test_no_wording_has_more_than_its_share(settings: Path, traced: RunFolder) -> None:
    dataset = make_dataset(settings, traced, DatasetConfig(cap=0.15))
    wordings = Counter((sample.family, sample.wording) for sample in dataset.samples)
    assert max(wordings.values()) <= 2
    assert dataset.dropped["above the cap of its wording"] == 48 - len(dataset.samples)


async def test_duplicates_and_what_a_test_asks_are_left_out(settings: Path, traced: RunFolder) -> None:
    rows = list(read_lines(traced.traces, TraceRow))
    tested = next(goal for goal in traced.frozen_goals() if goal.split == "test" and not goal.absent)
    write_lines(traced.traces, [*rows, rows[0], rows[1].model_copy(update={"goal": tested.id})])
    dropped = make_dataset(settings, traced, DatasetConfig(cap=1)).dropped
    assert dropped == {"a duplicate": 1, "not of a training goal": 1}


async def test_attempts_at_a_recorded_goal_that_are_alike_are_learned_once(settings: Path, traced: RunFolder) -> None:
    rows = [row for row in read_lines(traced.traces, TraceRow) if row.trace and row.trace.receipts][:2]
    write_lines(traced.recorded_traces, [*rows, rows[0].model_copy(update={"sample": 1})])
    dataset = make_dataset(settings, traced)
    assert sum(sample.family == "recorded" for sample in dataset.samples) == 2
    assert dataset.dropped["a duplicate"] == 1


async def test_each_turn_says_its_family_and_calls_as_serving_lets_them_through(
    settings: Path, traced: RunFolder
) -> None:
    row, *rows = [row for row in read_lines(traced.traces, TraceRow) if row.trace and row.trace.receipts]
    trace = row.trace
    assert trace
    turned = trace.messages[2].calls[0].model_copy(update={"arguments": {"path": ".", "pattern": "x"}})
    messages = (*trace.messages[:2], trace.messages[2].model_copy(update={"calls": (turned,)}), *trace.messages[3:])
    row = row.model_copy(update={"trace": trace.model_copy(update={"messages": messages})})
    write_lines(traced.traces, [row, *rows])
    plan = DatasetConfig(abstain=0, cap=1, intents={"linked": "direct"})
    samples = make_dataset(settings, traced, plan).samples
    sample = next(sample for sample in samples if sample.goal == row.goal)
    said = {(one.family, turn.intent) for one in samples for turn in one.messages if turn.role == "assistant"}
    assert said >= {("direct", "direct"), ("linked", "direct")}
    assert {turn.intent for turn in sample.messages if turn.role != "assistant"} == {""}
    assert list(sample.messages[2].calls[0].arguments) == ["pattern", "path"], "in the order of the tool's schema"


async def test_without_traces_it_says_what_to_type(settings: Path, frozen: RunFolder) -> None:
    with pytest.raises(StageError, match="type `skillstill traces settings` first"):
        make_dataset(settings, frozen)


def test_the_recipe_of_a_skill_has_a_default_for_everything(tmp_path: Path) -> None:
    recipe = load_recipe(tmp_path)
    assert recipe.goals.wanted("any", "test") == 60
    assert recipe.goals.shares.deep.least == 0.3
