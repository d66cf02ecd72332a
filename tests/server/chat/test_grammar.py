"""The grammar of a turn: what it lets through and what it does not, without a model."""

import json
import re
from functools import cache
from typing import Annotated, Any

import llguidance
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from skillstill.chat import HERMES, LINES, Dialect
from skillstill.chat.grammar import turn_grammar
from skillstill.tools import TOOLS, Line, Result, tool
from skillstill.types import Context, Grammar, Message, Rules, ToolCall, ToolSchema
from skillstill.workspace import Workspace

from tests.server.chat.shown import overview, shown

both = pytest.mark.parametrize("dialect", [HERMES, LINES], ids=lambda dialect: dialect.name)


@cache
def matcher(dialect: Dialect, looked: bool, tools: tuple[str, ...]) -> llguidance.LLMatcher:
    schemas = [TOOLS[name].schema for name in tools]
    grammar = turn_grammar(schemas, dialect, [Message(role="tool")] if looked else [])
    made = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), grammar)
    assert not made.is_error(), made.get_error()
    return made


def allowed(dialect: Dialect, text: str, *, looked: bool = True, tools: tuple[str, ...] = tuple(TOOLS)) -> bool:
    return is_whole(matcher(dialect, looked, tools), text)


def is_whole(made: llguidance.LLMatcher, text: str) -> bool:
    """Whether the grammar lets that through, and lets it end there."""
    fresh, tokens = made.deep_copy(), list(text.encode())
    assert not fresh.is_error(), fresh.get_error()
    return fresh.try_consume_tokens(tokens) == len(tokens) and bool(fresh.is_accepting())


def written(dialect: Dialect, name: str, arguments: dict[str, Any]) -> str:
    return dialect.write(Message(role="assistant", calls=(ToolCall(name=name, arguments=arguments),)))


@both
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search", {"pattern": "def retry\\(", "path": "src"}),
        ("search", {"pattern": 'naïve "quoted" text'}),
        ("search", {"pattern": "404"}),
        ("search", {"pattern": "truest"}),
        ("search", {"pattern": "-x"}),
        ("read", {"path": "a b.py", "line": 12}),
        ("list", {}),
        ("entries", {"pattern": "[abc]+", "since": "2026-01-01 10:00:02"}),
        ("tally", {"by": "level", "level": "error", "since": "10:00"}),
    ],
)
def test_calls_are_always_allowed(dialect: Dialect, name: str, arguments: dict[str, Any]) -> None:
    text = written(dialect, name, arguments)
    assert allowed(dialect, text, looked=False)
    assert allowed(dialect, text, looked=True)


@both
def test_hand_offs_are_allowed_once_there_are_results_and_a_taught_model_may_hand_over_at_once(
    dialect: Dialect,
) -> None:
    text = "escalate: no tool can run the tests"
    assert allowed(dialect, text, looked=True)
    assert allowed(dialect, text, looked=False) == (dialect is LINES)


@both
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("delete", {"path": "a"}),
        ("read", {"path": "a", "line": "12"}),
        ("read", {"path": "a", "line": 0}),
        ("read", {"line": 3}),
        ("search", {"pattern": "x", "flags": "-i"}),
        ("search", {"pattern": True}),
        ("search", {"pattern": 404}),
        ("search", {"pattern": "x" * 201}),
        ("tally", {"by": "level", "level": "bad"}),
    ],
)
def test_other_tools_and_arguments_are_not(dialect: Dialect, name: str, arguments: dict[str, Any]) -> None:
    assert not allowed(dialect, written(dialect, name, arguments))


@both
@pytest.mark.parametrize("text", ["", " leading space", "<|im_end|>", '{"name": "list", "arguments": {}}', "[1]"])
def test_a_turn_is_words_or_a_call(dialect: Dialect, text: str) -> None:
    assert not allowed(dialect, text)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (HERMES, "<tool_call>\n{}\n</tool_call>"),
        (HERMES, 'x <<tool_call>\n{"name": "list", "arguments": {}}\n</tool_call>'),
        (HERMES, "x <t<tool_call>"),
        (LINES, ">"),
        (LINES, "> list"),
        (LINES, ">list\n"),
        (LINES, ">list >list"),
        (LINES, ">list\npath:"),
        (LINES, ">list\npath:  src"),
        (LINES, ">search\npattern: x\npattern: y"),
    ],
)
def test_a_half_or_hidden_call_is_not_allowed(dialect: Dialect, text: str) -> None:
    assert not allowed(dialect, text)


