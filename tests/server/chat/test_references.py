"""Lines of results by letters, rows by their result's id: pointed at by a model, put in full for everybody else."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from skillstill import chat
from skillstill.chat import LINES
from skillstill.chat.grammar import turn_grammar
from skillstill.chat.references import after_result
from skillstill.tools import TOOLS, Line, Result
from skillstill.types import Message, Span, ToolCall

from tests.server.chat.shown import rows, shown, turn_of

SHOWN = (
    "r1: 2 definitions of 'get'",
    "src/a b.py:3: Store.get: def get(self, key) (to line 9)",
    "src/b.py:44: def get(name)",
    "34 × pricing, first var/log/pricing.log:48",
    "  close:12 open:30",
)
LOOKED = (
    Message(role="system", content="explore"),
    Message(role="user", content="Where is get?"),
    Message(role="assistant", calls=(ToolCall(name="outline", arguments={"target": "get"}),)),
    shown(
        "r1",
        "2 definitions of 'get'",
        Line.at("src/a b.py", 3, "Store.get: def get(self, key) (to line 9)"),
        Line.at("src/b.py", 44, "def get(name)"),
        Line(SHOWN[3], place=Span(path="var/log/pricing.log", first=48, last=48)),
        "  close:12 open:30",
    ),
)
SCHEMAS = [tool.schema for tool in TOOLS.values()]


def said(message: Message, before: Sequence[Message] = LOOKED) -> str:
    """How the model reads what it said."""
    return chat.render([*before, message], LINES, SCHEMAS)[-1].text.removesuffix(chat.END)


def answer(text: str) -> Message:
    return Message(role="assistant", content=text)


def reading(path: str, line: int) -> Message:
    return Message(role="assistant", calls=(ToolCall(name="read", arguments={"path": path, "line": line}),))


def test_each_line_with_a_place_is_shown_with_a_letter() -> None:
    shown = chat.render(LOOKED, LINES)[-1].text
    assert "r1: 2 definitions of 'get'\n=A src/a b.py:3: Store.get" in shown
    assert "\n=B src/b.py:44: def get(name)\n=C 34 × pricing, first var/log/pricing.log:48\n  close:12 open:30" in shown


def test_a_path_is_read_once_for_lines_of_it_that_follow_each_other_and_an_answer_has_it_all() -> None:
    lines = (Line.at("src/b.py", 3, "one"), Line.at("src/b.py", 9, "two"), Line.at("a.py", 1, "three"))
    said = (*LOOKED[:3], turn_of("r1", Result((Line("likeliest places:"), *lines), is_folded=True)))
    shown = "=A src/b.py:3: one\n=B :9: two\n=C a.py:1: three"
    assert shown in chat.render(said, LINES)[-1].text
    assert chat.parse("==B", LINES, said).content == "src/b.py:9: two"


@pytest.mark.parametrize(
    ("text", "pointed"),
    [
        (SHOWN[1], "==A"),
        (f"{SHOWN[2]}\n{SHOWN[3]}", "==B\n==C"),
        ("It is 34 (var/log/pricing.log:48).", "It is 34 (=C)."),
        ("It is at src/b.py:45.", "It is at =B:45."),
        ("It is at src/b.py:4.", "It is at =B:4."),
        ("It is in lib/src/b.py:44.", "It is in lib/src/b.py:44."),
        ("There is none (r1 found nothing).", "There is none (r1 found nothing)."),
    ],
)
def test_an_answer_points_at_lines_and_is_put_in_full(text: str, pointed: str) -> None:
    assert said(answer(text)) == pointed
    assert chat.parse(pointed, LINES, LOOKED).content == text


QUERIED = (
    *LOOKED,
    Message(role="assistant", calls=(ToolCall(name="sql", arguments={"query": "select cargo, count(*) from trips"}),)),
    rows("r2", "2 rows: cargo | count(*)", "live stock | 3", "timber | 14"),
    rows("r3", "1 rows: min(fee)", "3.5"),
    shown("r4", "11 rows: fee", "3.5", "… 10 more rows"),
    shown("r5", "0 rows", "no 'wood'; near: cargo 'timber'"),
    rows("r6", "1 rows: remark", " "),
    rows("r7", "9 rows: remark", *[f"{number}: a very long remark{' and so on' * 30}" for number in range(9)]),
)


@pytest.mark.parametrize(
    ("text", "pointed"),
    [
        ("Rows (r2):\nlive stock | 3\ntimber | 14", "Rows (r2):\n==r2"),
        ("They are live stock | 3, timber | 14 (r2).", "They are =r2 (r2)."),
        ("They are live stock | 3, timber | 14, for 3.5 (r2, r3).", "They are =r2, for 3.5 (r2, r3)."),
        ("fee=3.5, 2,3.5 and 3.5-7 are no rows, 3.5 is (r3).", "fee=3.5, 2,3.5 and 3.5-7 are no rows, =r3 is (r3)."),
        ("3.5 of 3.5 (r3).", "3.5 of =r3 (r3)."),
        ("It is 3.5=r3.", "It is 3.5=r3."),
        ("The lowest fee is 3.5 (r3).", "The lowest fee is =r3 (r3)."),
        ("It is 13.5, not 3.55 and no 3.5.1 (r3).", "It is 13.5, not 3.55 and no 3.5.1 (r3)."),
        ("There is no wood (r5).", "There is no wood (r5)."),
        ("0: a very long remark", "0: a very long remark"),
    ],
)
def test_an_answer_points_at_all_rows_of_a_query_and_is_put_in_full(text: str, pointed: str) -> None:
    assert said(answer(text), QUERIED) == pointed
    assert chat.parse(pointed, LINES, QUERIED).content == text


@pytest.mark.parametrize(
    ("call", "pointed"),
    [
        (reading("src/b.py", 44), ">read\npath: =B"),
        (reading("src/b.py", 50), ">read\npath: =B\nline: 50"),
        (reading("src/c.py", 44), ">read\npath: src/c.py\nline: 44"),
    ],
)
def test_a_call_points_at_a_file_and_its_line(call: Message, pointed: str) -> None:
    assert said(call) == pointed
    assert chat.parse(pointed, LINES, LOOKED, SCHEMAS).calls == call.calls


def test_letters_go_on_from_result_to_result_and_the_last_line_about_a_place_counts() -> None:
    again = [*LOOKED, reading("src/b.py", 44), shown("r2", Line.at("src/b.py", 44, "def get(name): # x"))]
    assert "\n=D" not in chat.render(again, LINES)[-1].text
    assert "r2: =D src/b.py:44" in chat.render(again, LINES)[-1].text
    assert said(answer("At src/b.py:44."), again) == "At =D."
    assert said(answer(SHOWN[2]), again) == "==B"


@pytest.mark.parametrize("text", ["x =A y", "==B", "a (=C:3)"])
def test_what_only_looks_like_a_pointer_is_not_followed(text: str) -> None:
    assert chat.parse(said(answer(text)), LINES, LOOKED).content.replace(" ", "") == text.replace(" ", "")


def test_a_time_is_pointed_at_by_the_entry_that_has_it() -> None:
    window = {"since": "src/b.py:44", "until": "10:00"}
    asked = Message(role="assistant", calls=(ToolCall(name="entries", arguments=window),))
    assert said(asked) == ">entries\nsince: =B\nuntil: 10:00"
    assert chat.parse(said(asked), LINES, LOOKED, SCHEMAS).calls == asked.calls
    odd = Message(role="assistant", calls=(ToolCall(name="entries", arguments={"since": ["10:00"]}),))
    assert said(odd) == '>entries\nsince: ["10:00"]'


def test_a_letter_that_no_line_has_stays_as_it_is() -> None:
    assert chat.parse("At =Q.", LINES, LOOKED).content == "At =Q."
    assert chat.parse(">read\npath: =Q", LINES, LOOKED, SCHEMAS).calls == (
        ToolCall(name="read", arguments={"path": "=Q"}),
    )


lines = some.sampled_from([*SHOWN, "src/b.py:44", "=A", "==B", "=B:7", "text", "(var/log/pricing.log:48)", "a.py:1: x"])
texts = some.lists(lines, min_size=1, max_size=4).flatmap(
    lambda parts: some.sampled_from(["\n", " ", ", "]).map(lambda between: between.join(parts))
)


@settings(deadline=None)
@given(texts)
def test_what_was_said_in_full_is_the_same_after_it_was_read_back(text: str) -> None:
    once = chat.parse(said(answer(text)), LINES, LOOKED)
    assert once.content.replace(" ", "") == text.strip().replace(" ", "")
    assert said(chat.parse(said(once), LINES, LOOKED)) == said(once)


def test_a_result_is_read_once_for_prompt_grammar_and_parser() -> None:
    after_result.cache_clear()
    said = list[Message]()
    for message in LOOKED:
        said.append(message)
        chat.render(said, LINES)
        turn_grammar((), LINES, said)
        chat.parse("=A", LINES, said)
    assert after_result.cache_info().misses == sum(message.role == "tool" for message in LOOKED)


def test_a_conversation_goes_on_two_ways_from_what_both_have_said() -> None:
    one, other = (shown("r2", Line.at(f"src/{name}.py", 7, "x = 1")) for name in ("one", "other"))
    assert chat.parse("=D", LINES, [*LOOKED, one]) != chat.parse("=D", LINES, [*LOOKED, other])
    assert chat.parse("=A", LINES, [*LOOKED, one]) == chat.parse("=A", LINES, [*LOOKED, other])
