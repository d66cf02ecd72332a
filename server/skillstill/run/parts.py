"""A prompt that holds several questions, split by the form of its sentences. What is in doubt stays whole."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

MOST = 4  # parts; of more, nobody asked one thing after the other
WORDS = 3  # of a part at least: `and why?` says too little of its own
_WH = r"(?:what|which|who|whose|whom|where|when|why|how)"
_ITEM = re.compile(r"^[ \t]*(?:\(?\d{1,2}[.)]|[-*•])[ \t]+", re.MULTILINE)
_MARK = re.compile(r"(?<=\w\?)\s+(?=\S)|(?<=[)\"'`]\?)\s+(?=\S)")  # after a question mark that ends a word
_JOINT = re.compile(
    rf"\s*[,;]?\s+and\s+(?:also\s+)?(?=(?:(?:in|on|at|by|from|to) )?{_WH}\b)|\s*[,;.]?\s+and also\s+", re.IGNORECASE
)
_ASKS = re.compile(
    rf"\b{_WH}\b|\A\W*(?:is|are|was|were|do|does|did|has|have|can|could|list|name|give|show|tell|find|count)\b"
    r"|\b(?:is|are|was|were|does|did|has|have) (?:there|it|they|we|he|she)\b",
    re.IGNORECASE,
)


def split_questions(prompt: str) -> Sequence[str]:
    """Return the questions of a prompt in their order: the prompt alone if it is not surely more than one."""
    parts = _items(prompt) or _marked(prompt) or _joined(prompt)
    return parts if 1 < len(parts) <= MOST else [prompt]


def _items(prompt: str) -> Sequence[str]:
    """Return the items of a list, each under what stands before the list."""
    starts = [found.start() for found in _ITEM.finditer(prompt)]
    if len(starts) < 2:
        return []
    head = prompt[: starts[0]].strip()
    items = [_ITEM.sub("", prompt[first:end], count=1).strip() for first, end in pairwise([*starts, len(prompt)])]
    return [f"{head} {item}".strip() for item in items] if all(map(_asks, items)) else []


def _marked(prompt: str) -> Sequence[str]:
    """Return the questions that end in a mark each; what stands behind the last one belongs to it."""
    pieces = _MARK.split(prompt)
    questions = list(_gathered(pieces))
    return questions if len(questions) > 1 and all(map(_asks, questions)) else []


def _gathered(pieces: Sequence[str]) -> Iterator[str]:
    *earlier, last = pieces
    if last.rstrip().endswith("?") or not earlier:
        yield from pieces
    else:
        yield from (*earlier[:-1], f"{earlier[-1]} {last}")


def _joined(prompt: str) -> Sequence[str]:
    """Return what `and` joins before a question word, or `and also`."""
    pieces = [piece.strip() for piece in _JOINT.split(prompt)]
    return pieces if len(pieces) > 1 and all(map(_asks, pieces)) else []


def _asks(text: str) -> bool:
    return len(text.split()) >= WORDS and _ASKS.search(text) is not None
