"""A sequence of an engine's context, and what of a prompt need not be read again."""

from collections.abc import Sequence
from dataclasses import dataclass

from skillstill.models.engine import Engine
from skillstill.types import Adapter


@dataclass(frozen=True, slots=True)
class Prompt:
    """The tokens of a prompt. Its first `system` are its system turn, and the opening if all questions share it."""

    tokens: list[int]
    system: int


class Slot:
    """Keys and values of one run's turns so far, all of one adapter.

    A new run finds at most the system turn of the one before it, which is always read by itself. More is not shared:
    logits depend a little on how tokens were batched, and a run that is alone must depend on nothing but its prompt.

    Only the engine's thread changes it.
    """

    def __init__(self, engine: Engine, sequence: int) -> None:
        self.engine, self.sequence = engine, sequence
        self.adapter: Adapter | None = None
        self.tokens: list[int] = []  # what the sequence holds
        self._system = 0

    def begin(self, adapter: Adapter | None) -> None:
        """Make ready for another run."""
        self.keep(self._system if adapter == self.adapter else 0)
        self.adapter = adapter

    def rewind(self, prompt: Prompt) -> int:
        """Keep what is held of the prompt, but for a last token to decode; how many tokens that are."""
        same = 0
        while same < min(len(self.tokens), len(prompt.tokens) - 1) and self.tokens[same] == prompt.tokens[same]:
            same += 1
        self.keep(same if same >= prompt.system else 0)
        return len(self.tokens)

    def note_system(self, prompt: Prompt) -> None:
        """Note that the system turn is read, as a beginning that the next run may find."""
        self._system = prompt.system

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
        self._system = min(self._system, count)

    def drop(self) -> None:
        """Drop everything."""
        self.keep(0)
