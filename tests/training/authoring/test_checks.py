"""Each check on its gold, on near misses, on an answer that lists everything, on an empty one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillstill.types import Span
from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.checks import (
    Absent,
    Check,
    Declined,
    Locations,
    Members,
    Quoted,
    Rows,
    Value,
    judge,
)

CLIENT = Span(path="src/client.py", first=10, last=20)
RETRY = Span(path="src/retry.py", first=5, last=5)
WHOLE = Span(path="src/client.py")


def passes(check: Check, answer: str, prompt: str = "What is it?", shown: tuple[str, ...] = ()) -> bool:
    return judge(check, Attempt.of_text(prompt, answer, shown)).passed


ONE = Locations(gold=(CLIENT,))
STRICT = Locations(gold=(CLIENT,), precision=1.0)
BOTH = Locations(gold=(CLIENT, RETRY))
FILE = Locations(gold=(WHOLE,))
NUMBER = Value(gold="30", wrong=("60",))
TEXT = Value(gold='"utf-8"', also=("utf-8",), wrong=('"ascii"', "ascii"))
NAMES = Members(gold=("get", "get_all"), others=("put", "delete"))
ROWS = Rows(gold=(("Ann", "12"), ("Bob", "9")))
RANKED = Rows(gold=(("Ann", "12"), ("Bob", "9")), ordered=True)
LINE = Quoted(gold="disk full on /var", place=Span(path="a.log", first=7, last=9))
HOST = Quoted(gold="connect to host-1")

RIGHT: list[tuple[Check, str]] = [
    (ONE, "`get` is defined at src/client.py:10."),
    (ONE, "It is in **src/client.py#L12** (called from src/main.py:3)."),
    (ONE, "See `src/client.py:10-20`."),
    (STRICT, "src/client.py:20"),
    (BOTH, "src/client.py:11 and src/retry.py:5"),
    (Locations(gold=(CLIENT, RETRY), recall=0.5), "src/retry.py:5"),
    (FILE, "src/client.py"),
    (FILE, "Most likely `src/client.py:4`."),
    (NUMBER, "It is 30 (src/a.py:60)."),
    (NUMBER, "30.0 seconds (r2)"),
    (Value(gold="1204"), "There are 1,204 of them (r1)."),
    (Value(gold="12.3456"), "12.35"),
    (TEXT, "The default is `\"utf-8\"` (a.py:3)."),
    (TEXT, "It is utf-8."),
    (Value(gold="None", wrong=("True",)), "`None`, at a.py:1"),
    (NAMES, "`get` and `get_all`"),
    (NAMES, "get_all, get (r1)"),
    (ROWS, "Rows (r3): Bob | 9; Ann | 12"),
    (ROWS, "- Ann: 12\n- Bob: 9"),
    (ROWS, "| name | n |\n|---|---|\n| Ann | 12 |\n| Bob | 9.0 |"),
    (RANKED, "1. Ann (12)\n2. Bob (9)"),
    (LINE, "The first error is `disk full  on /var` (a.log:8)."),
    (Absent(), "There is no `retry` (r1, r2 found nothing)."),
    (Absent(), "It isn't there (r1)."),
    (Absent(), "There are 0 orders of that kind (r2)."),
    (Absent(), "There is no `unknown-format` (r1)."),
    (Value(gold="1091.2968"), "It is 1091.3 (r2)."),
    (Value(gold="White", wrong=("Sparkling White",)), "It is White (r2)."),
    (Declined(), "escalate: renaming needs a tool that writes."),
    (ONE, "./src/client.py:12 defines it."),
    (FILE, "`src/client.py` does the read/write and/or the rest of the I/O."),
    (Locations(gold=(Span(path="Makefile"),)), "It is in `Makefile` (r1)."),
    (Value(gold="0.125"), "It is 0.13 (r1)."),
    (Value(gold="0.125"), "It is 0.12 (r1)."),
    (Value(gold="-40"), "It is \u221240 (r1)."),
    (Value(gold="1e30"), "It is 1e30 (r1)."),
    (Members(gold=("get",), others=("src",)), "`get` (src/a.py:3)"),
    (HOST, "It says `connect to host-1`."),
    (Absent(), "It doesn\u2019t exist (r1)."),
]  # fmt: skip

WRONG: list[tuple[Check, str]] = [
    (ONE, "src/client.py:21"),
    (ONE, "src/other.py:12"),
    (ONE, "src/client.py"),
    (ONE, "src/a.py:1 src/b.py:2 src/client.py:12"),
    (STRICT, "src/client.py:12 or src/b.py:2"),
    (BOTH, "src/client.py:11"),
    (FILE, "src/client_test.py"),
    (FILE, "src/client.py, src/a.py, src/b.py"),
    (NUMBER, "It is 300 (src/a.py:30)."),
    (NUMBER, "30 or 60"),
    (NUMBER, "r30"),
    (NUMBER, "1, 2, 30, 40, 50"),
    (Value(gold="12.3456"), "12.3"),
    (TEXT, "utf-16"),
    (TEXT, '"utf-8" or "ascii"'),
    (Value(gold="b"), "It may be a. It may be b. It may be c. It may be d."),
    (NAMES, "get_all"),
    (NAMES, "get, get_all, put, delete"),
    (ROWS, "Ann | 12"),
    (ROWS, "Ann | 9; Bob | 12"),
    (ROWS, "Ann | 12; Bob | 9; Carl | 4"),
    (ROWS, "Ann | 12; Ann | 12; Bob | 9"),
    (RANKED, "Bob | 9; Ann | 12"),
    (LINE, "disk full on /var"),
    (LINE, "disk full on /var (a.log:10)"),
    (LINE, "disk full on /tmp (a.log:8)"),
    (Absent(), "It is at src/client.py:12, not elsewhere."),
    (Absent(), "It is defined in the client."),
    (Absent(), "I do not know (r1)."),
    (Absent(), "I can't tell whether it is there (r1)."),
    (Value(gold="White", wrong=("Sparkling White",)), "It is Sparkling White (r2)."),
    (Absent(), "escalate: I do not know."),
    (Declined(), "I renamed it."),
    (Value(gold="40"), f"It is 0.{'3' * 60} (r1)."),
    (Value(gold="9" * 40), "It is 40 (r1)."),
    (ROWS, "Carl | 4; Ann | 12; Bob | 9"),
    (Members(gold=("get",), others=("src",)), "`get` and `src` (src/a.py:3)"),
    (HOST, "It says `connect to host-12`."),
    (Quoted(gold="disk full", wrong=("disk full on /var",)), "`disk full on /var`"),
    (Absent(), "I don\u2019t know whether there is none (r1)."),
    (ONE, "escalate: src/client.py:12"),
]  # fmt: skip

EVERY: list[Check] = [ONE, STRICT, BOTH, FILE, NUMBER, TEXT, NAMES, ROWS, RANKED, LINE, Absent(), Declined()]


@pytest.mark.parametrize(("check", "answer"), RIGHT)
def test_a_right_answer_passes_however_it_is_put(check: Check, answer: str) -> None:
    assert judge(check, Attempt.of_text("What is it?", answer)).why == ""


@pytest.mark.parametrize(("check", "answer"), WRONG)
def test_a_near_miss_and_a_list_of_everything_fail_with_a_reason(check: Check, answer: str) -> None:
    judgement = judge(check, Attempt.of_text("What is it?", answer))
    assert not judgement.passed
    assert judgement.why


@pytest.mark.parametrize("check", EVERY, ids=lambda check: check.kind)
def test_an_empty_answer_fails_every_check(check: Check) -> None:
    assert not passes(check, "")


@pytest.mark.parametrize("check", EVERY, ids=lambda check: check.kind)
def test_everything_at_once_is_wrong(check: Check) -> None:
    assert not passes(check, "\n".join(answer for _, answer in [*RIGHT, *WRONG]))


def test_numbers_and_names_of_the_question_may_be_repeated() -> None:
    assert passes(Value(gold="3"), "Between 10 and 20 there are 3, not 99.", "How many lie between 10 and 20?")
    assert passes(Members(gold=("get",), others=("put",)), "put calls get", "What does `put` call?")


def test_a_quotation_that_no_tool_has_shown_fails() -> None:
    check = Quoted(gold="disk full")
    assert passes(check, "`disk full`", shown=("r1: a.log:7: disk full",))
    assert not passes(check, "`disk full`", shown=("r1: nothing",))


def test_an_absence_needs_a_search_that_bears_it_out() -> None:
    assert not judge(Absent(), Attempt("Where?", "answered", "There is none.")).passed


def test_wrong_answers_have_one_order_in_which_they_are_stored() -> None:
    assert Value(gold="1", wrong=("b", "a", "b")) == Value(gold="1", wrong=("a", "b"))
    assert (
        Members(gold=("x",), others=("b", "a")).model_dump_json()
        == Members(gold=("x",), others=("a", "b")).model_dump_json()
    )


@given(st.text(max_size=80))
def test_no_text_at_all_breaks_a_check(answer: str) -> None:
    for check in EVERY:
        judge(check, Attempt.of_text("What?", answer))


@given(st.integers(-10_000_000, 10_000_000), st.integers(-10_000_000, 10_000_000))
def test_a_number_passes_for_itself_alone(gold: int, other: int) -> None:
    assert passes(Value(gold=str(gold)), f"It is {gold:,} (r1).")
    assert passes(Value(gold=str(gold)), f"It is {other} (r1).") == (gold == other)
