"""What a model is shown and may say, observed: recorded turns are played through the real loop, chat and grammar.

Each conversation of conversations.toml is one run. Its calls are answered by the golden outputs of the tools: no file
is read and no model is needed. What is observed is text: a renamed function or a moved file changes none of it.
"""

import hashlib
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import anyio
from pydantic import Field

from skillstill import chat
from skillstill.chat.grammar import turn_grammar
from skillstill.contract.goldens import golden_result, goldens
from skillstill.run import loop
from skillstill.run.finish import finish
from skillstill.skills.calibration import FEATURES, Calibration
from skillstill.skills.skill import Skill
from skillstill.tools import GoldenCall, Result, Tool
from skillstill.types import Frozen, Message, ToolSchema, Trace
from skillstill.workspace import Workspace

NOWHERE = Path(__file__).parent  # the tools are replaced: nothing in the workspace is looked at
NOTHING = (0.0,) * len(FEATURES)
NEVER_SURE = Calibration(means=NOTHING, scales=(1.0,) * len(FEATURES), weights=NOTHING, bias=0, threshold=1)


class RecordedTurn(Frozen):
    """A text that a model might write; `truncated`: its tokens ran out there."""

    text: str
    truncated: bool = False


class Conversation(Frozen):
    """A prompt and the turns that a model takes. It holds for each skill that has all of the `tools`."""

    name: str
    tools: tuple[str, ...] = ()
    prompt: str
    turns: tuple[RecordedTurn, ...] = Field(min_length=1)


class Observed(Frozen):
    """One conversation as it went: the prompt of each turn, a hash of its grammar, what was read of it, the end."""

    name: str
    shown: tuple[str, ...]
    grammars: tuple[str, ...]
    turns: tuple[dict[str, Any], ...]
    report: dict[str, Any]


class ReplayedModel:
    """A model that says the turns of a conversation, and keeps what it was shown and what it might have said."""

    def __init__(self, conversation: Conversation) -> None:
        self.turns = iter(conversation.turns)
        self.shown: list[str] = []
        self.grammars: list[str] = []
        self.read: list[dict[str, Any]] = []

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        turn = next(self.turns, RecordedTurn(text=""))
        segments = chat.render(messages, chat.LINES, tools)
        self.shown.append("".join(f"{'+' if one.learned else '-'}{one.text}" for one in segments))
        grammar = turn_grammar(tools, chat.LINES, messages)
        self.grammars.append(hashlib.sha256(grammar.encode()).hexdigest())
        message = chat.parse(turn.text, chat.LINES, messages, tools, truncated=turn.truncated)
        self.read.append(message.model_dump(mode="json", exclude_defaults=True) | {"max_tokens": max_tokens})
        return message


@cache
def conversations() -> tuple[Conversation, ...]:
    """Return the conversations of the package."""
    text = files("skillstill.contract").joinpath("conversations.toml").read_text("utf-8")
    return tuple(Conversation.model_validate(one) for one in tomllib.loads(text)["conversation"])


@cache
def observe(skill: Skill) -> tuple[Observed, ...]:
    """Return what each conversation that the skill can have looks like today.

    The runs have an event loop of their own, in a thread: the caller may be in another.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, _observe_all, skill).result()


async def _observe_all(skill: Skill) -> tuple[Observed, ...]:
    names = set(skill.subagent.tools)
    return tuple([await _observe(skill, one) for one in conversations() if names.issuperset(one.tools)])


async def _observe(skill: Skill, conversation: Conversation) -> Observed:
    model = ReplayedModel(conversation)
    brief = loop.Brief(skill=skill, prompt=conversation.prompt, system=skill.subagent.system, run="0" * 32)
    calls = goldens(skill)
    tools = [_replay_tool(tool, calls[tool.name]) for tool in skill.tools]
    trace = await loop.run(brief, nullcontext(model), Workspace(NOWHERE), tools=tools)
    ended = finish(_timeless(trace), NEVER_SURE).report
    return Observed(
        name=conversation.name,
        shown=tuple(_additions(model.shown)),
        grammars=tuple(model.grammars),
        turns=tuple(model.read),
        # No conversation has a context, for there are no files: releases keep the hash from before there was one.
        report=ended.model_dump(mode="json", exclude={"context"}) | {"text": ended.text},
    )


def _replay_tool(tool: Tool, calls: Sequence[GoldenCall]) -> Tool:
    """Return the tool with its golden outputs in place of its function. It executes nothing, whatever the tool does."""

    async def answer(workspace: Workspace, **arguments: Any) -> Result:
        return golden_result(tool, calls, arguments)

    return replace(tool, function=answer, executes=False)


def _timeless(trace: Trace) -> Trace:
    return trace.model_copy(update={"created": datetime(2000, 1, 1, tzinfo=UTC)})


def _additions(prompts: Sequence[str]) -> Iterator[str]:
    """Yield of each prompt what the one before did not hold. A prompt that does not go on from it is yielded whole."""
    before = ""
    for prompt in prompts:
        yield prompt.removeprefix(before)
        before = prompt
