"""What plans see and how they drive the loop."""

from collections.abc import Callable
from random import Random

import pytest
from skillstill.errors import OracleError
from skillstill.tools import TOOLS, Line
from skillstill.tools.kit.tool import LEAST
from skillstill.types import Message
from skillstill_training.authoring.oracle import OracleContext, OracleModel, Plan, SeenResult, call

from tests.server.chat.shown import shown


def test_a_result_is_seen_under_its_receipt_with_its_places() -> None:
    seen = SeenResult.of(
        shown(
            "r2",
            "2 hits in 2 files; a definition first",
            Line.at("src/a.py", 7, "def get(self):"),
            Line.at("b.py", 12, "get()"),
        )
    )
    assert seen.id == "r2"
    assert [(place.path, place.first) for place in seen.places] == [("src/a.py", 7), ("b.py", 12)]
    assert seen.line_of("b.py", 12) == "b.py:12: get()"
    assert seen.line_of("b.py", 1) == ""


def test_detours_come_at_their_rate_and_none_where_none_is_declared() -> None:
    assert not any(OracleContext(Random(seed)).detour("miss") for seed in range(100))
    assert sum(OracleContext(Random(seed), {"miss": 0.3}).detour("miss") for seed in range(1_000)) in range(250, 350)


def test_the_most_crowded_result_counts() -> None:
    context = OracleContext(Random(1))
    for hits in (2, 5, 3):
        context.met(hits)
    assert context.hits == 5


@pytest.mark.anyio
async def test_a_plan_takes_the_turns_of_a_model() -> None:
    def plan() -> Plan:
        seen = yield call("search", pattern="x")
        return f"It is at {seen.text}."

    model = OracleModel(plan(), OracleContext(Random(1)))
    first = await model.complete([Message(role="user", content="?")], (), max_tokens=9)
    assert first.calls == (call("search", pattern="x"),)
    last = await model.complete([shown("r1", "a.py:3")], (), max_tokens=9)
    assert last.content == "It is at a.py:3."


@pytest.mark.anyio
async def test_a_plan_for_other_tools_is_followed_by_what_stands_for_them() -> None:
    """The 0.5b of tables sees all columns at first, so that `describe` is none of its tools; its `sql` is `select`."""

    def plan() -> Plan:
        table = yield call("describe", table="book")
        seen = yield call("sql", query="select count(*) from book")
        return f"{seen.text} ({table.id}, {seen.id})."

    tools = [TOOLS[name].schema for name in ("tables", "named", "select")]
    model = OracleModel(plan(), OracleContext(Random(1)))
    begun = [shown("r1", "book, 40 rows"), Message(role="user", content="?"), shown("r2", "no value is named")]
    first = await model.complete(begun, tools, max_tokens=9)
    assert first.calls == (call("select", query="select count(*) from book"),)
    last = await model.complete([*begun, shown("r3", "40")], tools, max_tokens=9)
    assert last.content == "40 (r1, r3)."


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("end", "said"),
    [(lambda: None, "the plan returned None: expected a str"), (lambda: str(1 / 0), "broke off: ZeroDivisionError")],
)
async def test_a_plan_that_is_written_wrong_says_how(end: Callable[[], str], said: str) -> None:
    def plan() -> Plan:
        yield call("search", pattern="x")
        return end()

    model = OracleModel(plan(), OracleContext(Random(1)))
    await model.complete([Message(role="user", content="?")], (), max_tokens=9)
    with pytest.raises(OracleError, match=said):
        await model.complete([shown("r1", "no hits")], (), max_tokens=9)


@pytest.mark.anyio
async def test_a_plan_that_finds_nothing_where_it_looks_ends_in_a_reason() -> None:
    def plan() -> Plan:
        seen = yield call("search", pattern="x")
        return str(seen.places[0])

    model = OracleModel(plan(), OracleContext(Random(1)))
    await model.complete([Message(role="user", content="?")], (), max_tokens=9)
    with pytest.raises(OracleError, match="the plan broke off: IndexError"):
        await model.complete([shown("r1", "no hits")], (), max_tokens=9)


@pytest.mark.anyio
async def test_a_plan_says_which_line_its_calls_mean() -> None:
    context = OracleContext(Random(1), meant="12 MB free")
    model = OracleModel((call("list") for _ in ()), context)  # type: ignore[arg-type]  # no turn is asked of it
    found = await model.likelihoods("it is full", ["3 jobs wait", "volume has 12 MB free"])
    assert found.after[1] > found.after[0] + LEAST
    context.meant = ""
    near, far = (await model.likelihoods("it is full", ["3 jobs wait", "volume has 12 MB free"])).after
    assert near == far
