"""No claim without a receipt: what an answer quotes must have been shown by a tool of the same run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from skillstill.types import Receipt, Span

# `src/app.py:12` or `Makefile:3-9`: something like a path, a colon, a line or a range of lines.
LOCATION = re.compile(r"(?<![\w/.:-])((?:[\w.@+-]+/)*[\w.@+-]*\w):(\d{1,7})(?:-(\d{1,7}))?(?![\w:])")
RECEIPT = re.compile(r"\br\d{1,3}\b")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The evidence of an answer, or (`problem`) why it has none."""

    evidence: tuple[str, ...] = ()
    problem: str = ""


def judge(answer: str, receipts: Sequence[Receipt], shown: Sequence[str]) -> Verdict:
    """What in the answer is vouched for. `shown` are the texts that the tools gave.

    Evidence is each quoted `path:line` that a receipt covers, the receipt of each quoted path, and each receipt that
    is named. A quoted location that no receipt covers, and that stands in no shown text either (as `host:8080` might),
    is an invention; so is a receipt that does not exist. Either spoils the whole answer.
    """
    good = [receipt for receipt in receipts if not receipt.refused]
    if not good:
        return Verdict(problem="it was given without a successful tool call")
    found: dict[str, None] = {}
    for path, first, last in LOCATION.findall(answer):
        quoted = f"{path}:{first}" + (f"-{last}" if last else "")
        if _covered(path, int(first), int(last or first), good):
            found[f"{path}:{first}"] = None
        elif _looks_like_path(path) and not _stands_in(quoted, shown):
            return Verdict(problem=f"it names {quoted}, which no tool has shown")
    for name in RECEIPT.findall(answer):
        if name in {receipt.id for receipt in good}:
            found[name] = None
    found |= dict.fromkeys(_receipts_of_paths(answer, good)) if not found else {}
    return Verdict(tuple(found)) if found else Verdict(problem="it names no location and no receipt")


def partial(receipts: Sequence[Receipt], limit: int = 5) -> tuple[str, ...]:
    """The first place that each of the last receipts showed: what a hand-off can pass on."""
    firsts = (next((span for span in receipt.spans if span.first), None) for receipt in reversed(receipts))
    return tuple(dict.fromkeys(f"{span.path}:{span.first}" for span in firsts if span))[:limit]


def _covered(path: str, first: int, last: int, receipts: Sequence[Receipt]) -> bool:
    lines = {line for receipt in receipts for span in receipt.spans for line in _lines(span) if span.path == path}
    return first in lines and last in lines


def _lines(span: Span) -> range:
    return range(span.first, span.last + 1) if span.first else range(0)


def _looks_like_path(text: str) -> bool:
    return "/" in text or re.search(r"\.[A-Za-z]\w*$", text) is not None


def _stands_in(text: str, shown: Sequence[str]) -> bool:
    return any(re.search(rf"(?<![\w/.]){re.escape(text)}(?!\d)", one) for one in shown)


def _receipts_of_paths(answer: str, receipts: Sequence[Receipt]) -> list[str]:
    words = set(re.findall(r"[\w./@+-]*\w", answer))
    return [receipt.id for receipt in receipts if any(span.path in words for span in receipt.spans)]
