"""A sequence of an engine's context, and what of a prompt need not be read again."""

from collections.abc import Sequence
from dataclasses import dataclass

from skillstill.models.engine import Engine
from skillstill.types import Adapter


@dataclass(frozen=True, slots=True)
class Prompt:
    """The tokens of a prompt. Its first `shared` are its system turn, and the opening if all questions share it."""

    tokens: list[int]
    shared: int


class Slot:
    """Keys and values of one run's turns so far, all of one adapter.

    A new run finds at most the shared beginning of the last one, which is always read by itself. More is not shared:
    logits depend a little on how tokens were batched, and a run that is alone must depend on nothing but its prompt.

    Only the engine's thread changes it.
    """

    def __init__(self, engine: Engine, sequence: int) -> None:
        self.engine, self.sequence = engine, sequence
        self.adapter: Adapter | None = None
        self.tokens: list[int] = []  # what the sequence holds
        self._shared = 0

    def begin(self, adapter: Adapter | None) -> None:
        """Make ready for another run."""
        self.keep(self._shared if adapter == self.adapter else 0)
        self.adapter = adapter

    def rewind(self, prompt: Prompt) -> int:
        """Keep what is held of the prompt, but for a last token to decode; how many tokens that are."""
        same = 0
        while same < min(len(self.tokens), len(prompt.tokens) - 1) and self.tokens[same] == prompt.tokens[same]:
            same += 1
        self.keep(same if same >= prompt.shared else 0)
        return len(self.tokens)

    def note_shared(self, prompt: Prompt) -> None:
        """Note that the shared tokens are read, as a beginning that the next run may find."""
        self._shared = prompt.shared

    def take(self, other: "Slot", count: int) -> None:
        """Hold the first `count` tokens that another slot of the same adapter holds."""
        self.engine.copy(other.sequence, self.sequence)
        self.tokens = list(other.tokens)
        self.keep(count)

    def restore(self, state: bytes, tokens: Sequence[int]) -> bool:
        """Hold these tokens, whose keys and values were kept. Nothing, and False, if they are damaged."""
        self.drop()
        if restored := self.engine.restore(self.sequence, state):
            self.tokens = list(tokens)
        return restored

    def keep(self, count: int) -> None:
        """Drop what is held behind the first `count` tokens."""
        self.engine.forget(self.sequence, count)
        del self.tokens[count:]
        self._shared = min(self._shared, count)

    def drop(self) -> None:
        """Drop everything."""
        self.keep(0)
