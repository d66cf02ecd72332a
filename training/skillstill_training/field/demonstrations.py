"""Demonstrations: plans for field questions, executed in the loop that ships. Those that are right are learned from."""

from collections.abc import Sequence
from pathlib import Path

from anyio import to_thread
from skillstill.errors import StageError
from skillstill.skills.skill import load_skill

from skillstill_training.field.arms import Asked, PlanArm
from skillstill_training.field.judge import judge_answer
from skillstill_training.field.plans import load_plans
from skillstill_training.field.question import FOLDER, FieldQuestion, load_questions, prompt_of
from skillstill_training.teachers import FIELD, TraceRow
from skillstill_training.workspaces import workspace_roots


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
    arm = PlanArm(load_skill(skill_folder), plans)

    async def demonstrate(question: FieldQuestion) -> TraceRow:
        asked = Asked(id=question.id, prompt=prompt_of(question, questions))
        row = await arm.solve(asked, roots[question.workspace])
        judged = judge_answer(question.gold, row.answer, asked.prompt)
        reason = "" if judged.is_good else f"{judged.verdict.value}: {judged.why}"
        return TraceRow(
            goal=question.id, teacher=FIELD, kept=judged.is_good, reason=reason, verified="check", trace=row.trace
        )

    return [await demonstrate(questions[name]) for name in sorted(plans)]
