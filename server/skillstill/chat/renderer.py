"""ChatML conversations: messages to prompt and training text, text back to a message.

One renderer serves both sides. It yields segments: the system turn, then by turns what a model reads and what it learns
to write. It only ever appends: the prompt of each turn is the beginning, segment for segment, of the finished trace. A
tokenizer is run on each segment by itself, so what holds for segments holds for tokens.

Two dialects differ in how calls and results are written: HERMES, which stock models know, and LINES, which is cheaper
and is taught to finetuned models.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from skillstill.chat.dialect import Dialect
from skillstill.chat.hermes import Hermes
from skillstill.chat.lines import Lines
from skillstill.chat.markers import END, HEADER, escape, escaped_json, turn
from skillstill.chat.references import NONE, References
from skillstill.types import DialectName, Message, ToolSchema

__all__ = [
    "END",
    "HERMES",
    "LINES",
    "Dialect",
    "Segment",
    "dialect_named",
    "escape",
    "escaped_json",
    "parse",
    "render",
    "without_thoughts",
]

HERMES: Dialect = Hermes()
LINES: Dialect = Lines()
THOUGHTS = re.compile(r"\A\s*<think>.*?(</think>|\Z)", re.DOTALL)  # a stock Qwen3 thinks aloud first


@dataclass(frozen=True, slots=True)
class Segment:
    """Text, whether the loss sees it, and whether every question about the same folder begins with it."""

    text: str
    learned: bool
    shared: bool = False


def dialect_named(name: DialectName) -> Dialect:
    """Return the dialect of that name."""
    return {one.name: one for one in (HERMES, LINES)}[name]


def render(messages: Sequence[Message], dialect: Dialect, tools: Sequence[ToolSchema] = ()) -> tuple[Segment, ...]:
    """Return the conversation as segments; if the last message asks for an answer, they end with the header of one.

    A dialect that stock models speak writes the `tools` into the system turn. In the other one their marked arguments
    refer to lines.
    """
    segments: list[Segment] = []
    references = NONE
    read = ""
    for index, message in enumerate(messages):
        if message.role == "assistant":
            said = dialect.write(references.abbreviate(message, tools) if dialect.points else message, tools)
            segments += [Segment(read + HEADER, learned=False), Segment(said + END, learned=not message.mistaken)]
            read = "\n"
        elif message.role == "system":
            instructions = dialect.teach(tools) if tools else ""
            text = turn("system", escape(message.content) + instructions)
            segments.append(Segment(text, learned=False, shared=True))
        elif message.role == "tool":
            if dialect.points:
                references = references.extended(message)
            text = references.shown if dialect.points else message.content
            read += _result(messages, index, dialect, text)
        else:
            if read and not any(segment.learned for segment in segments):  # an opening that stands before the question
                segments.append(Segment(read, learned=False, shared=True))
                read = ""
            read += turn("user", escape(message.content))
    if messages[-1].role != "assistant":
        segments.append(Segment(read + HEADER, learned=False))
    return tuple(segments)


def parse(
    text: str,
    dialect: Dialect,
    said: Sequence[Message] = (),
    tools: Sequence[ToolSchema] = (),
    *,
    truncated: bool = False,
) -> Message:
    """Return the assistant message in a model's text; `malformed` says what is wrong with a call that cannot be read.

    `said` is the conversation before it, which the text refers to, and so do the marked arguments of `tools`.
    """
    plain = text.encode("utf-8", "replace").decode()
    message = dialect.parse(without_thoughts(plain), truncated=truncated)
    if dialect.points:
        message = References.of(said).expand(message, tools)
    return message.model_copy(update={"truncated": truncated})


def without_thoughts(text: str) -> str:
    return THOUGHTS.sub("", text).strip()


def _result(messages: Sequence[Message], index: int, dialect: Dialect, text: str) -> str:
    opens = messages[index - 1].role != "tool"
    closes = index + 1 == len(messages) or messages[index + 1].role != "tool"
    return dialect.result(escape(text), opens=opens, closes=closes)