@both
@pytest.mark.parametrize(
    "text",
    ["In src/a.py:3.", "a < b, List<String> and Vec<token>\nsecond line", "`a.py:3` <toast>", "42 (r1)", "a > b"],
)
def test_an_answer_is_allowed_once_there_are_results(dialect: Dialect, text: str) -> None:
    assert allowed(dialect, text, looked=True)
    assert not allowed(dialect, text, looked=False)


@both
def test_a_skill_without_a_tool_cannot_call_it(dialect: Dialect) -> None:
    assert not allowed(dialect, written(dialect, "read", {"path": "a"}), looked=False, tools=("list",))


def test_a_prompted_model_that_has_not_looked_must_call() -> None:
    for text in ("In src/a.py:3.", "escalate: no tool can run the tests"):
        fresh = matcher(HERMES, False, tuple(TOOLS)).deep_copy()
        assert fresh.try_consume_tokens(list(text.encode())) < len(text)
    forced = matcher(HERMES, False, tuple(TOOLS)).deep_copy().compute_ff_tokens()
    assert forced[:11] == list(b"<tool_call>")


@pytest.mark.parametrize("rest", [">list", "In src/a.py:3.", "escalate: no tool can run the tests"])
def test_a_taught_model_may_say_its_intent_before_anything(rest: str) -> None:
    assert allowed(LINES, f"#callers\n{rest}")
    assert not allowed(LINES, "#callers\n"), "and must say something"


SAID = (
    Message(role="user", content="What does Store.get_all return for `order 5184`?"),
    shown("r1", Line.at("src/store.py", 12, "Store.get_all: def get_all(self) (to line 20)")),
)


def after(said: tuple[Message, ...]) -> llguidance.LLMatcher:
    schemas = [tool.schema for tool in TOOLS.values()]
    return of_grammar(turn_grammar(schemas, LINES, (*said, Message(role="tool"))))


@cache
def of_grammar(grammar: str) -> llguidance.LLMatcher:
    return llguidance.LLMatcher(llguidance.LLTokenizer("byte"), grammar)


def accepted(said: tuple[Message, ...], text: str) -> bool:
    return is_whole(after(said), text)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        (">outline\ntarget: Store.get_all", True),
        (">outline\ntarget: get_all", True),
        (">outline\ntarget: order 5184", True),
        (">outline\ntarget: Store.get_al", False),
        (">outline\ntarget: Store.get_most", False),
        (">outline\ntarget: get_all Store", False),
        (">read\npath: =A", True),
        (">read\npath: =A\nline: 14", True),
        (">read\npath: src/store.py\nline: 14", True),
        (">read\npath: =B", False),
        (">entries\nsince: =A\nuntil: =A", True),
        (">entries\nsince: =B", False),
        (">entries\npattern: =A", False),
        (">outline\ntarget: =A", False),
        (">read\npath: src/stores.py", False),
        (">search\npattern: anything at all", True),
        ("==A", True),
        ("It is so:\n==A\n\n=A and a == b", True),
        ("==A and more", False),
        ("==B", False),
        ("==tests", False),
        ("So:\n==tests", False),
        (">sql\nquery: select count(*) from order where Store = '5185%'", True),
        (">sql\nquery: select count(*) from orders where Store = '5185%'", False),
        (">sql\nquery: SELECT ROUND(AVG(order), 2) from Store", True),
    ],
)
def test_what_is_copied_or_pointed_at_was_said_or_shown(text: str, fits: bool) -> None:
    assert accepted(SAID, text) == fits


TABLES = (
    Message(role="user", content="How many trips of drivers in Leeds or O'Brien's, frozen food, in April 2024?"),
    overview(
        **{
            "drivers": "driver_id, driver_name, depot, mark",
            "trips": "trip_id, driver_id, truck_code, trip_date, distance_km, cargo",
            "trucks": "truck_code, layout, mark",
            '"odd table"': '"Due Date", id, a1b',
        }
    ),
)


