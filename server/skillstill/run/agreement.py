"""Whether a model says the same again if its turns are drawn by chance: what it has guessed, it guesses otherwise.

Self-consistency (Wang et al., arXiv 2203.11171), used to tell how sure an answer is and not to choose one.
"""

import re
import zlib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from skillstill.run import loop
from skillstill.run.evidence import RECEIPT, REFERENCE
from skillstill.run.leads import denies
from skillstill.skills.skill import Skill
from skillstill.types import Model, Report, Tally, Trace
from skillstill.workspace import Workspace

LeaseDrawn = Callable[[int], AbstractAsyncContextManager[Model]]  # the model, drawing by chance from this seed
WORD = re.compile(r"(?:(?<![^\W_])-(?=[0-9]))?[^\W_]+(?:[.,][0-9]+)*")  # or a number


async def with_agreement(trace: Trace, brief: loop.Brief, lease: LeaseDrawn, workspace: Workspace) -> Trace:
    """Return the trace with how many drawn runs say the same, up to the first that does not, and with their cost.

    Only an answer is asked for again. That there is none, which is never sure, agrees with nothing.
    """
    draws = brief.skill.subagent.draws
    if not draws or trace.report.status != "answered":
        return trace
    agreed, tally, seconds = 0, trace.tally, brief.skill.subagent.limits.seconds
    while agreed < draws and not denies(trace.report) and tally.seconds < seconds:
        hurried = _hurried(brief.skill, trace.tally.turns, seconds - tally.seconds)
        seed = zlib.crc32(f"{brief.prompt}\n{agreed}".encode()) >> 1  # a signed 32-bit number everywhere
        again = replace(brief, skill=hurried, run=f"{brief.run}.{agreed}")
        drawn = await loop.run(again, lease(seed), workspace)
        tally = _sum(tally, drawn.tally)
        if not is_same(trace.report, drawn.report):
            break
        agreed += 1
    return trace.model_copy(update={"agreed": agreed, "tally": tally})


def _hurried(skill: Skill, turns: int, seconds: float) -> Skill:
    """Return the skill with so many steps and seconds: a run that takes more turns has gone another way."""
    subagent = skill.subagent
    steps = max(1, min(subagent.limits.steps, turns))
    limits = subagent.limits.model_copy(update={"steps": steps, "seconds": seconds})
    return skill.model_copy(update={"subagent": subagent.model_copy(update={"limits": limits})})


def is_same(one: Report, other: Report) -> bool:
    """Return whether two answers have the same numbers, and one all the words of the other."""
    if other.status != "answered":
        return False
    (words, numbers), (others, their_numbers) = _said(one), _said(other)
    says_something = bool(numbers or (words and others))
    return says_something and numbers == their_numbers and (words <= others or others <= words)


def _sum(one: Tally, other: Tally) -> Tally:
    return Tally(**{name: round(getattr(one, name) + getattr(other, name), 3) for name in Tally.model_fields})


def _said(report: Report) -> tuple[set[str], set[str]]:
    """Return the words and the numbers of an answer, without those that only refer to results."""
    said = set(WORD.findall(RECEIPT.sub(" ", REFERENCE.sub(" ", report.answer)).casefold()))
    numbers = {word for word in said if word.lstrip("-")[0].isdigit()}
    return said - numbers, numbers
