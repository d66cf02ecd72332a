"""The loop: a model and tools in a workspace, from a brief to a trace."""

import hashlib
import json
import logging
import math
import secrets
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import anyio

from skillstill import evidence
from skillstill.errors import ContextFull, Refusal, SkillstillError
from skillstill.skill import Skill
from skillstill.text import clean, one_line, shorten
from skillstill.tools import Result
from skillstill.types import (
    ESCALATE,
    Message,
    Model,
    OnStep,
    Receipt,
    Report,
    Step,
    Tally,
    ToolCall,
    Trace,
    Usage,
)
from skillstill.workspace import Workspace

MAX_REPEATS = 2  # the first repeated call is answered with advice, the second ends the run
ANSWER_CHARACTERS = 1_200  # a backstop behind the token limit of a turn
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Brief:
    """One piece of work and who does it. `system` is the system turn; the other texts identify the run in its trace."""

    skill: Skill
    prompt: str
    system: str
    release: str = ""
    model: str = ""
    dialect: str = ""
    run: str = field(default_factory=lambda: secrets.token_hex(16))


class Stop(Exception):
    """The run ends here without an answer, for this reason."""


async def run(
    brief: Brief,
    lease: AbstractAsyncContextManager[Model],
    workspace: Workspace,
    on_step: OnStep | None = None,
) -> Trace:
    """Do the work with the leased model; its time budget begins when the lease does.

    Every exception but cancellation ends in a report, that of a model that cannot be had too.
    """
    return await _Run(brief, workspace, on_step).trace(lease)


