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
    marker: Marker = json.dumps,
) -> str:
    """Return a Lark grammar of one turn: a call, `escalate: reason`, or an answer in free words.

    Before a model has looked, an answer would be thrown away: it must call. Only a finetuned one may refuse to.
    `said` is the conversation so far: some arguments only repeat it.
    `marker` writes a tag as a terminal of the model's vocabulary: quoted text, or `<[id]>` if the tag is one special
    token.
    """
    looked = any(message.role == "tool" for message in said)
    may_escalate = looked or not dialect.prompted
    rules = [
        f"start: intent? (call{' | escalation' if may_escalate else ''}{' | ANSWER' if looked else ''})",
        f"escalation: {json.dumps(f'{ESCALATE} ')} REASON",
        r"REASON: /[^\s<][^\n<]{0,300}/",
        *dialect.rules(tools, marker, said),
    ]
    return "\n".join(rules)
