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
    is an invention, and spoils the whole answer.
    """
    good = [receipt for receipt in receipts if not receipt.refused]
    if not good:
        return Verdict(problem="it was given without a successful tool call")
    if wrong := invented(answer, good, shown):
        return Verdict(problem=f"it names {wrong}, which no tool has shown")
    quoted = [f"{place.path}:{place.first}" for place in _quoted(answer) if _covered(place, good)]
    named = [receipt.id for receipt in good if receipt.id in RECEIPT.findall(answer)]
    found = tuple(dict.fromkeys([*quoted, *named])) or tuple(_receipts_of_paths(answer, good))
    return Verdict(found) if found else Verdict(problem="it names no location and no receipt")


def invented(text: str, receipts: Sequence[Receipt], shown: Sequence[str]) -> str:
    """The first location in the text that nothing bears out, as it is quoted there; empty where there is none."""
    for place in _quoted(text):
        quote = f"{place.path}:{place.first}" + (f"-{place.last}" if place.last != place.first else "")
        if not _covered(place, receipts) and _looks_like_path(place.path) and not _stands_in(quote, shown):
            return quote
    return ""


def partial(receipts: Sequence[Receipt], limit: int = 5) -> tuple[str, ...]:
    """The first place that each of the last receipts showed: what a hand-off can pass on."""
    firsts = (next((span for span in receipt.spans if span.first), None) for receipt in reversed(receipts))
    return tuple(dict.fromkeys(f"{span.path}:{span.first}" for span in firsts if span))[:limit]


def _quoted(text: str) -> list[Span]:
    places = LOCATION.findall(text)
    return [Span(path=path, first=int(first), last=int(last or first)) for path, first, last in places]


def _covered(place: Span, receipts: Sequence[Receipt]) -> bool:
    """Whether both ends of the quoted lines were shown."""
    spans = [span for receipt in receipts for span in receipt.spans if span.path == place.path and span.first]
    return all(any(span.first <= line <= span.last for span in spans) for line in (place.first, place.last))


def _looks_like_path(text: str) -> bool:
    return "/" in text or re.search(r"\.[A-Za-z]\w*$", text) is not None


def _stands_in(text: str, shown: Sequence[str]) -> bool:
    return any(re.search(rf"(?<![\w/.]){re.escape(text)}(?!\d)", one) for one in shown)


def _receipts_of_paths(answer: str, receipts: Sequence[Receipt]) -> list[str]:
    words = set(re.findall(r"[\w./@+-]*\w", answer))
    return [receipt.id for receipt in receipts if any(span.path in words for span in receipt.spans)]