@pytest.mark.parametrize(
    ("query", "fits"),
    [
        ("select count(*) from trips where cargo = 'frozen food' and distance_km > 50", True),
        ("SELECT cargo, COUNT(*) FROM trips GROUP BY cargo HAVING count(*) > 2", True),
        ("select round(100.0 * sum(distance_km >= 85) / count(*), 1) from trips", True),
        ("select count(*) from trips where depot = 'Leeds' and layout like '%food%'", True),
        ("select round(avg(distance_km), 2) from drivers where depot = 'Leeds'", False),
        ("select mark from trips", False),
        ("select trips.mark from trips", False),
        ("select count(*) from trips join drivers using (driver_id) where drivers.mark = 'April'", True),
        ("select driver_name from drivers where driver_id not in (select driver_id from trips where cargo = '')", True),
        ("select driver_name from drivers where driver_id not in (select depot from trips where depots = '')", False),
        ("select driver_name from drivers where mark in (select mark from trucks) and depot = 'Leeds' limit 3", True),
        ("select count(*) from trips where year(trip_date) = 2024 and month(trip_date) = 4", True),
        ("select count(*) from trips where year = 2024", False),
        ("select date from trips", False),
        ("select driver_name from drivers where driver_name = 'O''Brien'", True),
        ("select driver_name from drivers where driver_name = 'Nobody'", False),
        ('select "Due Date" from "odd table" where a1b = 3', True),
        ("select Due from trips", False),
        ("select depot.count(*) from drivers", False),
        ("select depot from drivers where in (select driver_id from trips)", False),
        ("select depot from drivers where count(*) > 4", False),
        ("select depot from drivers group by depot having count(*) > 4 order by count(distinct mark) desc, 1", True),
        ("select depot from drivers where drivers.mark is not null and not depot in ('Leeds', 'Leeds')", True),
        ("select trips.mark from trips join drivers using (driver_id)", False),
        ("select drivers.mark from trips join drivers on trips.driver_id = drivers.driver_id", True),
    ],
)
def test_a_query_names_columns_only_of_its_table_and_of_those_that_it_refers_to(query: str, fits: bool) -> None:
    assert accepted(TABLES, f">sql\nquery: {query}") == fits


def test_where_not_all_columns_are_shown_a_query_may_hold_any_word_that_was_said() -> None:
    for text in ("30 tables in 2 files\nx.db:\n  trips, drivers", "x.csv: trips, 3 rows: depot, mark, c…"):
        fresh = after((TABLES[0], shown("r1", *text.split("\n")))).deep_copy()
        tokens = list(b">sql\nquery: select Leeds from trips")
        assert fresh.try_consume_tokens(tokens) == len(tokens)


def held(tables: Message, query: str, question: str = "How many are hidden?") -> bool:
    return accepted((Message(role="user", content=question), tables), f">sql\nquery: {query}")


@pytest.mark.parametrize("question", ["Why is it said: loans, 0 rows: ?", "  loans, 3 rows: -", '"", 1 rows: ""'])
def test_a_question_that_looks_like_an_overview_breaks_nothing(question: str) -> None:
    assert held(overview(t="loans"), "select loans from t", question)


@pytest.mark.parametrize(
    "names",
    [["écart", "Ünit", "naïve"], ["价格", "größe", "_x"], ['""', '"a""b"', '"😀\t\\"'], ['"a/b"', '"$^"', '"it\'s"']],
)
def test_a_column_of_any_name_can_be_written(names: list[str]) -> None:
    tables = overview(été=", ".join(names), u="a")
    for name in names:
        assert held(tables, f"select max({name}) from été where {name} > 5 and été.{name} = ''")


def test_many_tables_of_many_columns_are_no_more_than_the_parser_bears() -> None:
    columns = ", ".join(f"c{number}" for number in range(26))
    tables = overview(**{f"t{number}": columns for number in range(12)})
    assert held(tables, "select c1 from t11 where c25 in (select c0 from t3 where t3.c4 > 1) order by t11.c7")


