"""Calls as JSON between tags, results between tags in a user turn: what stock models were trained to write."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from skillstill.chat.dialect import Marker
from skillstill.chat.markers import END, escape, escaped_json
from skillstill.types import DialectName, Message, ToolCall, ToolSchema

OPEN_CALL, CLOSE_CALL = "<tool_call>", "</tool_call>"
TAGS = re.compile(r"<(?=/?tool_(?:call|response)>)")  # in what a model reads, only we may write these
# JSON exactly as it is rendered here, so that a generated call and its rendering are the same tokens.
CANONICAL = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


@dataclass(frozen=True, slots=True)
class Hermes:
    name: DialectName = DialectName.HERMES
    points: bool = False
    prompted: bool = True

    def write(self, message: Message, tools: Sequence[ToolSchema] = ()) -> str:
        calls = (f"{OPEN_CALL}\n{_call_json(call)}\n{CLOSE_CALL}" for call in message.calls)
        return "\n".join([*([escape(message.content)] if message.content else []), *calls])

    def result(self, text: str, *, opens: bool, closes: bool) -> str:
        start, end = ("<|im_start|>user" if opens else ""), (f"{END}\n" if closes else "")
        return f"{start}\n<tool_response>\n{without_tags(text)}\n</tool_response>{end}"

    def parse(self, text: str, *, truncated: bool) -> Message:
        before, opened, _ = text.partition(OPEN_CALL)
        if not opened:
            return Message(role="assistant", content=text)
        try:
            calls = tuple(_read_calls(text))
        except ValueError as error:
            return Message(role="assistant", content=text, malformed=str(error))
        return Message(role="assistant", content=before.strip(), calls=calls)

    def teach(self, tools: Sequence[ToolSchema]) -> str:
        schemas = "\n".join(json.dumps(_function(tool), ensure_ascii=False) for tool in tools)
        return (
            f"\n\nTools, one JSON schema a line:\n<tools>\n{schemas}\n</tools>\nTo call a tool, write only:\n"
            f'{OPEN_CALL}\n{{"name": "tool", "arguments": {{"argument": "value"}}}}\n{CLOSE_CALL}'
        )

    def rules(self, tools: Sequence[ToolSchema], marker: Marker, said: Sequence[Message]) -> Sequence[str]:
        calls = " | ".join(f"call_{index}" for index in range(len(tools)))
        return [
            'intent: ""',
            f'call: {marker(OPEN_CALL)} "\\n" ({calls}) "\\n" {marker(CLOSE_CALL)}',
            # words, not a call without its tags, and no call further on
            r"ANSWER: /[^\s<{\[](.|\n)*/ & ~/(.|\n)*<tool_call>(.|\n)*/",
            *(f"call_{index}: {_call_rule(tool)}" for index, tool in enumerate(tools)),
        ]


def without_tags(text: str) -> str:
    """Return text whose own tags of calls and results are none any more.

    A file must not end the result that quotes it.
    """
    return TAGS.sub("< ", text)


def _call_json(call: ToolCall) -> str:
    return escaped_json({"name": call.name, "arguments": call.arguments})


def _call_rule(tool: ToolSchema) -> str:
    schema = tool.parameters | {"x-guidance": CANONICAL}
    head = json.dumps(f'{{"name": {json.dumps(tool.name)}, "arguments": ')
    return f'{head} %json {json.dumps(schema)} "}}"'


def _function(tool: ToolSchema) -> dict[str, Any]:
    return {"type": "function", "function": tool.prompt_fields()}


def _read_calls(text: str) -> Iterator[ToolCall]:
    """Yield the calls behind each opening tag; a tag inside a call's own strings is only text."""
    position = text.find(OPEN_CALL)
    while position != -1:
        position += len(OPEN_CALL)
        position += len(text[position:]) - len(text[position:].lstrip())
        try:
            value, position = json.JSONDecoder().raw_decode(text, position)
            call = _call(value)
        except json.JSONDecodeError as error:
            raise ValueError(f"the call is not JSON ({error.msg} at character {error.pos})") from error
        except RecursionError as error:
            raise ValueError("the call is nested too deeply") from error
        yield call
        position = text.find(OPEN_CALL, position)


def _call(value: object) -> ToolCall:
    if not (isinstance(value, dict) and isinstance(value.get("name"), str)):
        raise ValueError('the call needs a "name" and "arguments"')
    arguments = value.get("arguments", {})
    if not isinstance(arguments, dict):
        raise ValueError('"arguments" must be an object')
    if re.search("[\ud800-\udfff]", json.dumps(value, ensure_ascii=False)):
        raise ValueError("the call holds half a character (a lone surrogate)")
    return ToolCall(name=value["name"], arguments=arguments)
