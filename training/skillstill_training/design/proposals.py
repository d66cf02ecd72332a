"""A teacher's part of a design: topics, questions on them about real workspaces, what is left of them when tried."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import TypeVar

from skillstill.errors import BudgetSpent, TeacherError
from skillstill.skills.skill import Skill
from skillstill.util.text import shorten

from skillstill_training.authoring.checks import Judged
from skillstill_training.authoring.goal import SPLITS
from skillstill_training.authoring.proposed import Proposed
from skillstill_training.design import topics as tree
from skillstill_training.design.attempts import try_candidates
from skillstill_training.design.draft import Design
from skillstill_training.design.glimpse import glimpse
from skillstill_training.design.questions import JUDGED_PROMPT, PROMPT, Candidate, candidates
from skillstill_training.design.rubric_draft import draw_rubric
from skillstill_training.design.screen import screen_candidates
from skillstill_training.design.soft import Soft
from skillstill_training.design.topics import Topic, topics
from skillstill_training.teachers.asker import Asker
from skillstill_training.teachers.large_models import LargeModel
from skillstill_training.teachers.ledger import Ledger
from skillstill_training.teachers.model_teacher import ModelTeacher
from skillstill_training.teachers.retries import RetryPolicy
from skillstill_training.teachers.rubric import SPOILED, try_judge
from skillstill_training.util.tasks import each
from skillstill_training.util.turns import interleave
from skillstill_training.workspaces import BuiltWorkspace

ROLE = "You prepare questions that a small subagent will be taught and tested with. Reply with one JSON value alone."
BODY = 4_000  # characters of a skill's text that a teacher is told when it is asked for topics
LEAVES = 3  # topics of a branch
TRAINING = 3  # workspaces of the split `train` that a topic is asked about; of the others one

Kept = TypeVar("Kept", Topic, Candidate)
OnTold = Callable[[str], None]
Reasons = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ProposalLimits:
    """How much a teacher is asked for: topics, and questions for each topic and workspace."""

    topics: int = 6
    questions: int = 4
    at_once: int = 2
    retries: RetryPolicy = field(default_factory=RetryPolicy)


@dataclass
class Proposals:
    """What a teacher's proposals have come to so far."""

    proposed: list[Proposed] = field(default_factory=list)
    soft: list[Soft] = field(default_factory=list)
    rejected: Reasons = field(default_factory=list)


async def propose(
    design: Design,
    skill: Skill,
    workspaces: Sequence[BuiltWorkspace],
    model: LargeModel,
    ledger: Ledger,
    terms: ProposalLimits,
    on_told: OnTold = lambda text: None,
) -> Design:
    """Return the design with all that passed. A spent budget ends it early, and what is done stays.

    Raise TeacherError.
    """
    found = Proposals()
    asker = Asker(model, ledger, ROLE, retries=terms.retries)
    teacher = ModelTeacher(skill, model, ledger, retries=terms.retries)
    roots = {built.name: built.root for built in workspaces}
    if design.is_judged:
        design = replace(design, rubric=await draw_rubric(asker, design.definition, on_told), judge=model.label)
    try:
        asked = await _questions(design, workspaces, asker, terms, found.rejected, on_told)
        await _try(asked, teacher, roots, terms, found, on_told)
    except BudgetSpent as spent:
        found.rejected.append(("what was not asked or tried any more", str(spent)))
    whole = _whole(found.proposed, found.rejected)
    if not (whole or design.families or design.declared):
        for name, why in found.rejected:
            on_told(f"rejected {name}: {why}")
        count = len(found.rejected)
        raise TeacherError(f"nothing that the teacher proposed is fit for a goal family, for {count} reasons above")
    return replace(
        design,
        proposed=whole,
        soft=tuple(sorted(found.soft, key=lambda one: one.question)),
        rejected=tuple(found.rejected),
    )