def value_of(schema: dict[str, Any]) -> some.SearchStrategy[Any]:
    """What a schema accepts, but for the empty choice, which is made by leaving the argument out.

    And but for `<|` and DEL: `<|` is written as an escape that JSON allows and the grammar does not.
    """
    if choices := [one for one in schema.get("enum", ()) if one]:
        return some.sampled_from(choices)
    if schema["type"] == "string":
        text = some.text(some.characters(exclude_categories=["Cs"]), min_size=schema.get("minLength", 0), max_size=40)
        odd = some.sampled_from(["404", "-1e5", "true", "NaN", "[abc]", '"x', "a ", "a\r\nb", "naïve", "x" * 200])
        return text.filter(lambda one: "<|" not in one and "\x7f" not in one) | odd.filter(
            lambda one: len(one) <= schema["maxLength"]
        )
    return some.booleans() if schema["type"] == "boolean" else some.integers(min_value=schema.get("minimum"))


@pytest.mark.parametrize(
    ("query", "fits"),
    [
        ("select qualified, signature from definitions where name = 'retry'", True),
        ("select kind, count(*) from definitions group by kind order by 2 desc limit 3", True),
        ("SELECT d.name FROM definitions d JOIN bases b ON b.class = d.name WHERE b.base = 'Task'", True),
        ("select count(distinct path) from calls where name = 'retry' and not receiver is null", True),
        ("select exception from raises where kind = 'raised'", True),
        ("select name from definitions where name like 'worker%thread'", True),
        (
            "with a(b) as (select base from bases where class = 'Task' union select base from bases join a) select b",
            True,
        ),
        ("select name from tests where framework = 'Boost.Test' or framework = 'testing with testify'", True),
        ("select count(*) from entries where message like 'Failed password%'", True),
        ("select methods from definitions", False),
        ("select name from functions", False),
        ("delete from definitions", False),
        ("select name from definitions; drop", False),
    ],
)
def test_a_query_of_facts_names_what_there_is_and_any_text(query: str, fits: bool) -> None:
    asked = (Message(role="user", content="Where do subclasses of Task retry a worker_thread?"),)
    assert accepted(asked, f">query\nsql: {query}") == fits


@some.composite
def accepted_calls(draw: some.DrawFn) -> tuple[str, dict[str, Any]]:
    """A tool and arguments in the order of its schema, which is the order that plans keep."""
    name = draw(some.sampled_from(list(TOOLS)))
    schema = TOOLS[name].schema.parameters
    optional = [key for key in schema["properties"] if key not in schema.get("required", ())]
    left_out = draw(some.sets(some.sampled_from(optional))) if optional else set[str]()
    return name, {key: draw(value_of(one)) for key, one in schema["properties"].items() if key not in left_out}


@both
@settings(deadline=None)
@given(call=accepted_calls())
def test_every_call_that_the_tools_accept_can_be_written(dialect: Dialect, call: tuple[str, dict[str, Any]]) -> None:
    assert allowed(dialect, written(dialect, *call), looked=False)


@pytest.mark.parametrize(
    ("since", "fits"),
    [("14:45", True), ("2026-03-01 10:00:02", True), ("=A", True), ("14:46", False), ("pg-7:5432", False)],
)
def test_a_time_is_one_that_was_said(since: str, fits: bool) -> None:
    said = (
        Message(role="user", content="errors on pg-7:5432 after 14:45 | sort"),
        shown("r1", "of 2 entries:", Line.at("a.log", 7, "2026-03-01 10:00:02 ERROR no route")),
    )
    assert accepted(said, f">entries\nsince: {since}") is fits


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("travel.berths", True),
        ("travel", False),
        ("pg-7:5432", True),
        ("travel.berths lost pg-7:5432", True),
        ("berths lost", False),  # of a name the end alone
        ("a.shop", True),
        ("log-shipper", True),
        ("error", True),  # it was quoted
        ("Warnings", False),
        ("the last", False),
        ('"the last"', False),
        ("Lastly", True),
        ("503s", True),
        ("50", False),
        ('"50"', False),
        ("503", False),  # that is a number, and no text as long as it is not quoted
        ('"503"', True),
        ('"[tx-4]"', True),
        ("10:02", False),  # that is a time
        ("10:02, please", False),
        ("Warnings, the last", False),
        ("error”? Lastly,", False),
        ("where travel.berths", False),
        ("by an", False),
        ('" "', False),  # which is in every entry
        ('" travel.berths"', False),
        ('"[tx"', True),
        ('"["', False),
        ("”?", False),
    ],
)
def test_a_pattern_over_logs_repeats_whole_names_and_no_words_that_only_ask(pattern: str, fits: bool) -> None:
    asked = "Warnings: the last where travel.berths lost pg-7:5432 by an “error”? Lastly, 503s of a.shop, [tx-4]"
    asked += " at 10:02, please. Warnings, the last"
    said = (Message(role="user", content=asked), shown("r1", "503 entries", "log-shipper"))
    assert accepted(said, f">entries\npattern: {pattern}") is fits


