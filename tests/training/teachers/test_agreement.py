"""When two attempts say the same."""

import pytest
from skillstill_training.authoring.attempt import Attempt
from skillstill_training.teachers.agreement import agree

ASKED = "Where is Cart.total computed, and with which of the 2 rates?"


def attempt(answer: str) -> Attempt:
    return Attempt.of_text(ASKED, answer)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It is at shop/cart.py:12.", "`Cart.total` is at `shop/cart.py:12-20`, see r2."),
        ("It is at shop/cart.py:12.", "The decorator is at shop/cart.py:10."),
        ("At a.py:1 and b.py:9.", "At a.py:1."),
        ("The rate is 0.25 (r1).", "It uses 0.250 (r3), the second of 2."),
        ("It uses `standard_rate` (r1).", "standard_rate is what it takes (r2)."),
        ("It uses `fee` and `rate` (r1).", "It calls fee() (r2)."),
        ("There is no such method (r1 found nothing).", "None of the files computes that (r4)."),
        ("At a.py:1, not in b.", "At a.py:1."),
    ],
)
def test_the_same_in_other_words_agrees(one: str, other: str) -> None:
    assert agree(attempt(one), attempt(other)).passed
    assert agree(attempt(other), attempt(one)).passed


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("It is at shop/cart.py:12.", "It is at shop/cart.py:40.", "the attempts name different places"),
        ("It is at shop/cart.py:12.", "It is at till/cart.py:12.", "the attempts name different places"),
        ("It is at a.py:1.", "It is in a.py (r1).", "the attempts name different places"),
        ("At a.py:1.", "At a.py:1, b.py:2, c.py:3 and d.py:4.", "the attempts name different places"),
        ("The rate is 0.25 (r1).", "The rate is 0.2 (r1).", "the attempts state different numbers"),
        ("The rate is 0.25 (r1).", "The rates are 0.25 and 7 (r1).", "the attempts state different numbers"),
        ("It uses `standard_rate` (r1).", "It uses `fee` (r1).", "the attempts name different things"),
        ("There is no such method (r1).", "It is at a.py:1.", "only one attempt says that there is none"),
        ("In the cart (r1).", "In the cart (r1).", "the attempts name nothing that can be compared"),
        (
            "Cart.total, 2 of them (r1).",
            "Cart.total, 2 of them (r1).",
            "the attempts name nothing that can be compared",
        ),
        ("escalate: lost", "escalate: lost", "an attempt ended as escalate"),
        ("It is at a.py:1.", "escalate: lost", "an attempt ended as escalate"),
    ],
)
def test_another_answer_or_nothing_to_compare_does_not_agree(one: str, other: str, why: str) -> None:
    assert agree(attempt(one), attempt(other)).why == why
    assert agree(attempt(other), attempt(one)).why == why
