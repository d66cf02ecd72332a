"""What of an answer is vouched for: the many ways to write a place, and the ways to slip one in."""

from typing import Any

import pytest
from skillstill.run.evidence import judge
from skillstill.types import Receipt, Span

ROOT = "/home/me/app"
SHOWN = [
    "shop/cart.py:18: class Cart",
    "served on localhost:8080 and server:8080",
    "my-util.py:9: pass",
    "shop/geo.py:2: def overlap(c1, r1, c2, r7):",
]


def receipt(id: str, *spans: Span, **fields: Any) -> Receipt:
    return Receipt(id=id, tool="read", arguments={}, sha256="", excerpt="", spans=spans, seconds=0, **fields)


RECEIPTS = [
    receipt("r1", Span(path="shop/cart.py", first=1, last=30), Span(path="server")),
    receipt("r2", Span(path="app/[id]/page.tsx", first=1, last=9), Span(path="my dir/a.py", first=1, last=1)),
    receipt("r3", Span(path="Makefile", first=1, last=2)),
]


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        ("It is shop/cart.py:18.", ("shop/cart.py:18",)),
        ("shop/cart.py:18: class Cart", ("shop/cart.py:18",)),
        ("shop/cart.py:18:5 holds it", ("shop/cart.py:18",)),
        (
            "`shop/cart.py`:18, **shop/cart.py:19** and (shop/cart.py:20)",
            ("shop/cart.py:18", "shop/cart.py:19", "shop/cart.py:20"),
        ),
        ("shop/cart.py#L18 and shop/cart.py:L19", ("shop/cart.py:18", "shop/cart.py:19")),
        ("shop/cart.py, line 18; shop/cart.py (line 19)", ("shop/cart.py:18", "shop/cart.py:19")),
        ("shop/cart.py:18-20 and shop/cart.py:3–9", ("shop/cart.py:18", "shop/cart.py:3")),
        ("./shop/cart.py:3", ("shop/cart.py:3",)),
        (f"{ROOT}/shop/cart.py:3", ("shop/cart.py:3",)),
        ("在shop/cart.py:18", ("shop/cart.py:18",)),
        ("app/[id]/page.tsx:1 and my dir/a.py:1", ("my dir/a.py:1", "app/[id]/page.tsx:1")),
        ("Makefile:2", ("Makefile:2",)),
        ("At 12:30 on Python 3.11:00, http://example.com:443/x: r1", ("r1",)),
        ("It is served on localhost:8080 (r1).", ("r1",)),
        ("The file is shop/cart.py.", ("r1",)),
        ("The folder is `server`.", ("r1",)),
        ("shop/cart.py: line 18; at line 19 of shop/cart.py", ("shop/cart.py:18", "shop/cart.py:19")),
        ("Session.send, lines 3 to 5 in shop/cart.py", ("shop/cart.py:3",)),
        ("The folder's name is a host too: server:8080 (r1).", ("r1",)),
        ("It is def overlap(c1, r1, c2, r7), see shop/cart.py:18.", ("r1", "shop/cart.py:18")),
    ],
)
def test_an_honest_answer_is_vouched_for(answer: str, evidence: tuple[str, ...]) -> None:
    verdict = judge(answer, RECEIPTS, SHOWN, ROOT)
    assert (set(verdict.evidence), verdict.problem) == (set(evidence), "")


@pytest.mark.parametrize(
    "answer",
    [
        "src/invented.py:99: def login() (r1)",
        "shop/cart.py:999: x (r1)",
        "shop/cart.py:99:5 (r1)",
        "shop/cart.py#L999 (r1)",
        "shop/cart.py, line 99 (r1)",
        "shop/cart.py (line 99), r1",
        "`shop/cart.py`:99 (r1)",
        "shop/cart.py:18–99 (r1)",
        "shop/cart.py:18-L99 (r1)",
        "shop/cart.py::99 (r1)",
        "It is in shop/cart.py at line 99 (r1)",
        "shop/cart.py: line 99 (r1)",
        "line 99 of `shop/cart.py` (r1)",
        "see lines 3 to 99 in shop/cart.py (r1)",
        "shop/cart.py (at lines 18 to 99) (r1)",
        "shop/cart.py:18 to 99 (r1)",
        "/app/secret/x.py:77 (r1)",
        "~/evil/x.py:99 (r1)",
        "util.py:9 (r1)",
        "Makefile:99 (r3)",
        "There are 4 of them (r9), see shop/cart.py:3.",
        "The server retries three times and then gives up.",
        "lib/r1/thing does it",
    ],
)
def test_an_invention_is_withheld(answer: str) -> None:
    assert judge(answer, RECEIPTS, SHOWN, ROOT).problem


