"""What differs from dialect to dialect: how a call is written and read, and how its result is shown."""

from collections.abc import Callable, Sequence
from typing import Protocol

from skillstill.types import DialectName, Message, ToolSchema

Marker = Callable[[str], str]  # a tag as a terminal of the model's vocabulary: quoted text, or `<[id]>` for one token


class Dialect(Protocol):
    def __hash__(self) -> int: ...

    @property
    def name(self) -> DialectName:
        """Return the name with its version, a part of the contract of each release."""
        ...

    @property
    def points(self) -> bool:
        """Return whether lines of results have letters, which stand for them (`pointing`)."""
        ...

    @property
    def prompted(self) -> bool:
        """Return whether the system turn tells the tools. A finetuned model carries them in its weights."""
        ...

    def write(self, message: Message, tools: Sequence[ToolSchema] = ()) -> str:
        """Return what the model itself wrote in an assistant turn. `tools` tell which argument may have many lines."""
        ...

    def result(self, text: str, *, opens: bool, closes: bool) -> str:
        """Return the answer of a tool; `opens` and `closes`: the first and the last of those that stand in a row."""
        ...

    def parse(self, text: str, *, truncated: bool) -> Message:
        """Return the assistant message in a model's text.

        `malformed` says what is wrong with a call that cannot be read.
        Of a text that was cut off (`truncated`), a call without a sure end cannot be.
        """
        ...

    def teach(self, tools: Sequence[ToolSchema]) -> str:
        """Return the part of a system turn that tells an untrained model its tools and how to call one."""
        ...

    def rules(self, tools: Sequence[ToolSchema], marker: Marker, said: Sequence[Message]) -> Sequence[str]:
        """Return the rules of a Lark grammar: `call`, ANSWER (words and no call) and `intent`, which may precede both.

        `said` is the conversation so far.
        """
        ...
