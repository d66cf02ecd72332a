"""Several questions in one prompt: what is surely more than one is told apart, what is in doubt stays whole."""

import pytest
from skillstill.run.parts import split_questions


@pytest.mark.parametrize(
    ("prompt", "parts"),
    [
        ("Where is it set? And which test covers it?", ["Where is it set?", "And which test covers it?"]),
        ("who ran it and when did it end", ["who ran it", "when did it end"]),
        ("My disk is small. How do I switch this off, and what is the copy called?",
         ["My disk is small. How do I switch this off", "what is the copy called?"]),
        ("About the pool:\n1. what is its size?\n2. who closes it?",
         ["About the pool: what is its size?", "About the pool: who closes it?"]),
        ("Where is it stopped? And who calls that? I need every place.",
         ["Where is it stopped?", "And who calls that? I need every place."]),
    ],
)  # fmt: skip
def test_questions_are_told_apart(prompt: str, parts: list[str]) -> None:
    assert list(split_questions(prompt)) == parts


@pytest.mark.parametrize(
    "prompt",
    [
        "where is the retry wait computed",
        "When the pool is full, what happens?",
        "Which files read and write the cache?",
        "it fails?! where is that thrown",
        "what is x and why",
        "1. open the file\n2. close it",
    ],
)
def test_one_question_stays_whole(prompt: str) -> None:
    assert list(split_questions(prompt)) == [prompt]
