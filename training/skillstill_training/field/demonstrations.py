"""Demonstrations: what a run could have done for a training question, executed in the loop that ships.

Whoever wrote a plan knew the answer, and what nobody can know beforehand cannot be learned. So the first of these that
is right becomes a lesson: lines that the run begins with are quoted; one of them is opened; the plan is followed, if
all that it looks for was said or shown. If none is right, a run that begins with a call hands back.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import combinations, islice
from pathlib import Path

from skillstill.errors import StageError
from skillstill.run.context import LinesOf, in_context, lines_in
from skillstill.skills.skill import Skill, load_skill
from skillstill.tools.code.files import BEFORE, WINDOW
from skillstill.types import Message, Span, ToolCall, Trace
from skillstill.workspace import Workspace

from skillstill_training.field.arms import Asked, FieldRow, PlanArm
from skillstill_training.field.judge import FieldAnswer, judge_answer
from skillstill_training.field.knowable import could_be_known
from skillstill_training.field.plans import Plan, load_plans, plans_file
from skillstill_training.field.question import (
    FOLDER,
    FieldQuestion,
    has_field_questions,
    load_questions,
    prompt_of,
    questions_file,
)
from skillstill_training.field.rewordings import load_rewordings, rewordings_file
from skillstill_training.field.ways import answer_at, find_way, openings
from skillstill_training.teachers import FIELD, TraceRow
from skillstill_training.teachers.batch import strip_timing
from skillstill_training.workspaces import workspace_roots

QUOTED = 2  # lines of an answer at most
OPENED = 3  # shown lines that are tried, each with what stands around it
ABOVE, BELOW = BEFORE, WINDOW - BEFORE - 1  # lines around a shown one that are seen if it is opened
NOTHING_SHOWN = "escalate: none of the likeliest places says it."
CANNOT_TELL = "escalate: the files do not tell."


def lesson_sources(skill_folder: Path) -> Sequence[Path]:
    """Return the files that lessons are made of, none without training questions."""
    files = (questions_file(skill_folder, "train"), rewordings_file(skill_folder), plans_file(skill_folder, "train"))
    return [file for file in files if file.is_file()] if files[0].is_file() else []


def load_demonstrators(skill_folder: Path, size: str = "", *, offline: bool = False) -> Sequence["Demonstrator"]:
    """Return one for each training question, none if there are no such questions.

    Raise StageError if a plan or a rewording is for no training question.
    """
    if not has_field_questions(skill_folder, "train"):
        return ()
    questions = {question.id: question for question in load_questions(skill_folder, "train")}
    plans, rewordings = load_plans(skill_folder, "train"), load_rewordings(skill_folder)
    if unknown := (plans.keys() | rewordings.keys()) - questions.keys():
        raise StageError(f"there is a plan or a rewording for {min(unknown)}, which is no training question")
    names = {question.workspace for question in questions.values()}
    roots = workspace_roots(skill_folder / FOLDER, names, offline)
    skill = load_skill(skill_folder).sized(size)
    return [
        Demonstrator(
            skill,
            question,
            (prompt_of(question, questions), *rewordings.get(question.id, ())),
            roots[question.workspace],
            plans.get(question.id),
        )
        for question in sorted(questions.values(), key=lambda one: one.id)
    ]


@dataclass(frozen=True)
class Demonstrator:
    """Finds out what a run could do for one question, asked in any of these words."""

    skill: Skill
    question: FieldQuestion
    prompts: tuple[str, ...]
    root: Path
    plan: Plan | None = None
    _found: list[Plan | None] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.question.id

    @property
    def prompt(self) -> str:
        return self.prompts[0]

    @cached_property
    def _lines_of(self) -> LinesOf:
        """Return what reads a file of the folder once: each of a hundred pairs of lines may be the answer."""
        return cache(partial(lines_in, Workspace(self.root)))

    async def rows(self) -> Sequence[TraceRow]:
        """Return a row for each wording; one that teaches nothing is not kept."""
        return [strip_timing(await self.row(prompt), self.question.workspace) for prompt in self.prompts]

    async def row(self, prompt: str) -> TraceRow:
        """Return the first run that is right and could be known, else one that hands back."""
        reason = "nobody wrote a plan, and none is found"
        opened = await self._opened(prompt)
        async for plan in self._plans(opened):
            solved = await self._solve(prompt, plan)
            judged = judge_answer(self.question.gold, solved.answer, prompt)
            if judged.is_good and solved.trace and (plan.tried or could_be_known(solved.trace, self.question.gold)):
                return self._kept(solved.trace)
            reason = "nobody could know it" if judged.is_good else f"{judged.verdict.value}: {judged.why}"
        if opened:
            return self._kept(opened)
        return TraceRow(goal=self.id, teacher=FIELD, kept=False, reason=reason)

    async def _opened(self, prompt: str) -> Trace | None:
        """Return the run that hands back what it begins with; None if nothing answers, or if that is not looked for."""
        opening = self.skill.subagent.opening
        if self.question.gold.outcome != "answer" or not opening or opening.shared:  # by all questions about a folder
            return None
        return (await self._solve(prompt, self._does(NOTHING_SHOWN))).trace

    async def _plans(self, opened: Trace | None) -> AsyncIterator[Plan]:
        """Yield what may be done, what needs least to be known first."""
        if self.question.gold.outcome == "beyond":
            if self.plan or self.skill.subagent.opening:  # nobody gives up before anything was looked at
                yield self.plan or self._does(CANNOT_TELL)
            return
        result = next((one for one in opened.messages if one.role == "tool"), None) if opened else None
        if result and self.question.gold.places:
            if quoted := self._quoted(result):
                yield self._does(quoted)
            for wanted, call in self._openings(result):
                yield self._does(self._told(wanted), call)
        if led := await self._way():
            yield led

    async def _way(self) -> Plan | None:
        """Return the plan, else a way from a word of the question to the place, which is looked for once."""
        if not (self.plan or self._found):
            self._found.append(await find_way(self.skill, self.question, self.root))
        return self.plan or self._found[0]

    def _openings(self, result: Message) -> Iterator[tuple[Span, ToolCall]]:
        """Yield the calls that open a shown line near a wanted place, with that place."""
        near = (
            (wanted, place)
            for place in result.places
            for wanted in self.question.gold.spans
            if wanted.path == place.path and place.line - ABOVE <= wanted.first <= place.line + BELOW
        )
        for wanted, place in islice(near, OPENED):
            for call in openings(self.skill, place.path, place.line):
                yield wanted, call

    def _quoted(self, result: Message) -> str:
        """Return the one or two lines of a result that are a right answer at a wanted place; empty if none are."""
        texts = result.content.removeprefix(f"{result.receipt}: ").split("\n")
        lines = [(texts[place.index], f"{place.path}:{place.line}") for place in result.places if place.line]
        for count in range(1, QUOTED + 1):
            for chosen in combinations(lines, count):
                if self._is_answer(*zip(*chosen, strict=True)):
                    return "\n".join(text for text, _ in chosen)
        return ""

    def _is_answer(self, texts: Sequence[str], places: Sequence[str]) -> bool:
        whole = [
            text if text.startswith(place) else f"{place}: {text}" for text, place in zip(texts, places, strict=True)
        ]
        answer = "\n".join(whole)
        told = in_context(answer, self.skill.subagent.quotes, self._lines_of) or answer
        judged = judge_answer(self.question.gold, FieldAnswer(status="answered", text=told, places=tuple(places)))
        return judged.is_good and judged.led

    def _told(self, wanted: Span) -> str:
        """Return what is right, as somebody says it who has read the place."""
        return answer_at(self.question.gold, f"{wanted.path}:{wanted.first}")

    def _does(self, answer: str, *calls: ToolCall) -> Plan:
        return Plan(question=self.id, calls=calls, answer=answer)

    async def _solve(self, prompt: str, plan: Plan) -> FieldRow:
        arm = PlanArm(self.skill, {self.id: plan})
        return await arm.solve(Asked(id=self.id, prompt=prompt), self.root)

    def _kept(self, trace: Trace) -> TraceRow:
        return TraceRow(goal=self.id, teacher=FIELD, kept=True, verified="check", trace=trace)