class _Run:
    def __init__(self, brief: Brief, workspace: Workspace, on_step: OnStep | None) -> None:
        self.brief, self.workspace, self.on_step = brief, workspace, on_step
        self.limits = brief.skill.subagent.limits
        self.tools = {tool.name: tool for tool in brief.skill.tools}
        self.schemas = tuple(tool.schema for tool in brief.skill.tools)
        self.messages = [
            Message(role="system", content=brief.system),
            Message(role="user", content=brief.prompt),
        ]
        self.receipts: list[Receipt] = []
        self.done: dict[str, str] = {}
        self.repeats = 0
        self.started = time.monotonic()

    async def trace(self, lease: AbstractAsyncContextManager[Model]) -> Trace:
        created = datetime.now(UTC)
        report = await self.report(lease)
        return Trace(
            run=self.brief.run,
            release=self.brief.release,
            skill=self.brief.skill.name,
            model=self.brief.model,
            dialect=self.brief.dialect,
            created=created,
            workspace=str(self.workspace.root),
            prompt=self.brief.prompt,
            tools=self.schemas,
            messages=tuple(self.messages),
            receipts=tuple(self.receipts),
            report=report,
            confidence=self.confidence(),
            tally=self.tally(),
        )

    async def report(self, lease: AbstractAsyncContextManager[Model]) -> Report:
        try:
            async with lease as model:
                with anyio.fail_after(self.limits.seconds):
                    return await self.solve(model)
        except (Stop, ContextFull) as stop:
            return self.escalate(str(stop))
        except TimeoutError:
            return self.escalate(f"the time budget of {self.limits.seconds:g} seconds is used up")
        except SkillstillError as error:
            return self.failure(str(error))
        except Exception as error:
            log.exception("run %s failed", self.brief.run)
            return self.failure(f"{type(error).__name__}: {error}")

    async def solve(self, model: Model) -> Report:
        while True:
            turn = await self.ask(model)
            if not (turn.calls or turn.malformed):
                return self.conclude(turn)
            await self.act(turn)

    async def ask(self, model: Model) -> Message:
        room = self.limits.tokens - self.spent
        if room <= 0:
            raise Stop(f"the budget of {self.limits.tokens} tokens is used up")
        turn = await model.complete(self.messages, self.schemas, max_tokens=min(room, self.limits.turn_tokens))
        self.messages.append(turn)
        return turn

    async def act(self, turn: Message) -> None:
        if self.turns > self.limits.steps:
            raise Stop(f"the budget of {self.limits.steps} steps is used up")
        if turn.malformed:
            cut = " (it was cut off: make it shorter)" if turn.truncated else ""
            await self.reply(f"Not executed: {turn.malformed}{cut}.", note="unreadable call")
        for call in turn.calls:
            await self.execute(call)

    async def execute(self, call: ToolCall) -> None:
        same = self.fingerprint(call)
        if same in self.done:
            return await self.refuse_repeat(call, self.done[same])
        began = time.monotonic()
        result, refused = await self.result(call)
        receipt = Receipt(
            id=f"r{len(self.receipts) + 1}",
            tool=call.name,
            arguments=call.arguments,
            refused=refused,
            sha256=hashlib.sha256(result.text.encode()).hexdigest(),
            excerpt=shorten(result.text, 200),
            spans=result.spans,
            seconds=round(time.monotonic() - began, 4),
        )
        self.done[same] = receipt.id
        self.receipts.append(receipt)
        return await self.reply(f"{receipt.id}: {result.text}", call=call, receipt=receipt)

    async def result(self, call: ToolCall) -> tuple[Result, bool]:
        """What the tool answers, and whether that is a refusal."""
        try:
            if call.name not in self.tools:
                raise Refusal(f"no tool called {call.name!r}; the tools are {', '.join(self.tools)}")
            return await self.tools[call.name].call(self.workspace, call.arguments), False
        except Refusal as refusal:
            return Result.of_text(str(refusal)), True

    def fingerprint(self, call: ToolCall) -> str:
        """Equal for equal calls, whether a default was written out or not."""
        tool = self.tools.get(call.name)
        arguments = tool.with_defaults(call.arguments) if tool else call.arguments
        return json.dumps([call.name, arguments], sort_keys=True)

    async def refuse_repeat(self, call: ToolCall, receipt: str) -> None:
        self.repeats += 1
        if self.repeats >= MAX_REPEATS:
            raise Stop(f"the call {_shown(call)} was repeated")
        advice = f"You made this call already: its result is {receipt}. Make another call, or answer."
        await self.reply(advice, call=call, note="repeated call")

    async def reply(
        self, text: str, *, call: ToolCall | None = None, receipt: Receipt | None = None, note: str = ""
    ) -> None:
        self.messages.append(Message(role="tool", content=text))
        if self.on_step:
            await self.on_step(Step(number=self.turns, limit=self.limits.steps, call=call, receipt=receipt, note=note))

    def conclude(self, turn: Message) -> Report:
        answer = shorten(clean(turn.content).strip(), ANSWER_CHARACTERS)
        if answer.startswith(ESCALATE):
            return self.escalate(self.reason(answer.removeprefix(ESCALATE).strip(" .")))
        if not answer:
            return self.escalate("the model gave no answer")
        verdict = evidence.judge(answer, self.receipts, self.shown)
        if verdict.problem:
            return self.escalate(f"the model's answer is withheld: {verdict.problem}")
        return Report(status="answered", answer=answer, evidence=verdict.evidence)

    def reason(self, text: str) -> str:
        """The model's own words on giving up, unless they make a claim that nothing bears out."""
        if invented := evidence.invented(text, self.receipts, self.shown):
            return f"the model gave up on account of {invented}, which no tool has shown"
        return text or "the model gave no reason"

    def escalate(self, reason: str) -> Report:
        calls = [_shown(ToolCall(name=one.tool, arguments=one.arguments)) for one in self.receipts]
        tried = shorten("; ".join(calls), 400) if calls else "nothing"
        text = f"escalate: {shorten(reason, 300)}. Tried: {tried}. Run {self.brief.run}."
        return Report(status="escalate", answer=text, evidence=evidence.partial(self.receipts))

    def failure(self, reason: str) -> Report:
        return Report(status="failed", answer=f"failed: {one_line(reason, 500)} (run {self.brief.run})")

    @property
    def shown(self) -> Sequence[str]:
        return [message.content for message in self.messages if message.role == "tool"]

    @property
    def turns(self) -> int:
        return sum(message.role == "assistant" for message in self.messages)

    @property
    def usages(self) -> Sequence[Usage]:
        return [message.usage for message in self.messages if message.usage]

    @property
    def spent(self) -> int:
        return sum(usage.prompt - usage.reused + usage.completion for usage in self.usages)

    def tally(self) -> Tally:
        return Tally(
            turns=self.turns,
            seconds=round(time.monotonic() - self.started, 3),
            prompt_tokens=sum(usage.prompt for usage in self.usages),
            reused_tokens=sum(usage.reused for usage in self.usages),
            completion_tokens=sum(usage.completion for usage in self.usages),
        )

    def confidence(self) -> float | None:
        """Geometric mean probability of the decision tokens, in 0..1; not calibrated."""
        logprobs = [one.logprob for message in self.messages for one in message.decisions]
        return round(math.exp(sum(logprobs) / len(logprobs)), 4) if logprobs else None


def _shown(call: ToolCall) -> str:
    return one_line(f"{call.name}({', '.join(map(str, call.arguments.values()))})", 80)
