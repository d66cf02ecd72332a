"""A sequence of an engine's context, and what of a prompt need not be read again."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from anyio import from_thread
from numpy.typing import NDArray

from skillstill.models.engine import Engine
from skillstill.types import Adapter


@dataclass(frozen=True, slots=True)
class Prompt:
    """The tokens of a prompt; the first `system` of them are its system turn."""

    tokens: list[int]
    system: int


class Slot:
    """Keys and values of one run's turns so far, all of one adapter.

    A new run finds at most the system turn of the one before it, which is always read in batches of its own. More is
    not shared: logits depend a little on how tokens were batched, and a run must depend on nothing but its prompt.
    """

    def __init__(self, engine: Engine, sequence: int) -> None:
        self.engine, self.sequence = engine, sequence
        self.adapter: Adapter | None = None
        self.tokens: list[int] = []
        self._system = 0

    def begin(self, adapter: Adapter | None) -> None:
        """Make ready for another run. The engine hears of it when the run reads: until then another one decodes."""
        del self.tokens[self._system if adapter == self.adapter else 0 :]
        self.adapter = adapter

    def rewind(self, prompt: Prompt) -> int:
        """Keep what is held of the prompt, but for a last token to decode; how many tokens that are."""
        same = 0
        while same < min(len(self.tokens), len(prompt.tokens) - 1) and self.tokens[same] == prompt.tokens[same]:
            same += 1
        self._keep(same if same >= prompt.system else 0)
        return len(self.tokens)

    def read_system(self, prompt: Prompt) -> None:
        """Have the system turn read, as a beginning that the next run may find."""
        if len(self.tokens) < prompt.system:
            self.decode(prompt.tokens[: prompt.system])
        self._system = prompt.system

    def decode(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Append tokens; the logits of the last. Raises the worker thread's cancellation between batches."""
        try:
            logits = self.engine.decode(tokens, len(self.tokens), self.sequence, from_thread.check_cancelled)
        except BaseException:
            self._keep(len(self.tokens))  # a part of the new tokens may be in
            raise
        self.tokens += tokens
        return logits

    def weigh(self, shown: Sequence[int], pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[float]:
        """Return the log-probability of each text `said` after what is shown and `read`. None of it belongs to the run.

        What the slot held of the run is dropped, and read anew by the next turn: a taught model's run is short, and a
        sequence kept for this would cost every other run a part of the context.
        """
        self._keep(0)
        try:
            self.engine.decode(shown, 0, self.sequence, from_thread.check_cancelled)
            return [self._weighed(len(shown), read, said) for read, said in pairs]
        finally:
            self.engine.forget(self.sequence, 0)

    def _weighed(self, position: int, read: Sequence[int], said: Sequence[int]) -> float:
        from_thread.check_cancelled()
        self.engine.forget(self.sequence, position)
        return self.engine.likelihood(read, said, position, self.sequence)

    def _keep(self, count: int) -> None:
        self.engine.forget(self.sequence, count)
        del self.tokens[count:]
        self._system = min(self._system, count)
