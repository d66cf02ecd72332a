"""The judge of field questions: each kind of answer against the gold, as a careful reader would judge it."""

import pytest
from skillstill.types import Lead, Receipt, Report, Span, Trace
from skillstill_training.field.judge import FieldAnswer, Verdict, judge_answer
from skillstill_training.field.question import Gold

THIRTY = Gold(outcome="answer", answer="30 seconds", facts=(("30", "thirty"),), places=("a/retry.py:10-14",))
WHERE = Gold(outcome="answer", answer="in retry.py", places=("a/retry.py:10-14", "b.py:3"), places_asked="any")
BOTH = WHERE.model_copy(update={"places_asked": "all"})
NOTHING = Gold(outcome="absent", answer="there is no such thing")
BEYOND = Gold(outcome="beyond", answer="only a run shows that", places=("a/retry.py:10",))


def said(text: str, *places: str, **fields: object) -> FieldAnswer:
    return FieldAnswer.model_validate({"status": "answered", "text": text, "places": places, **fields})


def handed_back(*leads: str) -> FieldAnswer:
    return FieldAnswer(status="escalate", text="escalate: I cannot tell", leads=leads)


def verdict(gold: Gold, answer: FieldAnswer) -> Verdict:
    return judge_answer(gold, answer, "is there a circuit breaker?").verdict


@pytest.mark.parametrize(
    ("gold", "answer", "wanted"),
    [
        (THIRTY, said("It waits 30 seconds."), Verdict.RIGHT),
        (THIRTY, said("Thirty, then it gives up"), Verdict.RIGHT),
        (THIRTY, said("timeout=30s"), Verdict.RIGHT),
        (THIRTY, said("a/retry.py:30: def wait()"), Verdict.WRONG),  # a line number is no value
        (THIRTY, said("It waits 300 seconds."), Verdict.WRONG),
        (THIRTY, said(", ".join(map(str, range(20, 40)))), Verdict.PARTLY),  # it stands among many
        (THIRTY, said("30 s: from 10:01:02 to 10:01:32 on 2026-11-24, by 10.0.0.7, tries 1 to 5"), Verdict.RIGHT),
        (WHERE, said("def wait", "a/retry.py:12"), Verdict.RIGHT),
        (WHERE, said("def wait", "retry.py:16"), Verdict.RIGHT),  # near enough, and the path without its folder
        (WHERE, said("def wait", "a/retry.py:40"), Verdict.WRONG),
        (WHERE, said("def wait", "c/try.py:12"), Verdict.WRONG),
        (BOTH, said("two places", "a/retry.py:12", "b.py:3"), Verdict.RIGHT),
        (BOTH, said("one place", "b.py:3"), Verdict.PARTLY),
        (BOTH, said("many", "b.py:3", "a/retry.py:12", *(f"{n}.py:1" for n in range(6))), Verdict.PARTLY),
        (NOTHING, said("There is none (r1).", absent=True), Verdict.RIGHT),
        (NOTHING, said("There is no circuit breaker (r1).", absent=True), Verdict.RIGHT),
        (NOTHING, said("No, the circuit breaker was never built (r1)."), Verdict.RIGHT),
        (THIRTY, said("No, it waits 30 seconds."), Verdict.RIGHT),
        (NOTHING, said("There is no orders_2024 archive (r1).", absent=True), Verdict.WRONG),  # nobody asked for that
        (NOTHING, said("def wait", "a/retry.py:12"), Verdict.WRONG),
        (NOTHING, handed_back(), Verdict.HANDED_BACK),
        (THIRTY, said("There is none (r1).", absent=True), Verdict.WRONG),
        (THIRTY, handed_back(), Verdict.HANDED_BACK),
        (BEYOND, handed_back(), Verdict.HANDED_BACK_RIGHTLY),
        (BEYOND, said("about two seconds"), Verdict.WRONG),
        (THIRTY, FieldAnswer(status="failed", text="no memory"), Verdict.FAILED),
    ],
)
def test_an_answer_gets_the_verdict_of_a_careful_reader(gold: Gold, answer: FieldAnswer, wanted: Verdict) -> None:
    assert verdict(gold, answer) is wanted


def test_some_of_several_facts_are_partly_right() -> None:
    gold = Gold(outcome="answer", answer="red and green", facts=(("red",), ("green",)))
    assert verdict(gold, said("green, red")) is Verdict.RIGHT
    assert verdict(gold, said("red")) is Verdict.PARTLY
    assert verdict(gold, said("reddish")) is Verdict.WRONG


def test_a_name_may_stand_in_the_genitive() -> None:
    gold = Gold(outcome="answer", answer="node0", facts=(("node0",),))
    assert verdict(gold, said("It is node0's view.")) is Verdict.RIGHT


