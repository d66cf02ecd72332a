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
        ("Nothing is there (r1, r2 found nothing).", ("r1", "r2")),
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


def test_that_nothing_was_found_is_not_believed_where_the_tool_could_not_look() -> None:
    blind = [receipt("r1", missed="the word stands in queue.c, whose language is not parsed here")]
    assert judge("There is none (r1 found nothing).", blind, [], ROOT).problem == (
        "r1 found nothing, but the word stands in queue.c, whose language is not parsed here"
    )
    assert judge("There is none (r2 found nothing).", [*blind, receipt("r2")], [], ROOT).evidence == ("r2",)
    assert judge("There is none (r1, r2).", [*blind, receipt("r2")], [], ROOT).evidence == ("r1", "r2")
    unread = receipt("r1", Span(path="app.log"), missed="its pattern could not be read")
    assert judge("No entry of app.log matches.", [unread], [], ROOT).problem.startswith("r1 found nothing, but")
