"""The loop: a model and tools in a workspace, from a brief to a trace."""

import json
import logging
import re
import secrets
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

import anyio

from skillstill.errors import ContextFull, Refusal, SandboxError, SkillstillError
from skillstill.run import evidence
from skillstill.run.box import Box
from skillstill.run.context import in_context, lines_in
from skillstill.run.finish import plain_call
from skillstill.run.nested import NestedCalls
from skillstill.run.record import Record
from skillstill.skills.familiarity import Familiarity
from skillstill.skills.skill import Skill
from skillstill.tools import Result, Tool
from skillstill.types import (
    ESCALATE,
    Event,
    Labelled,
    Message,
    Model,
    OnStep,
    Reason,
    ReasonKind,
    Receipt,
    Report,
    Scorer,
    SecondThoughts,
    Step,
    ToolCall,
    ToolSchema,
    Trace,
)
from skillstill.util.text import clean, one_line, shorten, whole_lines
from skillstill.workspace import Workspace

SECOND_THOUGHTS = 3  # times that a model takes a turn otherwise: a call that it made before, or one without an end
MAX_REPEATS = 2  # the first repeated call is answered with advice, the second ends the run
MAX_ENDLESS = 2  # calls in a row that have no end, likewise
ANSWER_CHARACTERS = 2_000  # room for a whole result that is quoted line by line (tools.MAX_RESULT)
REPEATED_CHARACTERS = 80  # of the call that ends a run
GIVES_UP = re.compile(rf"[*_`\s]*{ESCALATE.removesuffix(':')}\W*:", re.IGNORECASE)
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Brief:
    """One piece of work and who does it. `system` is the system turn; the other texts identify the run in its trace.

    `familiarity` knows the questions that are like those that the model learned; no other one is asked.
    """

    skill: Skill
    prompt: str
    system: str
    release: str = ""
    model: str = ""
    dialect: str = ""
    after: str = ""
    familiarity: Familiarity | None = None
    run: str = field(default_factory=lambda: secrets.token_hex(16))


class Stop(Exception):
    """The run ends here without an answer, for this reason."""

    def __init__(self, kind: ReasonKind, text: str, subject: str = "") -> None:
        super().__init__(text)
        self.reason = Reason(kind=kind, text=text, subject=subject)


async def run(
    brief: Brief,
    lease: AbstractAsyncContextManager[Model],
    workspace: Workspace,
    on_step: OnStep | None = None,
    *,
    tools: Sequence[Tool] | None = None,
    may_write: bool = False,
) -> Trace:
    """Do the work with the leased model; its time budget begins when the lease does.

    `tools` take the place of the skill's, and of its MCP servers. `may_write` lets a skill that wants to change the
    workspace do so.
    Every exception but cancellation ends in a report, that of a model that cannot be had too.
    """
    box = Box(brief.skill, workspace, tools=tools, may_write=may_write)
    return await _Run(brief, workspace, on_step, box).trace(lease)