@pytest.mark.parametrize(
    ("path", "fits"),
    [
        ("shop/cart.py", True),
        ("café.log", True),
        ("Makefile", True),
        ("=A", True),
        ("a.log", True),
        ("02:18", False),
        ("7: 2026-03-01T10", False),
        ("Look", False),
    ],
)
def test_a_path_that_is_read_was_said_and_reads_like_one(path: str, fits: bool) -> None:
    asked = "Look from 02:18 on in (shop/cart.py), `Makefile` and café.log."
    said = (
        Message(role="user", content=asked),
        shown("r1", "of 2 entries:", Line.at("a.log", 7, "2026-03-01T10:00:02 ERROR no route")),
    )
    assert accepted(said, f">read\npath: {path}") is fits


def test_where_no_file_was_said_none_is_read() -> None:
    fresh, tokens = after((Message(role="user", content="Who fails first from 02:18 on?"),)).deep_copy(), list(b">read")
    assert fresh.try_consume_tokens(tokens) < len(tokens)


def test_where_reading_is_all_that_a_skill_can_do_any_path_is_read() -> None:
    said = (Message(role="user", content="What does the cart do?"),)
    grammar = turn_grammar([TOOLS["read"].schema], LINES, said)
    made = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), grammar)
    tokens = list(b">read\npath: cart")
    assert made.try_consume_tokens(tokens) == len(tokens)


def test_where_no_time_was_said_none_is_asked_for() -> None:
    said = (Message(role="user", content="Who warned about pg-7:5432?"),)
    for text, fits in ((">tally\nby: level\nsince: pg-7:5432", False), (">tally\nby: level\nlevel: warn", True)):
        assert accepted(said, text) is fits, text


def said_tickets(context: Context) -> Rules:
    tickets = sorted(set(re.findall("T-[0-9]+", context.text)))
    return {"ticket": " | ".join(map(json.dumps, tickets))}


async def ticket(workspace: Workspace, number: Annotated[str, Grammar(said_tickets)]) -> Result:
    """Show a ticket."""
    return Result.of_text(number)


@pytest.mark.parametrize(
    ("asked", "call", "fits"),
    [
        ("Who wrote T-12 or T-7?", ">ticket\nnumber: T-7", True),
        ("Who wrote T-12 or T-7?", ">ticket\nnumber: T-8", False),
        ("Who wrote it?", ">ticket\nnumber: T-7", False),
        ("Who wrote it?", ">list", True),
    ],
)
def test_a_tool_can_bring_the_grammar_of_an_argument(asked: str, call: str, fits: bool) -> None:
    schemas = [TOOLS["list"].schema, tool(ticket).schema]
    grammar = turn_grammar(schemas, LINES, [Message(role="user", content=asked)])
    fresh = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), grammar)
    assert not fresh.is_error(), fresh.get_error()
    assert is_whole(fresh, call) == fits


def test_a_schema_with_a_grammar_reads_back_equal_without_it() -> None:
    schema = tool(ticket).schema
    stored = ToolSchema.model_validate_json(schema.model_dump_json())
    assert stored == schema
    assert not stored.grammars.of
