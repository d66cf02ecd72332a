"""A model behind Anthropic's Messages API, with the tools as the API's own."""

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from skillstill import chat
from skillstill.models.exchange import Exchange
from skillstill.models.remote import SECONDS, Endpoint
from skillstill.models.servers import Body
from skillstill.types import Message, ToolCall, ToolSchema, Usage

ADDRESS = "https://api.anthropic.com"
MESSAGES, VERSION = "/v1/messages", "2023-06-01"
THOUGHTS = 4_000  # tokens of a turn beside those that were asked for: the newest models think first, unasked
CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
MARKER = {"cache_control": {"type": "ephemeral"}}  # whatever stands before it is read from the cache the next time
Blocks = list[dict[str, Any]]


class AnthropicChat:
    """`/v1/messages`. Nothing is said of sampling: the newest models refuse a temperature, and there is no seed.

    A turn goes back as it came, thoughts included: the API wants them beside the calls that they led to.
    """

    def __init__(self, endpoint: Endpoint, *, seconds: float = SECONDS) -> None:
        """Set up a client. `seconds`: how long one request may take. Raise UsageError."""
        self.endpoint = endpoint
        self._client = endpoint.client(seconds, {"x-api-key": endpoint.key, "anthropic-version": VERSION})
        self._exchange = Exchange(self._client, endpoint.base_url, endpoint.key)
        self._said: list[tuple[Message, Blocks]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        """Return the next turn. Raise ModelError, its children too."""
        system, *rest = messages
        body = {
            "model": self.endpoint.model,
            "max_tokens": max_tokens + THOUGHTS,
            "system": [{"type": "text", "text": system.content, **MARKER}],
            "messages": self._wire_messages(rest),
            **_wire_tools(tools),
        }
        turn, blocks = await self._exchange.ask(MESSAGES, body, _read)
        self._said.append((turn, blocks))
        return turn

    def _wire_messages(self, messages: Sequence[Message]) -> Blocks:
        """Return the turns, those of the same role in a row as one. The last block carries a marker.

        Each tool message answers the next open call; without one, it is a text of the user's.
        """
        wire: Blocks = []
        open_calls: list[str] = []
        for index, message in enumerate(messages):
            if message.role == "assistant":
                role, blocks = "assistant", self._turn_blocks(index, message)
                open_calls += [block["id"] for block in blocks if block["type"] == "tool_use"]
            else:
                role, blocks = "user", [_user_block(message, open_calls)]
            if wire and wire[-1]["role"] == role:
                wire[-1]["content"] += blocks
            else:
                wire.append({"role": role, "content": blocks})
        wire[-1]["content"][-1] |= MARKER
        return wire

    def _turn_blocks(self, index: int, message: Message) -> Blocks:
        """Return the blocks that the turn came as; blocks made of it if another model wrote it."""
        if came := next((blocks for turn, blocks in self._said if turn is message), None):
            return list(came)
        texts = [{"type": "text", "text": message.content}] if message.content.strip() else []
        return [*texts, *(_wire_call(f"call_{index}_{at}", call) for at, call in enumerate(message.calls))]


def read_usage(usage: Body) -> Usage:
    """Return what a message used. The API counts what it read from its cache, or put there, beside the rest."""
    reused = usage.get("cache_read_input_tokens") or 0
    fresh = (usage.get("input_tokens") or 0) + (usage.get("cache_creation_input_tokens") or 0)
    return Usage(prompt=fresh + reused, reused=reused, completion=usage.get("output_tokens") or 0)


def read_message(message: Body) -> Message:
    """Return a turn of the API's blocks: its texts and calls, without its thoughts."""
    blocks = message["content"]
    return Message(
        role="assistant",
        content="\n".join(block["text"] for block in blocks if block["type"] == "text").strip(),
        calls=tuple(ToolCall(name=one["name"], arguments=one["input"]) for one in blocks if one["type"] == "tool_use"),
        truncated=message.get("stop_reason") in CUT,
        usage=read_usage(message.get("usage") or {}),
    )


def _read(answer: Body) -> tuple[Message, Blocks]:
    return read_message(answer), answer["content"]


def _wire_tools(tools: Sequence[ToolSchema]) -> Body:
    listed = [{"name": one.name, "description": one.description, "input_schema": one.parameters} for one in tools]
    return {"tools": listed, "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}} if listed else {}


def _wire_call(id: str, call: ToolCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": call.name, "input": call.arguments}


def _user_block(message: Message, open_calls: list[str]) -> dict[str, Any]:
    if message.role != "tool":
        return {"type": "text", "text": message.content}
    text = chat.without_tags(message.content)
    if not open_calls:
        return {"type": "text", "text": text}
    return {"type": "tool_result", "tool_use_id": open_calls.pop(0), "content": text}