def test_a_name_in_the_path_of_a_place_is_no_answer_but_a_file_that_is_asked_for_is() -> None:
    node = Gold(outcome="answer", answer="node b", facts=(("10.0.0.7",),), places=("10.0.0.7/system.log:4",))
    assert verdict(node, said("39 errors, first 10.0.0.7/system.log:4", "10.0.0.7/system.log:4")) is Verdict.WRONG
    file = Gold(outcome="answer", answer="system.log", facts=(("system.log",),), places=("10.0.0.7/system.log:4",))
    assert verdict(file, said("first 10.0.0.7/system.log:4", "10.0.0.7/system.log:4")) is Verdict.RIGHT


def test_a_right_row_of_many_is_partly_right_and_a_part_of_it_wrong() -> None:
    gold = Gold(outcome="answer", answer="business, 9", facts=(("business",),))
    rows = "\n".join(f"{word} | 9" for word in ("car", *"abcdefgh", "business"))
    assert verdict(gold, said(rows)) is Verdict.PARTLY
    assert verdict(gold.model_copy(update={"facts": (("business",), ("9 loans",))}), said(rows)) is Verdict.WRONG


def test_an_address_that_looks_like_a_place_is_read_as_an_answer() -> None:
    gold = Gold(outcome="answer", answer="2001:DB8::1", facts=(("2001:DB8::1",),))
    assert verdict(gold, said("2001:DB8::1.")) is Verdict.RIGHT


def test_a_value_may_be_rounded_to_two_decimals_and_written_with_separators() -> None:
    gold = Gold(outcome="answer", answer="1,204.567", facts=(("1204.567",),))
    assert verdict(gold, said("The sum is 1,204.57.")) is Verdict.RIGHT
    assert verdict(gold, said("The sum is 1,205.")) is Verdict.WRONG


def test_a_wrong_answer_is_silent_only_if_it_carries_no_warning() -> None:
    silent, warned = (judge_answer(THIRTY, said("It waits 10 s", warned=warned)) for warned in (False, True))
    assert silent.is_silently_wrong
    assert not warned.is_silently_wrong


def test_a_wanted_place_among_the_leads_is_seen_whatever_the_verdict_is() -> None:
    assert judge_answer(THIRTY, handed_back("c.py:1", "a/retry.py:11")).led
    assert not judge_answer(THIRTY, handed_back("c.py:1")).led


def test_a_table_is_the_place_of_its_columns() -> None:
    gold = Gold(outcome="answer", answer="in orders", places=("d/shop.db:orders.status",), places_asked="any")
    assert verdict(gold, said("7", "shop.db:orders")) is Verdict.RIGHT
    assert verdict(gold, said("It is orders.status")) is Verdict.RIGHT
    assert verdict(gold, said("7", "shop.db")) is Verdict.WRONG
    assert judge_answer(gold, said("7", "shop.db")).led
    assert verdict(gold, said("7", "shop.db:customers")) is Verdict.WRONG


def test_what_a_caller_of_a_run_gets_is_judged_as_it_is_finished() -> None:
    receipt = Receipt(
        id="r1", tool="search", arguments={"pattern": "wait"}, sha256="", excerpt="", empty=True, seconds=0
    )
    report = Report(answer="There is none (r1).", status="answered", evidence=("r1",))
    answer = FieldAnswer.of_trace(trace(report, receipt))
    assert answer.absent
    assert FieldAnswer.of_trace(trace(report.model_copy(update={"answer": "No, 3 (r1)."}), receipt)).absent is False
    shown = receipt.model_copy(update={"spans": (Span(path="b.py", first=3, last=3),), "empty": False})
    report = Report(answer="b.py:3: def wait()", status="answered", evidence=("b.py:3",))
    assert verdict(WHERE, FieldAnswer.of_trace(trace(report, shown))) is Verdict.RIGHT


def test_the_leads_of_an_answer_are_those_that_its_caller_gets() -> None:
    handed = trace(Report(answer="escalate: I cannot tell", status="escalate", evidence=("c.py:9",)))
    located = (Lead(path="a/retry.py", line=12, text="def wait"), Lead(path="shop.db", text="orders.status"))
    answer = FieldAnswer.of_trace(handed.model_copy(update={"index_leads": located}))
    assert answer.leads == ("a/retry.py:12", "shop.db")
    assert judge_answer(THIRTY, answer).led


def trace(report: Report, *receipts: Receipt) -> Trace:
    fields = {
        "run": "1",
        "release": "x",
        "skill": "explore",
        "model": "m",
        "dialect": "d",
        "created": "2026-11-24T00:00:00Z",
    }
    said = {"role": "assistant", "content": report.answer}
    return Trace.model_validate(
        {
            **fields,
            "workspace": "w",
            "prompt": "p",
            "tools": (),
            "messages": (said,),
            "receipts": receipts,
            "report": report,
        }
    )
