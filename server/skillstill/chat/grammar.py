"""What a model may write in one turn, as a llguidance grammar made from the tools' schemas."""

import json
from collections.abc import Sequence

from skillstill.chat.dialect import Dialect, Marker
from skillstill.types import ESCALATE, Message, ToolSchema


def turn_grammar(
    tools: Sequence[ToolSchema],
    dialect: Dialect,
    said: Sequence[Message] = (),
    *,
    may_answer: bool,
    may_escalate: bool,
    marker: Marker = json.dumps,
) -> str:
    """A Lark grammar: one call, or (`may_escalate`) `escalate: reason`, or (`may_answer`) an answer in free words.

    `said` is the conversation so far: some arguments only repeat it.
    `marker` writes a tag as a terminal of the model's vocabulary: quoted text, or `<[id]>` where the tag is one special
    token.
    """
    rules = [
        f"start: intent? (call{' | escalation' if may_escalate else ''}{' | ANSWER' if may_answer else ''})",
        f"escalation: {json.dumps(f'{ESCALATE} ')} REASON",
        r"REASON: /[^\s<][^\n<]{0,300}/",
        *dialect.rules(tools, marker, said),
    ]
    return "\n".join(rules)
