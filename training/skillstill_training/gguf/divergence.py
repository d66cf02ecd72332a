"""How alike two voices speak: the same prompts, token by token, and how far their next-token distributions lie apart.

A voice is a model in an engine, with or without an adapter. What is compared are the places where a model decides in
use: along the text that the first voice would write.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import llama_cpp
import numpy as np
from numpy.typing import NDArray
from skillstill.errors import StageError
from skillstill.models.engine import Engine, EngineOptions, divergence
from skillstill.types import Adapter, Frozen

from skillstill_training.util.hashes import file_sha256

Logits = NDArray[np.floating]
Prompts = Sequence[Sequence[int]]
LENGTH = 32  # tokens of a text: two calls or a short answer


class Divergence(Frozen):
    """`kl` is the mean Kullback-Leibler divergence in nats over `positions`; `top` the share of them where both want
    the same token; `texts` the share of prompts that both answer in the same words."""

    kl: float
    top: float
    texts: float
    positions: int

    def __str__(self) -> str:
        return f"KL {self.kl:.1e}, same token at {self.top:.1%}, same text for {self.texts:.0%}"


class LogitSource(Protocol):
    def begin(self) -> None:
        """Forget everything."""

    def read(self, tokens: Sequence[int]) -> Logits:
        """Append tokens; (vocabulary,) logits of what comes next."""


class LlamaLogits:
    """A GGUF in llama.cpp, as serving reads it. Close it. Raises ModelError."""

    def __init__(self, base: Path, adapter: Path | None, context: int) -> None:
        self._engine = Engine(base, EngineOptions(context=context))
        self._adapter = Adapter(path=adapter, sha256=file_sha256(adapter)) if adapter else None
        self._read = 0
        self.stop: int = llama_cpp.llama_vocab_eos(self._engine.vocabulary)
        self.size = self._engine.vocabulary_size

    def begin(self) -> None:
        self._engine.forget(0, 0)
        self._engine.settle_threads()
        self._read = 0

    def read(self, tokens: Sequence[int]) -> Logits:
        self._engine.use(self._adapter)
        logits = self._engine.decode(tokens, self._read, 0)
        self._read += len(tokens)
        return logits

    def close(self) -> None:
        self._engine.close()


@contextmanager
def llama_voice(base: Path, adapter: Path | None, prompts: Prompts) -> Iterator[LlamaLogits]:
    """Return one with room for these prompts.

    Raise StageError without any, ModelError if a file cannot be loaded.
    """
    if not prompts or not all(prompts):
        raise StageError("two models cannot be compared without prompts: give at least one, none of them empty")
    voice = LlamaLogits(base, adapter, max(map(len, prompts)) + LENGTH)
    try:
        yield voice
    finally:
        voice.close()


def compare(one: LogitSource, other: LogitSource, prompts: Prompts, stop: int) -> Divergence:
    """Return how well `other` keeps to what `one` would write, each text until its token `stop`."""
    texts = [list(_along(one, other, prompt, stop)) for prompt in prompts]
    positions = [position for text in texts for position in text]
    return Divergence(
        kl=float(np.mean([kl for kl, _ in positions])),
        top=float(np.mean([same for _, same in positions])),
        texts=float(np.mean([all(same for _, same in text) for text in texts])),
        positions=len(positions),
    )


def _along(one: LogitSource, other: LogitSource, prompt: Sequence[int], stop: int) -> Iterator[tuple[float, bool]]:
    """Yield at each token that `one` writes greedily: the divergence, and whether `other` would write it too."""
    one.begin()
    other.begin()
    tokens = list(prompt)
    for _ in range(LENGTH):
        expected, came = one.read(tokens), other.read(tokens)
        best = int(expected.argmax())
        yield divergence(expected, came), best == int(came.argmax())
        if best == stop:
            return
        tokens = [best]
