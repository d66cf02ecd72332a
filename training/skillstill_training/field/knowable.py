"""What a run could have known: calls that look for what was said or shown before, and answers that a result shows."""

import re
from collections.abc import Iterator

from skillstill.types import ToolCall, Trace

from skillstill_training.field.judge import states_facts
from skillstill_training.field.question import Gold

WORD = re.compile(r"[^\W\d_]{3,}|\d{2,}")
STEM = 5  # letters by which two forms of a word are the same
QUERY = re.compile(r"\s*(?:select|with)\b", re.IGNORECASE)
LITERAL = re.compile(r"'((?:[^']|'')*)'")


def could_be_known(trace: Trace, gold: Gold) -> bool:
    """Return whether each call looks for words that were said or shown before it, and results show all facts.

    What code adds to an answer, the lines around a quoted one, nobody has to know.
    """
    known = trace.prompt.casefold()
    for message in trace.messages:
        if not all(_is_known(text, known) for call in message.calls for text in _searched(call)):
            return False
        known += f" {message.content.casefold()}" if message.role == "tool" else ""
    shown = [message.content for message in trace.messages if message.role == "tool"]
    files = [span.path for receipt in trace.receipts for span in receipt.spans]
    added = [line for line in trace.report.answer.split("\n") if line not in trace.messages[-1].content]
    return gold.outcome != "answer" or states_facts(gold, "\n".join([*shown, *files, *added]))


def _searched(call: ToolCall) -> Iterator[str]:
    """Yield the texts that a call looks for; of a query, those in quotes."""
    for value in call.arguments.values():
        if isinstance(value, str):
            yield from LITERAL.findall(value) if QUERY.match(value) else [value]


def _is_known(text: str, known: str) -> bool:
    """Return whether all words of the text were told before, or, of a pattern, those of one of its branches."""
    return any(all(word[:STEM] in known for word in WORD.findall(branch.casefold())) for branch in text.split("|"))
