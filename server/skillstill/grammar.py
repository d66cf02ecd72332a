"""What a model may write in one turn, as a llguidance grammar made from the tools' schemas."""

import json
from collections.abc import Callable, Sequence

from skillstill.chat import CLOSE_CALL, OPEN_CALL
from skillstill.types import ESCALATE, ToolSchema

# JSON exactly as `chat` renders it, so that a generated call and its rendering are the same tokens.
CANONICAL = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


def turn_grammar(
    tools: Sequence[ToolSchema], *, may_answer: bool, may_escalate: bool, marker: Callable[[str], str] = json.dumps
) -> str:
    """A Lark grammar: one call, or (`may_escalate`) `escalate: reason`, or (`may_answer`) an answer in free words.

    `marker` writes a tag as a terminal of the model's vocabulary: quoted text, or `<[id]>` where the tag is one special
    token.
    """
    calls = " | ".join(f"call_{index}" for index in range(len(tools)))
    rules = [
        f"start: call{' | escalation' if may_escalate else ''}{' | ANSWER' if may_answer else ''}",
        f'call: {marker(OPEN_CALL)} "\\n" ({calls}) "\\n" {marker(CLOSE_CALL)}',
        f"escalation: {json.dumps(f'{ESCALATE} ')} REASON",
        r"REASON: /[^\s<][^\n<]{0,300}/",
        # words, not a call without its tags, and no call further on
        r"ANSWER: /[^\s<{\[](.|\n)*/ & ~/(.|\n)*<tool_call>(.|\n)*/",
    ]
    rules += [f"call_{index}: {_call(tool)}" for index, tool in enumerate(tools)]
    return "\n".join(rules)


def _call(tool: ToolSchema) -> str:
    schema = tool.parameters | {"x-guidance": CANONICAL}
    head = json.dumps(f'{{"name": {json.dumps(tool.name)}, "arguments": ')
    return f'{head} %json {json.dumps(schema)} "}}"'
