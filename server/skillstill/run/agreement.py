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
from skillstill.skills.calibration import Calibration, features
from skillstill.skills.skill import Skill
from skillstill.types import Model, Report, Tally, Trace
from skillstill.workspace import Workspace

WORTH_ASKING = 0.3  # confidence: of validation answers below it one in ten is right, and hardly one is repeated
LeaseDrawn = Callable[[int], AbstractAsyncContextManager[Model]]  # the model, drawing by chance from this seed
WORD = re.compile(r"(?:(?<![^\W_])-(?=[0-9]))?[^\W_]+(?:[.,][0-9]+)*")  # or a number


async def with_agreement(
    trace: Trace, brief: loop.Brief, lease: LeaseDrawn, workspace: Workspace, calibration: Calibration | None = None
) -> Trace:
    """Return the trace with how many drawn runs say the same, up to the first that does not, and with their cost.

    With a calibration only those are drawn that may make the answer sure.
    """
    draws, seconds = brief.skill.subagent.draws, brief.skill.subagent.limits.seconds
    if calibration:
        draws = min(draws, calibration.agreed or 0) if _is_doubtful(trace, calibration) else 0
    if not draws or not _can_agree(trace.report):
        return trace
    agreed, tally = 0, trace.tally
    while agreed < draws and tally.seconds < seconds:
        hurried = _hurried(brief.skill, trace.tally.turns, seconds - tally.seconds)
        seed = zlib.crc32(f"{brief.prompt}\n{agreed}".encode()) >> 1  # a signed 32-bit number everywhere
        again = replace(brief, skill=hurried, run=f"{brief.run}.{agreed}")
        drawn = await loop.run(again, lease(seed), workspace)
        tally = _sum(tally, drawn.tally)
        if not is_same(trace.report, drawn.report):
            break
        agreed += 1
    return trace.model_copy(update={"agreed": agreed, "tally": tally})


def _is_doubtful(trace: Trace, calibration: Calibration) -> bool:
    """Return whether an answer is neither sure already nor most likely wrong."""
    return WORTH_ASKING <= calibration.confidence(features(trace)) < calibration.threshold


def _can_agree(report: Report) -> bool:
    """Return whether it is an answer, and says of something that it is there: a count of zero does not."""
    return report.status == "answered" and not denies(report) and _said(report)[1] != {"0"}


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
