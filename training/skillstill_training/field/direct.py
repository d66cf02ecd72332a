"""Stock models asked directly: one prompt with what they need to know, one turn, no tools and no loop.

A subagent that is not better than the same question in one prompt is worth nothing, so this is the form in which a
larger stock model is a gate of a release. Which form serves it best was chosen on validation questions (docs/field.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Protocol

import llguidance
import numpy as np
from numpy.typing import NDArray
from skillstill import chat
from skillstill.models.engine import Engine
from skillstill.models.llama import LlamaBase
from skillstill.models.scheduler import Steps
from skillstill.models.slot import Prompt, Slot
from skillstill.models.writing import Writing
from skillstill.types import Message

from skillstill_training.field.judge import FieldAnswer


@dataclass(frozen=True, slots=True)
class Written:
    """A text that a model wrote, and what it cost in tokens."""

    text: str
    read: int
    written: int


class Form(Protocol):
    """How a question is put to a stock model, and its text read as an answer."""

    @property
    def name(self) -> str: ...

    async def answer(self, model: "DirectModel", prompt: str, root: Path) -> tuple[FieldAnswer, int, int]:
        """Return the answer, and the tokens that were read and written for it."""
        ...


class DirectModel:
    """A base that writes one turn under a grammar, greedily or sampled."""

    def __init__(self, base: LlamaBase) -> None:
        self.base = base
        self._slot = Slot(base.engine, 0)

    async def write(
        self, messages: Sequence[Message], grammar: str, *, tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> Written:
        """Return the next turn of at most `tokens` tokens. The grammar is llguidance's Lark. Raise ModelError."""
        segments = [self.base.engine.tokenize(one.text) for one in chat.render(messages, chat.HERMES)]
        prompt = Prompt([token for segment in segments for token in segment], len(segments[0]))
        matcher = llguidance.LLMatcher(self.base.vocabulary, grammar)
        if matcher.is_error():
            raise ValueError(f"not a grammar: {matcher.get_error()}")
        writing = SampledWriting(self.base.engine, matcher, self.base.end, temperature, seed)
        reused = await self.base.scheduler.run(self._slot, None, self._write(prompt, writing, tokens))
        return Written(writing.text, len(prompt.tokens) - reused, len(writing.tokens))

    def _write(self, prompt: Prompt, writing: Writing, room: int) -> Steps[int]:
        """Write the turn. Return how many tokens of the prompt need not be read."""
        reused = self._slot.rewind(prompt)
        yield from writing.steps(prompt.tokens[reused:], room)
        return reused


class SampledWriting(Writing):
    """A turn whose tokens are sampled at a temperature; at 0 it is greedy."""

    def __init__(self, engine: Engine, matcher: llguidance.LLMatcher, end: int, temperature: float, seed: int) -> None:
        super().__init__(engine, matcher, end)
        self._temperature, self._random = temperature, Random(seed)  # noqa: S311 - not for secrets

    def _choose(self, logits: NDArray[np.float32]) -> int:
        if not self._temperature:
            return super()._choose(logits)
        allowed = self._allowed(logits) / self._temperature
        weights = np.exp(allowed - allowed.max())
        token = int(np.searchsorted(np.cumsum(weights), self._random.random() * weights.sum()))
        self.matcher.consume_token(token)
        return token
