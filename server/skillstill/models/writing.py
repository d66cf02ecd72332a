"""One turn being written: the arg-max is checked against the grammar alone, and masked only if it is refused.

Cheap, because a check costs microseconds and a mask of the whole vocabulary is made only for a refused token; tokens
that the grammar forces are appended to the pending batch, so that a run of them costs one decode.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import llguidance
import llguidance.numpy as masks
import numpy as np
from numpy.typing import NDArray

from skillstill.models.engine import Engine, log_sum_exp
from skillstill.models.scheduler import Read, Steps
from skillstill.types import Decision

TOO_MUCH = {"ParserTooComplex", "LexerTooComplex", "InternalError"}  # reasons of llguidance to stop


@dataclass(frozen=True, slots=True)
class Fork:
    """A choice that could have gone otherwise: after so many tokens and decisions, by a `margin` in logits."""

    tokens: int
    decisions: int
    other: int
    decision: Decision
    margin: float


class Writing:
    """`tokens` and `decisions` so far; `end` is the token that closes a turn, and is not among them.

    `watched`: the second-best choices are kept, so that a turn can be reconsidered. `discarded` counts the tokens that
    were written for nothing.
    """

    def __init__(self, engine: Engine, matcher: llguidance.LLMatcher, end: int, *, watched: bool = False) -> None:
        self.engine, self.matcher, self.end, self.watched = engine, matcher, end, watched
        self.tokens: list[int] = []
        self.decisions: list[Decision] = []
        self.forks: list[Fork] = []
        self.discarded = 0
        self.truncated = False

    @property
    def text(self) -> str:
        return b"".join(map(self.engine.piece, self.tokens)).decode("utf-8", "replace")

    def steps(self, pending: Sequence[int], room: int) -> Steps[None]:
        """Read `pending`, then write until the grammar or the model ends the turn, or `room` tokens are written."""
        while True:
            forced = self.matcher.compute_ff_tokens()
            self.matcher.consume_tokens(forced)
            self.tokens += forced
            if self.matcher.is_stopped():
                self.truncated = self._is_broken()
                return
            if len(self.tokens) >= room:
                self.truncated = True
                return
            token = self._choose((yield Read([*pending, *forced])))
            if token == self.end:
                self.truncated = self._is_broken()
                return
            self.tokens.append(token)
            pending = [token]

    def _is_broken(self) -> bool:
        """Return whether the turn ends because the grammar became too much for llguidance: it is half a turn."""
        return self.matcher.is_error() or self.matcher.stop_reason() in TOO_MUCH

    def reconsider(self, matcher: llguidance.LLMatcher) -> bool:
        """Go back to the least sure choice and make the other one, under a fresh matcher; False if there is none."""
        if not self.forks:
            return False
        fork = min(self.forks, key=lambda one: one.margin)
        self.forks = [one for one in self.forks if one.tokens < fork.tokens]
        self.discarded += len(self.tokens) - fork.tokens
        self.tokens = [*self.tokens[: fork.tokens], fork.other]
        self.decisions = [*self.decisions[: fork.decisions], fork.decision]
        self.matcher, self.truncated = matcher, False
        self.matcher.consume_tokens(self.tokens)
        return True

    def _choose(self, logits: NDArray[np.float32]) -> int:
        wanted = int(logits.argmax())
        allowed = self._allowed(logits) if self.watched else None
        token = wanted
        if not self.matcher.try_consume_tokens([wanted]):
            token = int((self._allowed(logits) if allowed is None else allowed).argmax())
            self.matcher.consume_token(token)
        total = log_sum_exp(logits)
        if allowed is not None:
            self._watch(allowed, token, total)
        self.decisions.append(self._decision(token, float(logits[token] - total), overruled=token != wanted))
        return token

    def _watch(self, allowed: NDArray[np.float32], token: int, total: float) -> None:
        """Note what is second best here. Ending the turn is none: half a call is no other call."""
        best = allowed[token]
        allowed[[token, self.end]] = -np.inf
        other = int(allowed.argmax())
        if np.isfinite(allowed[other]):
            decision = self._decision(other, float(allowed[other] - total), overruled=True)
            margin = float(best - allowed[other])
            self.forks.append(Fork(len(self.tokens), len(self.decisions), other, decision, margin))

    def _decision(self, token: int, logprob: float, *, overruled: bool) -> Decision:
        text = self.engine.piece(token).decode("utf-8", "replace")
        return Decision(token=text, logprob=round(logprob, 4), overruled=overruled)

    def _allowed(self, logits: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the logits, minus infinity for what the grammar refuses."""
        mask = masks.allocate_token_bitmask(1, len(logits))
        masks.fill_next_token_bitmask(self.matcher, mask)
        allowed = logits.copy()
        masks.apply_token_bitmask_inplace(allowed[None], mask)
        return allowed
