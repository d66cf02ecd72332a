"""Demonstrations: plans for field questions, executed in the loop that ships. Those that are right are learned from.

If what a run begins with shows the answer, its lines are quoted in place of the plan: who wrote a plan knew the answer,
and what nobody can know beforehand cannot be learned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from anyio import to_thread
from skillstill.errors import StageError
from skillstill.skills.skill import Skill, load_skill
from skillstill.types import Trace

from skillstill_training.field.arms import Asked, FieldRow, PlanArm
from skillstill_training.field.judge import FieldAnswer, judge_answer
from skillstill_training.field.plans import Plan, load_plans
from skillstill_training.field.question import FOLDER, FieldQuestion, load_questions, prompt_of
from skillstill_training.teachers import FIELD, TraceRow
from skillstill_training.workspaces import workspace_roots

QUOTED = 2  # lines of an answer at most


async def make_demonstrations(skill_folder: Path, *, offline: bool = False) -> Sequence[TraceRow]:
    """Return a row for each plan of a training question; one that the judge does not find right is not kept.

    There are none without plans. Raise StageError if a plan is for no training question.
    """
    if not (plans := load_plans(skill_folder, "train")):
        return ()
    questions = {question.id: question for question in load_questions(skill_folder, "train")}
    if unknown := plans.keys() - questions.keys():
        raise StageError(f"there is a plan for {min(unknown)}, which is no training question")
    names = {questions[plan].workspace for plan in plans}
    roots = await to_thread.run_sync(workspace_roots, skill_folder / FOLDER, names, offline)
    demonstrator = _Demonstrator(load_skill(skill_folder), questions, roots)
    return [await demonstrator.row(questions[name], plans[name]) for name in sorted(plans)]


@dataclass(frozen=True)
class _Demonstrator:
    skill: Skill
    questions: Mapping[str, FieldQuestion]
    roots: Mapping[str, Path]

    async def row(self, question: FieldQuestion, plan: Plan) -> TraceRow:
        solved = await self._solve(question, plan)
        opened = solved.trace if self.skill.subagent.opening else None
        if opened and (quoted := shown_answer(question, opened)):
            solved = await self._solve(question, plan.model_copy(update={"calls": (), "answer": quoted}))
        judged = judge_answer(question.gold, solved.answer, solved.prompt)
        reason = "" if judged.is_good else f"{judged.verdict.value}: {judged.why}"
        return TraceRow(
            goal=question.id, teacher=FIELD, kept=judged.is_good, reason=reason, verified="check", trace=solved.trace
        )

    async def _solve(self, question: FieldQuestion, plan: Plan) -> FieldRow:
        asked = Asked(id=question.id, prompt=prompt_of(question, self.questions))
        return await PlanArm(self.skill, {question.id: plan}).solve(asked, self.roots[question.workspace])


def shown_answer(question: FieldQuestion, trace: Trace) -> str:
    """Return the one or two lines of the first result that are a right answer at a wanted place; empty if none are."""
    gold, first = question.gold, next((one for one in trace.messages if one.role == "tool"), None)
    if first is None or gold.outcome != "answer" or not gold.places:
        return ""
    texts = first.content.removeprefix(f"{first.receipt}: ").split("\n")
    lines = [(texts[place.index], f"{place.path}:{place.line}") for place in first.places]
    for count in range(1, QUOTED + 1):
        for chosen in combinations(lines, count):
            said, places = zip(*chosen, strict=True)
            answer = FieldAnswer(status="answered", text="\n".join(said), places=places)
            judged = judge_answer(gold, answer, question.prompt)
            if judged.is_good and judged.led:
                return answer.text
    return ""