class _Run:
    def __init__(self, brief: Brief, workspace: Workspace, on_step: OnStep | None, box: Box) -> None:
        self.brief, self.workspace, self.on_step, self.box = brief, workspace, on_step, box
        self.limits = brief.skill.subagent.limits
        self.record = Record(brief.system, brief.prompt)
        self.done: dict[str, str] = {}
        self.repeats = 0
        self.endless = 0
        self.scorer: Scorer | None = None  # the model, if it can tell which line a text means
        self.labelled: Labelled | None = None  # the model, if it knows only later which one it was

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        return tuple(tool.schema for tool in self.box.tools.values())

    async def trace(self, lease: AbstractAsyncContextManager[Model]) -> Trace:
        created = datetime.now(UTC)
        report = await self.report(lease)
        return Trace(
            run=self.brief.run,
            release=self.brief.release,
            skill=self.brief.skill.name,
            model=(self.labelled.label if self.labelled else "") or self.brief.model,
            dialect=self.brief.dialect,
            created=created,
            workspace=str(self.workspace.root),
            prompt=self.brief.prompt,
            tools=self.schemas,
            messages=tuple(self.record.messages),
            receipts=tuple(self.record.receipts),
            report=report.model_copy(update={"notes": (*report.notes, *self.box.notes)}),
            patch=self.box.patch,
            confidence=self.record.confidence(),
            after=self.brief.after,
            tally=self.record.tally(),
        )

    async def report(self, lease: AbstractAsyncContextManager[Model]) -> Report:
        familiarity = self.brief.familiarity
        if familiarity and not familiarity.knows(self.brief.prompt):
            text = f"it is unlike the questions that {self.brief.skill.name} was trained for"
            return self.escalate(Reason(kind=ReasonKind.UNLIKE, text=text))
        try:
            async with lease as model:
                with anyio.fail_after(self.limits.seconds):
                    async with self.box:
                        return await self.solve(model)
        except Stop as stop:
            return self.escalate(stop.reason)
        except ContextFull as full:
            return self.escalate(Reason(kind=ReasonKind.CONTEXT_FULL, text=str(full)))
        except TimeoutError:
            text = f"the time budget of {self.limits.seconds:g} seconds is used up"
            return self.escalate(Reason(kind=ReasonKind.TIME, text=text))
        except SandboxError as error:
            return self.failure(Reason(kind=ReasonKind.SANDBOX, text=str(error)))
        except SkillstillError as error:
            return self.failure(Reason(kind=ReasonKind.MODEL, text=str(error)))
        except Exception as error:
            log.debug("run %s failed", self.brief.run, exc_info=True)
            text = f"unexpected {type(error).__name__}; SKILLSTILL_LOG=debug tells more"
            return self.failure(Reason(kind=ReasonKind.UNEXPECTED, text=text))

    async def solve(self, model: Model) -> Report:
        self.scorer = model if isinstance(model, Scorer) else None
        self.labelled = model if isinstance(model, Labelled) else None
        await self.begin()
        while True:
            turn = await self.ask(model)
            if not (turn.calls or turn.malformed):
                return await self.with_context(self.conclude(turn))
            await self.act(turn)

    async def begin(self) -> None:
        """Make the calls that every run begins with."""
        opening, hint = self.brief.skill.subagent.opening, self.brief.skill.subagent.hint
        if opening:
            await self.execute(opening.call(self.brief.prompt))
            if opening.shared:
                self.record.put_prompt_last()
        if hint:
            await self.execute(hint.call(self.brief.prompt))

    @property
    def steps_left(self) -> int:
        begun = (self.brief.skill.subagent.opening, self.brief.skill.subagent.hint)
        return self.limits.steps - self.record.steps + sum(one is not None for one in begun)

    async def ask(self, model: Model) -> Message:
        room = self.limits.tokens - self.record.spent
        if room <= 0:
            raise Stop(ReasonKind.BUDGET, f"the budget of {self.limits.tokens} tokens is used up")
        turn = await model.complete(self.record.messages, self.schemas, max_tokens=min(room, self.limits.turn_tokens))
        if isinstance(model, SecondThoughts):
            turn = await self.reconsidered(turn, model)
        self.record.say(turn)
        return turn

    async def reconsidered(self, turn: Message, model: SecondThoughts) -> Message:
        """Return the turn, or another one if it has no end, or makes calls that were made before.

        A small model that is at a loss says the same again: a call, whatever it is told, or a word within one.
        """
        made = [message.calls for message in self.record.messages if message.calls]
        for _ in range(SECOND_THOUGHTS):
            if not (_is_endless(turn) or turn.calls in made) or not (other := await model.reconsider()):
                break
            turn = other
        return turn

    async def act(self, turn: Message) -> None:
        if self.record.turns > self.limits.steps:
            raise Stop(ReasonKind.BUDGET, f"the budget of {self.limits.steps} steps is used up")
        self.endless = self.endless + 1 if _is_endless(turn) else 0
        if self.endless >= MAX_ENDLESS:
            raise Stop(ReasonKind.NO_ANSWER, "its calls have no end")
        if turn.malformed:
            cut = " (it was cut off: make it shorter)" if turn.truncated else ""
            self.record.advise(f"Not executed: {turn.malformed}{cut}.", Event.UNREADABLE_CALL)
            await self.report_step(note=Event.UNREADABLE_CALL)
        for call in turn.calls:
            if self.steps_left <= 0:  # many calls in one turn
                raise Stop(ReasonKind.BUDGET, f"the budget of {self.limits.steps} steps is used up")
            await self.execute(call)

    async def execute(self, call: ToolCall) -> None:
        same = self.fingerprint(call)
        if same in self.done:
            return await self.refuse_repeat(call, self.done[same])
        began = time.monotonic()
        nested = NestedCalls(self.box, self.record, call.name, self.steps_left, self.scorer, self.report_step)
        result, refused = await self.result(call, nested)
        seconds = time.monotonic() - began
        receipt = self.record.file(
            call.name, call.arguments, result, refused=refused, seconds=seconds, calls=nested.receipts
        )
        self.done[same] = receipt.id
        return await self.report_step(call=call, receipt=receipt)

    async def result(self, call: ToolCall, nested: NestedCalls) -> tuple[Result, bool]:
        """Return what the tool answers, and whether that is a refusal."""
        try:
            return await self.box.call(call.name, call.arguments, self.scorer, nested), False
        except Refusal as refusal:
            return Result.of_text(str(refusal)), True

    def fingerprint(self, call: ToolCall) -> str:
        """Return a text that is equal for equal calls, whether a default was written out or not."""
        tool = self.box.tools.get(call.name)
        arguments = tool.with_defaults(call.arguments) if tool else call.arguments
        return json.dumps([call.name, arguments], sort_keys=True)

    async def refuse_repeat(self, call: ToolCall, receipt: str) -> None:
        self.repeats += 1
        if self.repeats >= MAX_REPEATS:
            told = plain_call(call.name, call.arguments, self.brief.prompt, REPEATED_CHARACTERS)
            raise Stop(ReasonKind.REPEATED_CALL, f"the call {told} was repeated", told)
        advice = f"You made this call already: its result is {receipt}. Make another call, or answer."
        self.record.advise(advice, Event.REPEATED_CALL)
        await self.report_step(call=call, note=Event.REPEATED_CALL)

    async def report_step(
        self, *, call: ToolCall | None = None, receipt: Receipt | None = None, note: str = ""
    ) -> None:
        if self.on_step:
            number, limit = self.record.turns, self.limits.steps
            await self.on_step(Step(number=number, limit=limit, call=call, receipt=receipt, note=note))

    def conclude(self, turn: Message) -> Report:
        answer = clean(turn.content).strip()
        if turn.truncated:
            answer = answer.rpartition(" ")[0]  # half a word may be half a number
        if found := GIVES_UP.match(answer):
            words = self.own_words(answer[found.end() :].strip(" .*_"))
            return self.escalate(Reason(kind=ReasonKind.GAVE_UP, text=words))
        if not answer:
            return self.escalate(Reason(kind=ReasonKind.NO_ANSWER, text="the model gave no answer"))
        answer = whole_lines(_places_once(answer), ANSWER_CHARACTERS)
        verdict = evidence.judge(answer, self.record.receipts, self.record.shown, str(self.workspace.root))
        if verdict.problem:
            return self.escalate(Reason(kind=ReasonKind.WITHHELD, text=verdict.problem, subject=verdict.subject))
        return Report(status="answered", answer=answer, evidence=verdict.evidence)

    async def with_context(self, report: Report) -> Report:
        """Return the report with the lines around those that its answer quotes, if the skill tells them."""
        around = self.brief.skill.subagent.quotes
        if report.status != "answered" or not around.lines:
            return report
        lines_of = partial(lines_in, self.workspace)
        context = await anyio.to_thread.run_sync(in_context, report.answer, around, lines_of)
        return report.model_copy(update={"context": context})

    def own_words(self, text: str) -> str:
        """Return the model's own words on giving up, told as such: nothing bears them out.

        Words that name a place which no tool has shown are left out.
        """
        if wrong := evidence.invented_place(text, self.record.receipts, self.record.shown, str(self.workspace.root)):
            return f"the model gave up on account of {wrong}, which no tool has shown"
        return f"the model handed it back: {text}" if text else "the model gave no reason"

    def escalate(self, reason: Reason) -> Report:
        """Return the hand-over: why, what was tried, the run to look up and the last places that were shown."""
        calls = [plain_call(one.tool, one.arguments, self.brief.prompt) for one in self.record.receipts]
        tried = shorten("; ".join(calls), 400) if calls else "nothing"
        why = f"the model's answer is withheld: {reason.text}" if reason.kind is ReasonKind.WITHHELD else reason.text
        why = evidence.REFERENCE.sub("…", why)
        text = f"escalate: {shorten(why, 300)}. Tried: {tried}. Run {self.brief.run}."
        return Report(
            status="escalate", answer=text, evidence=evidence.last_places(self.record.receipts), reason=reason
        )

    def failure(self, reason: Reason) -> Report:
        text = f"failed: {one_line(reason.text, 500)} (run {self.brief.run})"
        return Report(status="failed", answer=text, reason=reason)


def _is_endless(turn: Message) -> bool:
    return turn.truncated and turn.malformed is not None


def _places_once(answer: str) -> str:
    """Return the answer without repeated lines that name a place: a small model likes to name the same line again."""
    lines = answer.split("\n")
    return "\n".join(
        line for at, line in enumerate(lines) if line not in lines[:at] or not evidence.quoted_places(line)[0]
    )
