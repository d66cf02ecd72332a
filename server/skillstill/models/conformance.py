"""Whether a turn that was written elsewhere keeps its grammar, and which of its tokens were choices at all.

A grammar is made of characters, so no vocabulary is needed to read a text by it: each byte is a token.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from skillstill.types import Decision

if TYPE_CHECKING:
    from llguidance import LLMatcher, LLTokenizer


@dataclass(frozen=True, slots=True)
class Conformance:
    """`decisions` are those of the tokens that the grammar did not force, as the embedded engine counts them."""

    is_kept: bool
    decisions: tuple[Decision, ...]


def conformance(grammar: str, text: str, tokens: Sequence[Decision], *, truncated: bool) -> Conformance | None:
    """Return how the text keeps a Lark grammar; None if llguidance is not installed here.

    The tokens are those of the text, and perhaps one more that ends the turn. If they are not, as when a server writes
    half a character in words of its own, all of them count as decisions.
    """
    tokenizer = _bytes()
    if tokenizer is None:
        return None
    from llguidance import LLMatcher

    matcher, said = LLMatcher(tokenizer, grammar), tuple(tokens)
    if "".join(one.token for one in said).startswith(text):
        free = _choices(matcher, text.encode(), said)
    else:
        free = said if _read(matcher, text.encode()) else None
    if free is None or not (truncated or matcher.is_accepting() or matcher.is_stopped()):
        return Conformance(False, said)
    return Conformance(True, free)


def _choices(matcher: "LLMatcher", text: bytes, tokens: Sequence[Decision]) -> tuple[Decision, ...] | None:
    """Return the tokens that were not forced, all of them read; None at the first one that is a mistake."""
    free = []
    for one in tokens:
        piece = one.token.encode()[: len(text)]
        text = text[len(piece) :]
        if not _is_forced(matcher, piece):
            free.append(one)
        if not _read(matcher, piece):
            return None
    return tuple(free)


def _is_forced(matcher: "LLMatcher", piece: bytes) -> bool:
    """Return whether nothing else may come. The end of a turn has no text."""
    return matcher.compute_ff_bytes().startswith(piece) if piece else matcher.is_stopped()


def _read(matcher: "LLMatcher", piece: bytes) -> bool:
    return matcher.try_consume_tokens(list(piece)) == len(piece)


@cache
def _bytes() -> "LLTokenizer | None":
    """Return a vocabulary in which each byte is a token."""
    try:
        from llguidance import LLTokenizer
    except ModuleNotFoundError:  # it comes with the extra `embedded`, which who only asks servers does without
        return None
    return LLTokenizer("byte")
