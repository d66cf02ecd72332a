"""Practice: an adapter tries training questions by itself. What it solves is learned from, and so is the way on from a
call that led nowhere, which is read and not learned.

On-policy data in the sense of DAgger (Ross, Gordon and Bagnell, 2011): states that the adapter reaches itself.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillstill.types import Message, ToolCall, Trace

from skillstill_training.field.arms import Asked, FieldArm, PlanArm, without_extract
from skillstill_training.field.judge import FieldAnswer, FieldJudgement, judge_answer
from skillstill_training.field.plans import Plan
from skillstill_training.field.question import FieldQuestion, prompt_of
from skillstill_training.teachers import FIELD, TraceRow

RECEIPT = re.compile(r"\br(\d+)\b")
OnPractice = Callable[[TraceRow], None]


@dataclass(frozen=True)
class Practice:
    """Who tries the questions, and the plans that lead on from a mistake. `known` are all questions by id."""

    student: FieldArm
    plans: PlanArm
    known: Mapping[str, FieldQuestion]

    async def attempt(self, question: FieldQuestion, root: Path) -> TraceRow:
        """Return what can be learned of the student's attempt. Not kept if it is neither right nor led on.

        Raise BaseError and ModelError if the student cannot be loaded.
        """
        asked = Asked(id=question.id, prompt=prompt_of(question, self.known))
        row = await self.student.solve(asked, root)
        answer = FieldAnswer.of_trace(without_extract(row.trace)) if row.trace else row.answer
        judged = judge_answer(question.gold, answer, asked.prompt)
        if judged.verdict.value == "right":
            return _kept(question.id, row.trace)
        plan = self.plans.plans.get(question.id)
        mistake = row.trace and first_mistake(row.trace)
        if not (plan and mistake) or mistake in plan.calls:
            return _left_out(question.id, judged)
        opening_calls = plan.opening_calls_in(self.plans.skill.subagent)
        return await self._led_on(question, asked, root, later(plan, mistake, opening_calls))

    async def _led_on(self, question: FieldQuestion, asked: Asked, root: Path, plan: Plan) -> TraceRow:
        """Return the run that makes the mistake, and then does what the plan says."""
        arm = PlanArm(self.plans.skill, {question.id: plan})
        row = await arm.solve(asked, root)
        judged = judge_answer(question.gold, row.answer, asked.prompt)
        if not (judged.is_good and row.trace):
            return _left_out(question.id, judged)
        return _kept(question.id, mark_mistake(row.trace, plan.calls[0]))


def _kept(question: str, trace: Trace | None) -> TraceRow:
    return TraceRow(goal=question, teacher=FIELD, kept=True, verified="check", trace=trace)


def _left_out(question: str, judged: FieldJudgement) -> TraceRow:
    return TraceRow(goal=question, teacher=FIELD, kept=False, reason=f"{judged.verdict.value}: {judged.why}")


def first_mistake(trace: Trace) -> ToolCall | None:
    """Return the first call of the model that was refused or found nothing; None if there is none."""
    led_nowhere = {receipt.id for receipt in trace.receipts if receipt.refused or receipt.empty}
    calls: Sequence[ToolCall] = ()
    for message in trace.messages:
        if message.role == "tool" and message.receipt in led_nowhere and len(calls) == 1:
            return calls[0]
        calls = message.calls
    return None


def later(plan: Plan, mistake: ToolCall, opening_calls: int) -> Plan:
    """Return the plan with this call in front. Its answer names the results by their new numbers.

    The results of the `opening_calls` that a run begins with keep theirs.
    """
    answer = RECEIPT.sub(lambda found: f"r{int(found[1]) + (int(found[1]) > opening_calls)}", plan.answer)
    return plan.model_copy(update={"calls": (mistake, *plan.calls), "answer": answer})


def mark_mistake(trace: Trace, call: ToolCall) -> Trace:
    """Return the trace with the turn that makes this call marked as mistaken."""

    def marked(message: Message) -> Message:
        return message.model_copy(update={"mistaken": True}) if message.calls == (call,) else message

    return trace.model_copy(update={"messages": tuple(map(marked, trace.messages))})
