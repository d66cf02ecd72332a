"""A conversation in the form of OpenAI's chat interface, and a turn read from it."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from skillstill import chat
from skillstill.models.servers import Body
from skillstill.types import Message, ToolCall, ToolSchema


def wire_tools(tools: Sequence[ToolSchema]) -> Body:
    """Return no field without tools: OpenAI refuses an empty list."""
    listed = [{"type": "function", "function": tool.prompt_fields()} for tool in tools]
    return {"tools": listed, "parallel_tool_calls": False} if listed else {}


def wire_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return messages in OpenAI's form. Calls are numbered; each tool message answers the next open one.

    Texts are escaped as `chat` does it: servers render them into one text, markers and all.
    """
    wire: list[dict[str, Any]] = []
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        item: dict[str, Any] = {"role": message.role, "content": _without_tags(message)}
        if message.calls:
            ids = [f"call_{index}_{place}" for place in range(len(message.calls))]
            item["tool_calls"] = [_wire_call(*pair) for pair in zip(ids, message.calls, strict=True)]
            open_calls += ids
        if message.role == "tool" and open_calls:
            item["tool_call_id"] = open_calls.pop(0)
        elif message.role == "tool":  # the answer to a call that could not be read, or that the run began with: no id
            item["role"] = "user"
        if wire and item["role"] == wire[-1]["role"] == "user":  # some templates refuse two in a row
            wire[-1]["content"] += f"\n\n{item['content']}"
        else:
            wire.append(item)
    return wire


def _without_tags(message: Message) -> str:
    """Return the result without the tags that many templates put around one."""
    return chat.escape(chat.without_tags(message.content) if message.role == "tool" else message.content)


def _wire_call(id: str, call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": chat.escaped_json(call.arguments)}
    return {"id": id, "type": "function", "function": function}


def read_turn(choice: Body) -> Message:
    """Return the turn. A server that cannot read its model's calls prints them, in the dialect of stock models."""
    text = chat.without_thoughts(choice["message"].get("content") or "")
    wire = choice["message"].get("tool_calls") or ()
    if not wire:
        return chat.parse(text, chat.HERMES, truncated=is_truncated(choice))
    try:
        calls = tuple(_read_call(call["function"]) for call in wire)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        shown = "\n".join(filter(None, [text, json.dumps(wire, ensure_ascii=False)]))
        return Message(role="assistant", content=shown, malformed=_unreadable(error), truncated=is_truncated(choice))
    return Message(role="assistant", content=text, calls=calls, truncated=is_truncated(choice))


def _read_call(function: Body) -> ToolCall:
    arguments = function.get("arguments") or {}
    return ToolCall(name=function["name"], arguments=loads(arguments) if isinstance(arguments, str) else arguments)


def _unreadable(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"the call's arguments are not JSON ({error.msg} at character {error.pos})"
    if isinstance(error, ValidationError):
        return 'the call needs a "name", and "arguments" that are an object'
    return 'the call needs a "name" and "arguments"'


def loads(text: str) -> Any:
    """Return the value, in which each half of a surrogate pair became a `?`: no trace and no prompt can hold one."""
    return json.loads(json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace"))


def is_truncated(choice: Body) -> bool:
    return choice.get("finish_reason") == "length"
