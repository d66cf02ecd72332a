"""A lesson looks for nothing that nobody said or showed, and tells nothing that no result shows."""

from datetime import UTC, datetime
from typing import Any

import pytest
from skillstill.types import DialectName, Message, Report, ToolCall, Trace
from skillstill_training.field.knowable import could_be_known
from skillstill_training.field.question import Gold

PROMPT = "how long do we wait between retries?"
GOLD = Gold(outcome="answer", answer="0.5", facts=(("0.5", "half a second"),), places=("a.py:3",))
SHOWN = Message(role="tool", receipt="r1", content="r1: a.py:3: PAUSE = 0.5  # of the backoff")


def trace(*messages: Message, context: str = "") -> Trace:
    return Trace(
        run="1",
        release="",
        skill="explore",
        model="a plan",
        dialect=DialectName.LINES,
        created=datetime(2026, 1, 1, tzinfo=UTC),
        workspace=".",
        prompt=PROMPT,
        tools=(),
        messages=messages,
        receipts=(),
        report=Report(answer="0.5 (a.py:3).", status="answered", context=context),
    )


def call(name: str, **arguments: Any) -> Message:
    return Message(role="assistant", calls=(ToolCall(name=name, arguments=arguments),))


@pytest.mark.parametrize(
    ("look", "is_known"),
    [
        (call("search", pattern="retries"), True),
        (call("search", pattern="retry"), True),
        (call("search", pattern="backoff"), False),
        (call("search", pattern="backoff|wait"), True),
        (call("search", pattern="backoff|"), False),
        (call("search", pattern="with backoff"), False),
        (call("search", pattern="tries"), False),
        (call("query", sql="select value from settings where name like '%retr%'"), True),
        (call("query", sql="select value from settings where name = 'backoff'"), False),
        (call("read", path="a.py", line=3), True),
    ],
)
def test_a_call_looks_for_words_that_were_said(look: Message, is_known: bool) -> None:
    assert could_be_known(trace(look, SHOWN), GOLD) is is_known


def test_what_a_result_showed_may_be_looked_for_next() -> None:
    assert could_be_known(trace(call("read", path="a.py"), SHOWN, call("search", pattern="backoff")), GOLD)


def test_an_answer_is_shown_by_a_result_or_among_the_lines_around_a_quote() -> None:
    other = Message(role="tool", receipt="r1", content="r1: a.py:2: # the pause")
    assert not could_be_known(trace(other), GOLD)
    assert could_be_known(trace(other, context="a.py:2: # the pause\n  PAUSE = 0.5"), GOLD)
