"""One goal solved by one model: the real loop, the real tools, the real workspace."""

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Protocol

from skillstill.contract import behaviour_hash
from skillstill.errors import OracleError
from skillstill.models.scripted import ScriptedModel
from skillstill.run import loop
from skillstill.run.finish import finish
from skillstill.run.leads import with_index_leads
from skillstill.skills.familiarity import Familiarity
from skillstill.skills.skill import Skill
from skillstill.types import DialectName, Message, Model, Receipt, Trace
from skillstill.workspace import Workspace

from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.checks import Judgement, judge
from skillstill_training.authoring.families import Family
from skillstill_training.authoring.goal import Goal
from skillstill_training.authoring.oracle import ORACLE_VERSION, OracleContext, OracleModel
from skillstill_training.authoring.verdicts import judges_hash
from skillstill_training.util.hashes import hash_parts

TIMELESS = datetime(2000, 1, 1, tzinfo=UTC)


class EpisodeTask(Protocol):
    """What a run needs of a goal; one without a check has no more."""

    @property
    def id(self) -> str: ...

    @property
    def prompt(self) -> str: ...


async def solve(
    goal: EpisodeTask,
    skill: Skill,
    model: Model,
    root: Path,
    label: str,
    *,
    told: str | None = None,
    familiarity: Familiarity | None = None,
) -> Trace:
    """Return the trace of one run, with what its leads are made of.

    `told` is the system turn, by default the one line that a tuned model sees. `familiarity` knows the questions that
    are like those that the model learned; no other one is asked.
    """
    brief = replace(_brief(goal, skill, label, told), familiarity=familiarity)
    workspace = Workspace(root)
    trace = await loop.run(brief, nullcontext(model), workspace)
    located = await with_index_leads(trace, skill, workspace)
    is_asked = trace.report.status == "escalate"  # in serving; an answer may turn out to be unsure later
    return located if is_asked else located.model_copy(update={"tally": trace.tally})


def _brief(goal: EpisodeTask, skill: Skill, label: str, told: str | None = None) -> loop.Brief:
    return loop.Brief(
        skill=skill,
        prompt=goal.prompt,
        system=skill.subagent.system if told is None else told,
        model=label,
        dialect=DialectName.LINES if told is None else DialectName.HERMES,
        run=goal.id,
    )


async def execute(
    goal: Goal, family: Family, skill: Skill, root: Path, context: OracleContext
) -> tuple[Trace, Judgement]:
    """Return the goal solved by its family's plan, and what its check says of that. Raise OracleError."""
    if family.plan is None:
        raise OracleError(f"the family {family.name} has no plan")
    return await _constructed(goal, skill, OracleModel(family.plan(goal, context), context), root)


async def replay(goal: Goal, skill: Skill, turns: Iterable[Message | str], root: Path) -> tuple[Trace, Judgement]:
    """Return the goal solved by turns that are known beforehand, and what its check says of that. Raise OracleError."""
    return await _constructed(goal, skill, ScriptedModel(turns), root)


async def _constructed(goal: Goal, skill: Skill, model: Model, root: Path) -> tuple[Trace, Judgement]:
    trace = await loop.run(_brief(goal, skill, "constructed"), nullcontext(model), Workspace(root))
    if trace.report.status == "failed":
        raise OracleError(trace.report.answer)
    return trace, judge_trace(goal, trace)


def judge_trace(goal: Goal, trace: Trace) -> Judgement:
    """Return what the goal's check says of the run as its caller reads it: finished as `Runtime` finishes it."""
    return judge(goal.check, Attempt.of_trace(finish(trace)))


def oracle_context(goal: Goal, seed: int, rates: dict[str, float] | None = None) -> OracleContext:
    """Return the same chances for the same goal and seed, whatever else runs beside it."""
    return OracleContext(Random(f"{seed}/{goal.id}"), rates or {})  # noqa: S311 - not for secrets


def code_hash(skill: Skill) -> str:
    """Return a hash of the code that solves and judges: of checks, plans, the loop and its tools."""
    return hash_parts(judges_hash(), ORACLE_VERSION, behaviour_hash(skill))


def _timeless_receipt(receipt: Receipt) -> Receipt:
    calls = tuple(map(_timeless_receipt, receipt.calls))
    return receipt.model_copy(update={"seconds": 0.0, "calls": calls})


def timeless(trace: Trace, workspace: str) -> Trace:
    """Return the trace without clock and machine: the same work gives the same bytes."""
    receipts = tuple(map(_timeless_receipt, trace.receipts))
    tally = trace.tally.model_copy(update={"seconds": 0.0})
    return trace.model_copy(update={"created": TIMELESS, "workspace": workspace, "receipts": receipts, "tally": tally})
