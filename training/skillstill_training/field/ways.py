"""The way from a question's words to a place that is known to be right: what a run could have done, where none did."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from skillstill.errors import Refusal
from skillstill.skills.skill import Skill
from skillstill.types import Span, ToolCall, Trace
from skillstill.workspace import Workspace

from skillstill_training.field.arms import Asked, PlanArm
from skillstill_training.field.judge import judge_answer
from skillstill_training.field.plans import Plan
from skillstill_training.field.question import FieldQuestion, Gold

PATTERN = "pattern"  # the argument of tools that look for a text
TRIED = 6  # words of a question
NEAR = 12  # lines around a place: what looking for one of their words may lead to
WORD = re.compile(r"[^\W\d][\w.-]{2,}\w")


async def try_plan(skill: Skill, question: FieldQuestion, plan: Plan, root: Path) -> tuple[bool, Trace]:
    """Return whether the plan, executed in the folder, is judged right, and the trace of that."""
    row = await PlanArm(skill, {question.id: plan}).solve(Asked(id=question.id, prompt=question.prompt), root)
    assert row.trace
    return judge_answer(question.gold, row.answer, question.prompt).is_good, row.trace


async def find_way(skill: Skill, question: FieldQuestion, root: Path) -> Plan | None:
    """Return a plan that looks for a word of the question, opens the place if need be, and answers rightly.

    None if no tool of the skill looks for a text, if nothing names a line, or if no word leads there.
    """
    search = _Search(skill, question, root)
    for place in (span for span in question.gold.spans if span.first):
        for word in _words_near(question.prompt, Workspace(root), place):
            for finder in search.finders:
                if plan := await search.plan(ToolCall(name=finder, arguments={PATTERN: word}), place):
                    return plan
    return None


@dataclass(frozen=True)
class _Search:
    skill: Skill
    question: FieldQuestion
    root: Path

    @property
    def finders(self) -> Sequence[str]:
        """Return the tools that look for a text and need nothing else."""
        known = ((tool.name, tool.schema.parameters) for tool in self.skill.tools)
        return [name for name, one in known if PATTERN in one["properties"] and {*one.get("required", ())} <= {PATTERN}]

    async def plan(self, look: ToolCall, place: Span) -> Plan | None:
        """Return the plan if what the call finds bears out the answer, or leads to the file that does."""
        plan = self._plan(place, look)
        is_right, found = await try_plan(self.skill, self.question, plan, self.root)
        if is_right:
            return plan
        if any(span.path == place.path for receipt in found.receipts[-1:] for span in receipt.spans):
            for plan in (self._plan(place, look, one) for one in openings(self.skill, place.path, place.first)):
                if (await try_plan(self.skill, self.question, plan, self.root))[0]:
                    return plan
        return None

    def _plan(self, place: Span, *calls: ToolCall) -> Plan:
        """Return the plan that makes these calls and answers what is right at the place."""
        answer = answer_at(self.question.gold, f"{place.path}:{place.first}")
        return Plan(question=self.question.id, calls=calls, answer=answer)


def answer_at(gold: Gold, place: str) -> str:
    """Return what is right, as somebody says it who has read the place."""
    said = " and ".join(forms[0] for forms in gold.facts)
    return f"{said} ({place})." if said else place


def openings(skill: Skill, path: str, line: int) -> Iterator[ToolCall]:
    """Yield the calls that open a line: of a tool that takes path and line, and needs nothing else."""
    for tool in skill.tools:
        needed = {*tool.schema.parameters.get("required", ())}
        for name, mark in tool.schema.references.items():
            if mark.line and needed <= {name, mark.line}:
                yield ToolCall(name=tool.name, arguments={name: path, mark.line: line})


def _words_near(prompt: str, workspace: Workspace, place: Span) -> Sequence[str]:
    """Return the words of a prompt that stand around a place, the longest first; none of what no tool would show."""
    try:
        with workspace.resolve(place.path).open(encoding="utf-8", errors="replace") as lines:
            around = "".join(islice(lines, max(0, place.first - NEAR), place.first + NEAR)).casefold()
    except (Refusal, OSError):
        return []
    words = dict.fromkeys(WORD.findall(prompt))
    return sorted((word for word in words if word.casefold() in around), key=len, reverse=True)[:TRIED]