def test_without_a_successful_call_nothing_is_vouched_for() -> None:
    assert judge("shop/cart.py:1", [receipt("r1", refused=True)], [], ROOT).problem


def test_an_answer_is_withheld_for_the_reason_that_is_true() -> None:
    calls = [*RECEIPTS, receipt("r4", refused=True)]
    assert judge("There are 4 (r4).", calls, SHOWN, ROOT).problem == "it rests on r4, a call that was refused"
    assert judge("There are 4.", calls, SHOWN, ROOT).problem == "it names no location and no receipt"


EMPTY = receipt("r1", empty=True)


@pytest.mark.parametrize(
    "answer", ["There is none (r1 found nothing).", "Nothing is there (r1).", "No such class (r1)."]
)
def test_an_absence_is_believed_if_a_look_found_nothing(answer: str) -> None:
    assert judge(answer, [EMPTY], [], ROOT).evidence == ("r1",)


@pytest.mark.parametrize(
    ("speaks_against_it", "problem"),
    [
        (receipt("r2", missed="the word stands in queue.c"), "the word stands in queue.c"),
        (receipt("r2", Span(path="a.py", first=3, last=3)), "r2 shows a.py:3"),
        (receipt("r2", omitted=4), "r2 leaves 4 out"),
    ],
)
def test_an_absence_is_not_believed_while_any_result_of_the_run_speaks_against_it(
    speaks_against_it: Receipt, problem: str
) -> None:
    for receipts in ([EMPTY, speaks_against_it], [speaks_against_it, EMPTY]):
        verdict = judge("There is none (r1 found nothing).", receipts, [], ROOT)
        assert verdict.problem == f"it says that there is none, but {problem}"


@pytest.mark.parametrize(
    "answer",
    [
        "There is none (r1).",
        "No such class (r1).",
        "No (r1).",
        "No, there is no such class (r1).",
        "No: nothing calls it (r1).",
        "No, none of them (r1).",
    ],
)
def test_a_no_that_denies_that_something_is_there_is_an_absence(answer: str) -> None:
    shown = receipt("r1", Span(path="a.py", first=3, last=3))
    assert judge(answer, [shown], [], ROOT).problem == "it says that there is none, but r1 shows a.py:3"


@pytest.mark.parametrize("answer", ["No, it waits 3 seconds (r1).", "No, the default is None (r1).", "Nobody: r1."])
def test_a_no_that_says_what_is_there_instead_is_an_answer(answer: str) -> None:
    shown = receipt("r1", Span(path="a.py", first=3, last=3))
    assert judge(answer, [shown], [], ROOT).evidence == ("r1",)


def test_a_ranking_of_likely_places_neither_bears_out_an_absence_nor_speaks_against_it() -> None:
    guess = receipt("r2", Span(path="a.py", first=3, last=3), guess=True, omitted=4, missed="it may be elsewhere")
    nothing = receipt("r2", guess=True, empty=True)
    assert judge("There is none (r1).", [EMPTY, guess], [], ROOT).evidence == ("r1",)
    assert judge("There is none (r2).", [EMPTY, guess], [], ROOT).problem.endswith("rests on found nothing")
    refused = receipt("r1", refused=True, empty=True)
    for looks in ([nothing], [refused, nothing]):
        assert judge("There is none (r2).", looks, [], ROOT).problem.endswith("only likely places were looked at")


def test_an_absence_is_not_believed_if_no_cited_look_found_nothing() -> None:
    described = receipt("r2", Span(path="shop.db"))
    assert judge("There is no owner Ann (r2).", [EMPTY, described], [], ROOT).problem.endswith("rests on found nothing")
    assert judge("There is no owner Ann (r1, r2).", [EMPTY, described], [], ROOT).evidence == ("r1", "r2")


def test_what_an_overview_does_not_name_is_not_there() -> None:
    described = receipt("r1", overview=True)
    shown = ["1 tables in 1 files\nshop.db: orders, 9 rows: order_id, paid TEXT, such as 'late'"]
    assert judge("There is no colour (r1).", [described], shown, ROOT).evidence == ("r1",)
    for answer in ("There is none (r1 found nothing).", "There is no paid (r1)."):
        assert judge(answer, [described], shown, ROOT).problem.endswith("rests on found nothing")


def test_places_are_evidence_in_one_order_whatever_the_hashes_of_their_names() -> None:
    shown = [receipt("r1", *(Span(path=f"{name}.log", first=1, last=1) for name in "dbca"))]
    answer = "a.log:1, b.log:1, c.log:1 and d.log:1"
    assert judge(answer, shown, [], ROOT).evidence == ("a.log:1", "b.log:1", "c.log:1", "d.log:1")