async def _questions(
    design: Design,
    workspaces: Sequence[BuiltWorkspace],
    asker: Asker,
    terms: ProposalLimits,
    rejected: Reasons,
    on_told: OnTold,
) -> list[Candidate]:
    found: list[Candidate] = []
    reply = await asker.ask(_topics_prompt(design, terms), "topics")
    taken = [family.name for family in design.families]
    for at, topic in enumerate(_sort_candidates(topics(reply, taken), rejected, terms.topics)):
        for built in _asked_about(workspaces, at):
            on_told(f"asking about {topic.text} in {built.name}")
            shown = await glimpse(built.root, design.tools, Random(f"{topic.family}/{built.name}"))  # noqa: S311
            prompt = (JUDGED_PROMPT if design.rubric else PROMPT).format(
                count=terms.questions,
                topic=topic.text,
                tools=", ".join(design.tools),
                workspace=built.name,
                glimpse=shown,
            )
            answer = await asker.ask(prompt, topic.family)
            found += _sort_candidates(candidates(answer, topic, built, design.rubric), rejected, terms.questions)
    return found


def _topics_prompt(design: Design, terms: ProposalLimits) -> str:
    definition = design.definition
    return tree.PROMPT.format(
        tools=", ".join(design.tools),
        description=definition.description,
        body=shorten(definition.body, BODY),
        branches=-(-terms.topics // LEAVES),
        leaves=LEAVES,
        scope=tree.JUDGED if design.rubric else tree.CHECKED,
    )


def _sort_candidates(found: Iterable[Kept | tuple[str, str]], rejected: Reasons, most: int) -> list[Kept]:
    """Return the first `most` that are none of the rejected."""
    kept: list[Kept] = []
    for one in found:
        if isinstance(one, tuple):
            rejected.append(one)
        elif len(kept) < most:
            kept.append(one)
    return kept


def _asked_about(workspaces: Sequence[BuiltWorkspace], at: int) -> Iterator[BuiltWorkspace]:
    """Yield workspaces of every split, others for each topic."""
    for split in SPLITS:
        mine = [one for one in workspaces if one.split == split]
        turned = mine[at % len(mine) :] + mine[: at % len(mine)]
        yield from islice(turned, TRAINING if split == "train" else 1)


async def _try(
    asked: Sequence[Candidate],
    teacher: ModelTeacher,
    roots: dict[str, Path],
    terms: ProposalLimits,
    found: Proposals,
    on_told: OnTold,
) -> None:
    fit: list[Candidate] = []
    for one, why in screen_candidates(asked, roots, teacher.skill.name):
        fit += [] if why else [one]
        found.rejected += [(one.question, why)] if why else []
    if judged := [one for one in fit if isinstance(one.check, Judged)]:
        await _try_judge(judged, teacher, roots, on_told)

    async def work(one: Candidate) -> None:
        on_told(f"trying {one.question}")
        match await try_candidates(one, teacher, roots[one.workspace]):
            case Proposed() as kept:
                found.proposed.append(kept)
            case Soft() as soft:
                found.soft.append(soft)
            case str() as why:
                found.rejected.append((one.question, why))

    await each(fit, work, terms.at_once)


async def _try_judge(
    judged: Sequence[Candidate], teacher: ModelTeacher, roots: dict[str, Path], on_told: OnTold
) -> None:
    """Raise TeacherError if the judge of the rubric lets spoiled attempts pass. They are not tried as questions."""
    rubric = judged[0].check
    assert isinstance(rubric, Judged)
    on_told("trying the judge of the rubric on attempts that are spoiled on purpose")
    spread = interleave(judged, lambda one: one.workspace, SPOILED)
    await try_judge(teacher.judge, rubric, [await teacher.run(one, roots[one.workspace], 0, "judge") for one in spread])


def _whole(proposed: Sequence[Proposed], rejected: Reasons) -> tuple[Proposed, ...]:
    """Return the families that have a question left for each split, in a fixed order.

    Questions of the others are rejected.
    """
    kept: list[Proposed] = []
    for name in sorted({one.family for one in proposed}):
        mine = sorted((one for one in proposed if one.family == name), key=lambda one: (one.workspace, one.question))
        lacking = [split for split in SPLITS if not any(one.split == split for one in mine)]
        if lacking:
            rejected += [(one.question, f"its topic has no question left for the split {lacking[0]}") for one in mine]
        else:
            kept += mine
    return tuple(kept)
