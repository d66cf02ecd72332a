"""What the stage `dataset` hands to the stage `sft`."""

from skillstill.types import Frozen, Message, ToolSchema

from skillstill_training.teachers import Verified

RECORDED = "recorded"  # the family of what the user's own subagents were asked


class Sample(Frozen):
    """One conversation to learn: as the tuned model will see it, with the one system line and no schemas.

    `also` are other words for its question. `tools` say which arguments of calls refer to lines.
    """

    goal: str
    family: str
    wording: str
    teacher: str
    verified: Verified
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    also: tuple[str, ...] = ()
