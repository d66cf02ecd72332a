"""A model that says what it was told to say: the outermost edge, replaced, for tests of everything inside it."""

from collections.abc import Iterable, Sequence

from skillstill.errors import ModelError
from skillstill.types import Message, ToolCall, ToolSchema


class ScriptedModel:
    """Gives the turns in order; a string is an answer, an exception is raised. `asked` keeps what it was sent."""

    def __init__(self, turns: Iterable[Message | str | Exception]) -> None:
        self.turns = iter(turns)
        self.asked: list[tuple[Message, ...]] = []

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        self.asked.append(tuple(messages))
        turn = next(self.turns, ModelError("the script has no more turns"))
        if isinstance(turn, Exception):
            raise turn
        return Message(role="assistant", content=turn) if isinstance(turn, str) else turn


def call(tool: str, **arguments: object) -> Message:
    """Return an assistant turn that calls one tool."""
    return Message(role="assistant", calls=(ToolCall(name=tool, arguments=arguments),))
