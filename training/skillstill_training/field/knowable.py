"""What a run could have known: calls that look for what was said or shown before, and answers that a result shows."""

import re
from collections.abc import Iterator

from skillstill.run.claims import LITERAL
from skillstill.types import ToolCall, Trace

from skillstill_training.field.judge import states_facts
from skillstill_training.field.question import Gold

WORD = re.compile(r"[^\W\d_]{3,}|\d{2,}")
STEM = 4  # letters by which two forms of a word are the same
QUERIES = frozenset(("sql", "query"))  # arguments that hold a query: what it looks for stands in quotes


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
    return gold.outcome != "answer" or states_facts(gold, "\n".join([*shown, *files, trace.report.context]))


def _searched(call: ToolCall) -> Iterator[str]:
    """Yield the texts that a call looks for."""
    for name, value in call.arguments.items():
        if isinstance(value, str):
            yield from LITERAL.findall(value) if name in QUERIES else [value]


def _is_known(text: str, known: str) -> bool:
    """Return whether all words of the text were told before or, of a pattern with several branches, those of one."""
    branches = [words for branch in text.casefold().split("|") if (words := WORD.findall(branch))]
    return not branches or any(all(_is_told(word, known) for word in words) for words in branches)


def _is_told(word: str, known: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(word[:STEM])}", known) is not None
