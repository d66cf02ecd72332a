"""ChatML with Hermes-style tool calls: messages to prompt and training text, text back to a message.

One renderer serves both sides. It yields segments: the system turn, then by turns what a model reads and what it learns
to write. It only ever appends: the prompt of each turn is the beginning, segment for segment, of the finished trace. A
tokenizer is run on each segment by itself, so what holds for segments holds for tokens.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from skillstill.types import Message, ToolCall, ToolSchema

DIALECT = "chatml-hermes/1"
OPEN_CALL, CLOSE_CALL = "<tool_call>", "</tool_call>"
END = "<|im_end|>"
HEADER = "<|im_start|>assistant\n"
TAGS = re.compile(r"<(?=/?tool_(?:call|response)>)")  # in what a model reads, only we may write these
THOUGHTS = re.compile(r"\A\s*<think>.*?(</think>|\Z)", re.DOTALL)  # a stock Qwen3 thinks aloud first


@dataclass(frozen=True, slots=True)
class Segment:
    """Text, and whether the loss sees it."""

    text: str
    learned: bool


def render(messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> tuple[Segment, ...]:
    """The conversation as segments; where the last message asks for an answer, they end with the header of one.

    `tools` are written into the system turn; leave them out for a model that carries them in its weights.
    """
    segments: list[Segment] = []
    read = ""
    for index, message in enumerate(messages):
        if message.role == "assistant":
            segments += [Segment(read + HEADER, learned=False), Segment(written(message) + END, learned=True)]
            read = "\n"
        elif message.role == "system":
            segments.append(Segment(_turn(messages, index, tools), learned=False))
        else:
            read += _turn(messages, index, tools)
    if messages[-1].role != "assistant":
        segments.append(Segment(read + HEADER, learned=False))
    return tuple(segments)


def written(message: Message) -> str:
    """What the model itself wrote in an assistant turn."""
    calls = (f"{OPEN_CALL}\n{_call_json(call)}\n{CLOSE_CALL}" for call in message.calls)
    return "\n".join([*([escape(message.content)] if message.content else []), *calls])


def parse(text: str, *, truncated: bool = False) -> Message:
    """The assistant message in a model's text; `malformed` says what is wrong with a call that cannot be read."""
    text = THOUGHTS.sub("", text.encode("utf-8", "replace").decode()).strip()
    before, opened, _ = text.partition(OPEN_CALL)
    if not opened:
        return Message(role="assistant", content=text, truncated=truncated)
    try:
        calls = tuple(_read_calls(text))
    except ValueError as error:
        return Message(role="assistant", content=text, malformed=str(error), truncated=truncated)
    return Message(role="assistant", content=before.strip(), calls=calls, truncated=truncated)


def escape(text: str) -> str:
    """Text whose `<|…|>` can no longer be taken for the markers of a turn, whoever wrote them there."""
    return re.sub(r"<\|(?=\w+\|>)", "< |", text)


def teach(tools: Sequence[ToolSchema]) -> str:
    """The part of a system turn that tells an untrained model its tools and how to call one."""
    schemas = "\n".join(json.dumps(_function(tool), ensure_ascii=False) for tool in tools)
    return (
        f"\n\nTools, one JSON schema a line:\n<tools>\n{schemas}\n</tools>\nTo call a tool, write only:\n"
        f'{OPEN_CALL}\n{{"name": "tool", "arguments": {{"argument": "value"}}}}\n{CLOSE_CALL}'
    )


def _turn(messages: Sequence[Message], index: int, tools: Sequence[ToolSchema]) -> str:
    message, text = messages[index], TAGS.sub("< ", escape(messages[index].content))
    if message.role == "tool":
        opens = messages[index - 1].role != "tool"
        closes = index + 1 == len(messages) or messages[index + 1].role != "tool"
        start, end = ("<|im_start|>user" if opens else ""), (f"{END}\n" if closes else "")
        return f"{start}\n<tool_response>\n{text}\n</tool_response>{end}"
    taught = teach(tools) if message.role == "system" and tools else ""
    return f"<|im_start|>{message.role}\n{text}{taught}{END}\n"


def _call_json(call: ToolCall) -> str:
    """JSON has its own way to keep a marker from being one."""
    text = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
    return text.replace("<|", "\\u003c|")


def _function(tool: ToolSchema) -> dict[str, Any]:
    return {"type": "function", "function": tool.model_dump()}


def _read_calls(text: str) -> Iterator[ToolCall]:
    """The calls behind each opening tag; a tag inside a call's own strings is only text."""
    position = text.find(OPEN_CALL)
    while position != -1:
        position += len(OPEN_CALL)
        position += len(text[position:]) - len(text[position:].lstrip())
        try:
            value, position = json.JSONDecoder().raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise ValueError(f"the call is not JSON ({error.msg} at character {error.pos})") from error
        except RecursionError as error:
            raise ValueError("the call is nested too deeply") from error
        yield _call(value)
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
