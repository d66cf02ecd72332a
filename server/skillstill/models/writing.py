"""One turn being written: the arg-max is checked against the grammar alone, and masked only where it is refused.

Cheap, because a check costs microseconds and a mask of the whole vocabulary is made only for a refused token; tokens
that the grammar forces are appended to the pending batch, so that a run of them costs one decode.
"""

from collections.abc import Callable, Sequence

import llguidance
import llguidance.numpy as masks
import numpy as np
from numpy.typing import NDArray

from skillstill.models.engine import Engine
from skillstill.types import Decision


class Writing:
    """`tokens` and `decisions` so far; `end` is the token that closes a turn, and is not among them."""

    def __init__(self, engine: Engine, matcher: llguidance.LLMatcher, end: int) -> None:
        self.engine, self.matcher, self.end = engine, matcher, end
        self.tokens: list[int] = []
        self.decisions: list[Decision] = []
        self.truncated = False

    @property
    def text(self) -> str:
        return b"".join(map(self.engine.piece, self.tokens)).decode("utf-8", "replace")

    def run(self, pending: list[int], room: int, decode: Callable[[Sequence[int]], NDArray[np.float32]]) -> None:
        """Read `pending`, then write until the grammar or the model ends the turn, or `room` tokens are written."""
        while True:
            forced = self.matcher.compute_ff_tokens()
            self.matcher.consume_tokens(forced)
            self.tokens += forced
            if self.matcher.is_stopped():
                return
            if len(self.tokens) >= room:
                self.truncated = True
                return
            token = self._choose(decode([*pending, *forced]))
            if token == self.end:
                return
            self.tokens.append(token)
            pending = [token]

    def _choose(self, logits: NDArray[np.float32]) -> int:
        wanted = int(logits.argmax())
        token = wanted
        if not self.matcher.try_consume_tokens([wanted]):
            token = self._best_allowed(logits)
            self.matcher.consume_token(token)
        logprob = float(logits[token] - _log_sum_exp(logits))
        text = self.engine.piece(token).decode("utf-8", "replace")
        self.decisions.append(Decision(token=text, logprob=round(logprob, 4), overruled=token != wanted))
        return token

    def _best_allowed(self, logits: NDArray[np.float32]) -> int:
        mask = masks.allocate_token_bitmask(1, len(logits))
        masks.fill_next_token_bitmask(self.matcher, mask)
        allowed = logits[None].copy()
        masks.apply_token_bitmask_inplace(allowed, mask)
        return int(allowed.argmax())


def _log_sum_exp(logits: NDArray[np.float32]) -> float:
    top = logits.max()
    return float(top + np.log(np.exp(logits - top).sum()))
