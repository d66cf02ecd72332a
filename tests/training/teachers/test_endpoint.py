"""A teacher behind an endpoint: what it is asked, what is kept of it, how patient it is."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from skillstill.errors import TeacherError
from skillstill_training.authoring.checks import Absent, Criterion, Judged
from skillstill_training.teachers.retries import RetryPolicy

from tests.server.models.openai_server import Hangs, HangsUp, OpenAiServer, Said, Turn, turn
from tests.training.teachers.toy import DOWN, RIGHT, SEARCH, SKILL, SOLVED, TOO_MANY, WRONG, Make, called, goal

pytestmark = pytest.mark.anyio

# What it is asked


async def test_it_solves_with_the_real_tools_and_is_told_the_whole_skill(
    server: OpenAiServer, teacher: Make, toy: Path
) -> None:
    server.says(*SOLVED)
    (row,) = await teacher().solve(goal(1), toy)
    assert (row.kept, row.verified, row.reason, row.sample) == (True, "check", "", 0)
    assert row.teacher == "model-org-big-model-7b"
    assert row.trace
    assert [receipt.tool for receipt in row.trace.receipts] == ["search"]
    sent = server.requests[0]
    assert sent["messages"][0] == {"role": "system", "content": SKILL.instructions}
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["search", "read"]
    assert sent["temperature"] == 0
    assert "seed" not in sent


async def test_further_samples_are_drawn_each_with_a_seed_of_its_own_that_is_always_the_same(
    server: OpenAiServer, teacher: Make, toy: Path
) -> None:
    server.says(*SOLVED * 6)
    for _ in range(2):
        rows = await teacher(samples=3).solve(goal(1), toy)
        assert [(row.sample, row.kept) for row in rows] == [(0, True), (1, True), (2, True)]
    drawn = [(sent["temperature"], sent.get("seed")) for sent in server.requests]
    assert [temperature for temperature, _ in drawn] == [0, 0, 0.8, 0.8, 0.8, 0.8] * 2
    assert drawn[:6] == drawn[6:]
    assert len({seed for _, seed in drawn}) == 3


async def test_its_budgets_leave_room_for_the_skill_s_text_but_its_steps_are_the_student_s(
    server: OpenAiServer, teacher: Make, toy: Path
) -> None:
    server.says(*(called("search", pattern=f"word{number}") for number in range(9)))
    (row,) = await teacher().solve(goal(1), toy)
    assert row.reason == "the budget of 8 steps is used up"
    assert {sent["max_tokens"] for sent in server.requests} == {1_000}


# What is kept


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ([SEARCH, WRONG], "it names no place"),
        ([turn("Cart is defined at cart.py:4.")], "it was given without a successful tool call"),
        ([called("rm", path="cart.py"), RIGHT], "it was given without a successful tool call"),
        ([SEARCH, turn("It is at cart.py:4 and till.py:9.")], "it names …, which no tool has shown"),
        ([SEARCH, turn("It is in the cart (r7).")], "it names …, which is no result"),
        ([SEARCH, turn("It is in the cart.")], "it names no location and no receipt"),
        ([turn("")], "the model gave no answer"),
        ([SEARCH, turn("escalate: I am lost")], "it gave up"),
        ([SEARCH, SEARCH, SEARCH], "the call … was repeated"),
        ([SEARCH, SEARCH, RIGHT], "right, but it holds a call that was not executed"),
        ([turn(None, [{"name": "read", "arguments": '{"pa'}])] * 9, "it wrote calls that cannot be read"),
        ([turn("<tool_call>\n{", finish="length"), *SOLVED], "right, but it holds a call that was not executed"),
        (
            [SEARCH, turn("At cart.py:4." + " So it is." * 300)],
            "right, but its answer was cut off or has over 2,000 characters",
        ),
        ([SEARCH, Said('{"error": {"message": "the context window is full"}}', 400)], "URL answered 400: the context"),
    ],
)
async def test_what_is_not_fit_to_learn_from_is_a_row_with_a_reason(
    server: OpenAiServer, teacher: Make, toy: Path, said: Sequence[Turn], reason: str
) -> None:
    server.says(*said)
    (row,) = await teacher().solve(goal(1), toy)
    assert (row.kept, row.verified, row.transient) == (False, "none", False)
    assert row.reason.replace(server.url, "URL").startswith(reason)
    assert row.trace


async def test_that_it_is_not_there_can_be_right(server: OpenAiServer, teacher: Make, toy: Path) -> None:
    server.says(called("search", pattern="Invoice"), turn("There is no Invoice (r1)."))
    (row,) = await teacher().solve(goal(1, "Where is Invoice?", Absent()), toy)
    assert row.kept


# Retries


async def test_a_busy_endpoint_is_asked_again_when_it_says(
    server: OpenAiServer, teacher: Make, toy: Path, waits: list[float]
) -> None:
    server.says(TOO_MANY, SEARCH, TOO_MANY, RIGHT)
    (row,) = await teacher().solve(goal(1), toy)
    assert row.kept
    assert waits == [7.0, 7.0]


async def test_one_that_says_nothing_is_given_longer_and_longer(
    server: OpenAiServer, teacher: Make, toy: Path, waits: list[float]
) -> None:
    server.says(HangsUp(), DOWN, Said("", 503), *SOLVED)
    (row,) = await teacher(retries=RetryPolicy(tries=4, first=2)).solve(goal(1), toy)
    assert row.kept
    assert [first <= wait <= first + 1 for first, wait in zip((2, 4, 8), waits, strict=True)] == [True] * 3


@pytest.mark.parametrize(
    ("said", "asked", "reason"),
    [
        ([DOWN] * 3, 3, "URL answered 500: out of memory"),
        ([Said("", 429, headers={"Retry-After": "3600"})], 1, "URL answered 429: nothing"),
        ([Said('{"error": {"message": "no such key"}}', 401)], 1, "URL answered 401: no such key"),
        ([Said("<html>")], 1, "URL answered '<html>': no completion"),
    ],
)
async def test_the_last_try_s_failure_is_the_reason_and_says_nothing_of_the_teacher(
    server: OpenAiServer, teacher: Make, toy: Path, waits: list[float], said: list[Turn], asked: int, reason: str
) -> None:
    server.says(*said)
    (row,) = await teacher().solve(goal(1), toy)
    assert (row.kept, row.transient) == (False, True)
    assert row.reason.replace(server.url, "URL") == reason
    assert len(server.requests) == asked


async def test_an_endpoint_that_never_answers_is_left(server: OpenAiServer, teacher: Make, toy: Path) -> None:
    server.says(Hangs(), Hangs())
    (row,) = await teacher(retries=RetryPolicy(tries=2, first=0.001, request=0.05)).solve(goal(1), toy)
    assert row.transient
    assert row.reason.startswith(f"no answer from {server.url}")


async def test_many_failures_in_a_row_end_the_stage(server: OpenAiServer, teacher: Make, toy: Path) -> None:
    made = teacher(failures=3, retries=RetryPolicy(tries=1))
    server.says(DOWN, DOWN, *SOLVED, DOWN, DOWN, DOWN)
    for number in range(5):
        await made.solve(goal(number), toy)
    with pytest.raises(TeacherError, match=r"failed 3 times in a row, at last so: .* answered 500: out of memory"):
        await made.solve(goal(5), toy)


async def test_a_judge_that_fails_many_times_in_a_row_ends_the_stage_though_the_goals_are_solved(
    server: OpenAiServer, teacher: Make, toy: Path
) -> None:
    asks = (f"Does the answer name its {thing}?" for thing in ("place", "class", "module"))
    rubric = Judged(criteria=tuple(Criterion(asks=one, source="quote `path:line`") for one in asks))
    made = teacher(failures=2, retries=RetryPolicy(tries=1))
    server.says(*SOLVED, DOWN, *SOLVED, DOWN)
    (row,) = await made.solve(goal(1, check=rubric), toy)
    assert (row.kept, row.transient) == (False, True)
    with pytest.raises(TeacherError, match="failed 2 times in a row"):
        await made.solve(goal(2, check=rubric), toy)
