"""An ideal orchestrator: what somebody who knows the answer would read inline, and what it reads through subagents.

Inline, it does what the question's plan says, no call too many: the least that answers it. With subagents it hands the
question to the right one as it stands. It believes an answer without a warning, also a wrong one, and does whatever is
handed back or warned of inline after all. Its tokens are counted as four characters each; what a turn has in common
with the turn before it counts as read from the cache. What its work takes is also told apart from the definitions of
tools, which a session reads once, however many tasks it has.
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from skillstill.models.scripted import ScriptedModel
from skillstill.run import loop
from skillstill.skills.skill import load_skill
from skillstill.types import Message, ToolCall, ToolSchema, Trace, Usage
from skillstill.workspace import Workspace

from skillstill_training.benchmarks.benchmark import Task
from skillstill_training.compare.arms import Staff, Subagents, report_text, spent
from skillstill_training.compare.outcome import (
    HAND_OVER,
    INSTRUCTIONS,
    ArmName,
    Outcome,
    Step,
    Work,
    call_text,
    inside_steps,
    message_steps,
)
from skillstill_training.field.plans import Plan, load_plans
from skillstill_training.util.hashes import hash_parts

CHARACTERS = 4  # of a token
KEY = "2"  # to be raised if it acts or counts otherwise


@dataclass(frozen=True)
class IdealOrchestrator:
    """`plans` by the id of their task; tasks without one are not asked."""

    skill_folder: Path
    plans: Mapping[str, Plan]
    staff: Staff
    name: str = "ideal"
    model: str = "ideal"
    receiver: str = ""
    arms: Sequence[ArmName] = field(default=("alone", "stock", "ours", "router"))

    @classmethod
    def of(cls, skill_folder: Path, prefix: str, staff: Staff) -> "IdealOrchestrator":
        plans = load_plans(skill_folder, "validation")
        return cls(skill_folder, {f"{prefix}/{question}": plan for question, plan in plans.items()}, staff)

    @property
    def key(self) -> str:
        return hash_parts(KEY, *(plan.model_dump_json() for plan in self.plans.values()))

    async def solve(self, task: Task, arm: ArmName, usd: float | None) -> Outcome:
        """Raise SkillstillError if a subagent cannot be run at all."""
        start, subagents = time.monotonic(), self.staff.subagents(arm)
        inline = await self._inline(task)
        if subagents is None:
            return _outcome(self._opening(task), inline, self.plans[task.id].answer, start)
        trace = await subagents.ask(task.prompt, Path(task.folder), "" if subagents.routed else task.skill)
        handed = _handed_over(task, trace, subagents)
        is_believed = trace.report.status == "answered" and not trace.report.notes
        answer = trace.report.answer if is_believed else self.plans[task.id].answer
        opening = [*self._opening(task, HAND_OVER), *handed]
        done = _outcome(opening, () if is_believed else inline, answer, start, subagents.schemas)
        work = Work(
            inline=_size(inline) // CHARACTERS,
            handed=_size(handed) // CHARACTERS,
            fixed=len(HAND_OVER + _definitions(subagents.schemas)) // CHARACTERS,
            is_believed=is_believed,
        )
        steps = (*done.steps, *inside_steps([trace]))
        return done.model_copy(update={**spent(arm, [trace]), "work": work, "steps": steps})

    async def _inline(self, task: Task) -> Sequence[Message]:
        """Return the calls of the plan with their results, as the skill's tools give them."""
        skill, plan = load_skill(self.skill_folder), self.plans[task.id]
        calls = (Message(role="assistant", calls=(call,)) for call in plan.calls)
        brief = loop.Brief(skill, task.prompt, skill.subagent.system)
        model = ScriptedModel([*calls, plan.answer])
        trace = await loop.run(brief, nullcontext(model), Workspace(Path(task.folder)))
        return [message for message in trace.messages[2:] if message.calls or message.role == "tool"]

    def _opening(self, task: Task, more: str = "") -> Sequence[Message]:
        tools = _definitions(tool.schema for tool in load_skill(self.skill_folder).tools)
        return [
            Message(role="system", content=INSTRUCTIONS + more + tools),
            Message(role="user", content=task.prompt),
        ]


def read_once(messages: Iterable[Message]) -> Usage:
    """Return the tokens of a conversation: each turn reads all before it, from a cache what the turn before it read."""
    before = cached = prompt = reused = completion = 0
    for message in messages:
        size = _size([message])
        if message.role == "assistant":
            prompt, reused, completion, cached = prompt + before, reused + cached, completion + size, before
        before += size
    return Usage(prompt=prompt // CHARACTERS, reused=reused // CHARACTERS, completion=completion // CHARACTERS)


def _size(messages: Iterable[Message]) -> int:
    """Return how many characters are said, called and read."""
    return sum(len(one.content) + sum(len(call_text(call)) for call in one.calls) for one in messages)


def _handed_over(task: Task, trace: Trace, subagents: Subagents) -> Sequence[Message]:
    name, argument = ("delegate", "task") if subagents.routed else (task.skill, "prompt")
    call = ToolCall(name=name, arguments={argument: task.prompt})
    read = report_text(trace, routed=subagents.routed)
    return [Message(role="assistant", calls=(call,)), Message(role="tool", content=read)]


def _outcome(
    opening: Sequence[Message],
    inline: Sequence[Message],
    answer: str,
    start: float,
    schemas: Iterable[ToolSchema] = (),
) -> Outcome:
    first, *rest = opening
    told = first.model_copy(update={"content": first.content + _definitions(schemas)})
    messages = [told, *rest, *inline, Message(role="assistant", content=answer)]
    steps: tuple[Step, ...] = tuple(step for message in messages[2:] for step in message_steps(message))
    return Outcome(answer=answer, usage=read_once(messages), seconds=round(time.monotonic() - start, 3), steps=steps)


def _definitions(schemas: Iterable[ToolSchema]) -> str:
    """Return tools as a model is told of them."""
    return "".join(json.dumps(schema.prompt_fields(), ensure_ascii=False) for schema in schemas)
