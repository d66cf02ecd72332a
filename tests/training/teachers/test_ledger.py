"""What a teacher behind an endpoint costs, and what a budget does."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from skillstill.errors import BudgetSpent, TeacherError, UsageError
from skillstill.models.remote import Endpoint
from skillstill.skills.skill import load_skill
from skillstill.types import Usage
from skillstill_training.run.folder import RunFolder
from skillstill_training.stages.traces import make_traces
from skillstill_training.teachers.forecast import Forecast
from skillstill_training.teachers.large_models import EndpointModel
from skillstill_training.teachers.ledger import Budget, Ledger, LedgerEntry, Price, Purpose
from skillstill_training.teachers.model_teacher import ModelTeacher
from skillstill_training.teachers.retries import RetryPolicy
from skillstill_training.teachers.teacher import TraceRow
from skillstill_training.util.jsonl import read_lines

from tests.server.models.openai_server import USAGE, OpenAiServer, Said, Turn, turn
from tests.training.teachers.toy import DOWN, RIGHT, SEARCH, SOLVED, Make, goal

pytestmark = pytest.mark.anyio


def entry(
    *,
    requests: int = 1,
    prompt: int = 10,
    completion: int = 5,
    usd: float | None = None,
    purpose: Purpose = "probe",
) -> LedgerEntry:
    return LedgerEntry(
        when=datetime(2026, 1, 1, tzinfo=UTC), teacher="model-big", purpose=purpose, goal="0" * 16, sample=0,
        requests=requests, prompt=prompt, cached=0, completion=completion, usd=usd,
    )  # fmt: skip


def entries(ledger: Ledger) -> Sequence[LedgerEntry]:
    return read_lines(ledger.file, LedgerEntry)


async def test_each_attempt_is_a_line_of_the_ledger(
    server: OpenAiServer, teacher: Make, toy: Path, ledger: Ledger
) -> None:
    server.says(*SOLVED, DOWN, DOWN, DOWN)
    await teacher().solve(goal(1), toy)
    await teacher().solve(goal(2), toy)
    first, second = entries(ledger)
    assert (first.goal, first.sample, first.purpose, first.requests) == (goal(1).id, 0, "traces", 2)
    assert (first.prompt, first.cached, first.completion) == (38, 8, 12)
    assert first.usd == pytest.approx((38 * 1 + 12 * 10) / 1_000_000)
    assert (second.goal, second.requests, second.usd) == (goal(2).id, 0, 0)
    assert ledger.tokens == 50
    assert ledger.usd == pytest.approx(0.000158)


async def test_a_budget_holds_over_several_runs_and_ends_in_the_middle_of_one(
    server: OpenAiServer, teacher: Make, toy: Path, ledger: Ledger
) -> None:
    server.says(*SOLVED, SEARCH, RIGHT)
    await teacher().solve(goal(1), toy)
    with Ledger(ledger.file, ledger.price, Budget(usd=0.0002)) as again:
        assert again.tokens == 50
        with pytest.raises(
            BudgetSpent, match=r"^the budget of 0.0002 USD is used up \(75 tokens, 0.0002 USD\): what is"
        ):
            await teacher(again).solve(goal(2), toy)
    assert [(entry.goal, entry.requests) for entry in entries(ledger)] == [(goal(1).id, 2), (goal(2).id, 1)]
    with Ledger(ledger.file, budget=Budget(tokens=75)) as spent, pytest.raises(BudgetSpent, match="75 tokens is used"):
        await teacher(spent).solve(goal(3), toy)
    assert len(server.requests) == 3


async def test_a_server_that_does_not_count_cannot_be_held_to_a_budget(
    server: OpenAiServer, teacher: Make, toy: Path, tmp_path: Path
) -> None:
    server.says(Said(RIGHT.body.replace(json.dumps(USAGE), "null")))
    no_count = pytest.raises(TeacherError, match="does not say how many tokens")
    with Ledger(tmp_path / "held.jsonl", budget=Budget(tokens=9)) as held, no_count:
        await teacher(held).solve(goal(1), toy)


def test_a_budget_in_money_needs_a_price(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give --price, or a budget in tokens"):
        Ledger(tmp_path / "ledger.jsonl", budget=Budget(usd=2))


async def test_a_model_that_tells_its_cost_itself_needs_no_price_and_takes_none(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", budget=Budget(usd=0.5), tells_cost=True) as ledger:
        ledger.write(entry(usd=0.4))
        assert ledger.usd == 0.4
        assert ledger.usd_left == pytest.approx(0.1)
    with Ledger(ledger.file, budget=Budget(usd=0.4), tells_cost=True) as again, pytest.raises(BudgetSpent):
        again.check()
    with pytest.raises(UsageError, match="tells its cost itself: leave --price out"):
        Ledger(ledger.file, Price.parse("1,1,1"), tells_cost=True)


def test_what_a_server_has_read_from_its_cache_has_a_price_of_its_own() -> None:
    million = Usage(prompt=1_000_000, reused=900_000, completion=10_000)
    assert Price.parse("3, 0.3, 15").cost(million) == pytest.approx(0.3 + 0.27 + 0.15)


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("", Budget()),
        ("5usd", Budget(usd=5)),
        ("0.50 USD", Budget(usd=0.5)),
        ("300000", Budget(tokens=300_000)),
        ("2usd, 300_000", Budget(usd=2, tokens=300_000)),
    ],
)
def test_a_budget_is_money_or_tokens(text: str, budget: Budget) -> None:
    assert Budget.parse(text) == budget


@pytest.mark.parametrize("text", ["5eur", "0", "-2usd", "nanusd", "usd", "1.5", ","])
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="a budget is money or tokens above 0, like 5usd or 300000; got"):
        Budget.parse(text)


# The forecast


def test_the_rest_is_told_from_the_attempts_so_far() -> None:
    seen = [entry(prompt=900, completion=100, usd=0.01), entry(prompt=1_900, completion=100, usd=0.03)]
    forecast = Forecast.of([*seen, entry(requests=0, prompt=0, completion=0, usd=0)], goals=40, attempts=100)
    assert (forecast.tokens, forecast.usd, forecast.seen) == (150_000, 2.0, 2)
    assert "about 150,000 tokens, about 2.00 USD (from 2 attempts)" in str(forecast)
    unknown = Forecast.of([one.model_copy(update={"usd": None}) for one in seen], 40, 100)
    assert "money: unknown without --price" in str(unknown)


def test_answers_that_are_judged_afterwards_are_told_from_the_verdicts_so_far() -> None:
    seen = [entry(prompt=900, completion=100, usd=0.01), entry(prompt=190, completion=10, usd=0.002, purpose="judge")]
    forecast = Forecast.of(seen, goals=1, attempts=10, judged=40)
    assert (forecast.tokens, forecast.usd, forecast.seen) == (12_000 + 8_000, 0.2, 1)
    assert ", 10 attempts with what is still measured, 40 answers to judge: about 20,000 tokens" in str(forecast)
    judging = Forecast.of_judging([*seen, entry(prompt=390, completion=10, usd=None, purpose="figures")], 10)
    assert (judging.tokens, judging.seen) == (3_000, 2)
    assert str(judging).startswith("10 answers to judge: about 3,000 tokens")


@pytest.mark.parametrize("text", ["", "0.1", "0.1,0.4", "a,b,c", "0.1/0.4/1", "-1,0,2", "nan,1,1"])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="a price is IN,CACHED,OUT"):
        Price.parse(text)


async def test_a_torn_ledger_is_read_as_far_as_it_goes(
    server: OpenAiServer, teacher: Make, toy: Path, ledger: Ledger
) -> None:
    server.says(*SOLVED)
    await teacher().solve(goal(1), toy)
    with ledger.file.open("a", encoding="utf-8") as file:
        file.write('{"when": "2026')
    with Ledger(ledger.file, ledger.price) as again:
        assert (again.tokens, again.requests) == (50, 2)


# The stage


def replies(server: OpenAiServer, *turns: Turn) -> None:
    server.turns[:] = turns


async def test_a_spent_budget_ends_the_stage_cleanly_and_a_larger_one_goes_on(
    server: OpenAiServer, settings: Path, frozen: RunFolder
) -> None:
    skill, endpoint = load_skill(settings), EndpointModel(Endpoint(server.url, "big"))
    ledger = frozen.path / "ledger.jsonl"
    for budget, done, stopped in [(100, 4, True), (150, 6, True), (10_000, 48, False)]:
        replies(server, *[turn("escalate: too hard")] * 48)
        with Ledger(ledger, budget=Budget(tokens=budget)) as opened:
            progress = await make_traces(settings, frozen, ModelTeacher(skill, endpoint, opened), at_once=1)
        assert (progress.done, bool(progress.stopped)) == (done, stopped)
        assert len(read_lines(frozen.traces, TraceRow)) == done
    assert len(server.requests) == 48
    assert progress.kept + progress.dropped["it gave up"] == 48
    assert not frozen.part("model-big").exists()


async def test_goals_for_which_the_endpoint_failed_are_solved_when_the_stage_goes_on(
    server: OpenAiServer, settings: Path, frozen: RunFolder
) -> None:
    quick = RetryPolicy(tries=1)
    with Ledger(frozen.path / "ledger.jsonl") as ledger:
        model = EndpointModel(Endpoint(server.url, "big"))
        teacher = ModelTeacher(load_skill(settings), model, ledger, retries=quick, failures=2)
        replies(server, turn("escalate: no"), DOWN, turn("escalate: no"), DOWN, DOWN)
        with pytest.raises(TeacherError, match="run the same command again"):
            await make_traces(settings, frozen, teacher, at_once=1)
        replies(server, *[turn("escalate: no")] * 46)
        progress = await make_traces(settings, frozen, teacher, at_once=1)
    assert progress.done == 48
    assert not any(row.transient for row in read_lines(frozen.traces, TraceRow))


async def test_a_stage_that_came_to_its_end_pays_again_only_for_goals_of_which_the_endpoint_failed(
    server: OpenAiServer, settings: Path, frozen: RunFolder
) -> None:
    with Ledger(frozen.path / "ledger.jsonl") as ledger:
        endpoint, quick = EndpointModel(Endpoint(server.url, "big")), RetryPolicy(tries=1)
        teacher = ModelTeacher(load_skill(settings), endpoint, ledger, retries=quick)
        replies(server, *[turn("escalate: no")] * 20, DOWN, *[turn("escalate: no")] * 27)
        await make_traces(settings, frozen, teacher, at_once=1)
        asked = len(server.requests)
        replies(server, turn("escalate: no"))
        progress = await make_traces(settings, frozen, teacher, at_once=1)
    assert (len(server.requests) - asked, progress.kept + progress.dropped["it gave up"]) == (1, 48)
    assert not frozen.part("model-big").exists()
