"""Whether a model says the same again if its turns are drawn by chance: what it has guessed, it guesses otherwise.

Self-consistency by sampling (Wang et al., arXiv 2203.11171), used to tell how sure an answer is and not to choose one.
"""

import re
import zlib
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from skillstill.run import loop
from skillstill.run.evidence import RECEIPT, REFERENCE
from skillstill.run.leads import denies
from skillstill.skills.calibration import Calibration, features
from skillstill.skills.skill import Skill
from skillstill.tools.code.ranking import STOP_WORDS
from skillstill.types import Model, Models, ModelSpec, OnStep, Report, Step, Tally, Trace
from skillstill.workspace import Workspace

VERSION = "drawn/1"  # to be raised if other runs would be drawn, or other answers would agree
# Confidence. Of the validation answers of tables@0.5b below it one in ten is right, and one in seventy is given again.
WORTH_ASKING = 0.3
NEGATIONS = frozenset({"no", "not", "none", "never", "nothing", "without"})
WORD = re.compile(r"(?:(?<![^\W_])-(?=[0-9]))?[^\W_]+(?:[.,][0-9]+)*")  # or a number
MINUS = str.maketrans("−", "-")


async def with_agreement(
    trace: Trace,
    brief: loop.Brief,
    models: Models,
    spec: ModelSpec,
    workspace: Workspace,
    calibration: Calibration | None = None,
    *,
    on_step: OnStep | None = None,
) -> Trace:
    """Return the trace with how many drawn runs say the same, up to the first that does not, and with their cost.

    With a calibration only those are drawn that may make the answer sure. A run that cannot be had says nothing.
    """
    limits, executed = brief.skill.subagent.limits, len(trace.receipts)
    draws = _draws(trace, brief.skill, calibration)
    for number in range(draws):
        if trace.tally.seconds >= limits.seconds:
            break
        if on_step:
            note = f"asked again, {number + 1} of at most {draws}"
            await on_step(Step(number=executed, limit=limits.steps, note=note))
        drawn = await loop.run(_again(brief, trace, number), _lease(models, spec, brief.prompt, number), workspace)
        trace = trace.model_copy(update={"tally": _sum(trace.tally, drawn.tally)})
        if drawn.report.status == "failed":
            break
        is_agreed = is_same(trace.report, drawn.report)
        trace = trace.model_copy(update={"agreed": number + is_agreed})
        if not is_agreed:
            break
    return trace


def is_same(one: Report, other: Report) -> bool:
    """Return whether two answers have the same numbers, in the same order, and the same words.

    Beside numbers one may have words that the other lacks, but no negation.
    """
    if other.status != "answered" or denies(other):
        return False
    (words, numbers), (others, their_numbers) = _said(one), _said(other)
    if numbers != their_numbers or words & NEGATIONS != others & NEGATIONS:
        return False
    return bool(words) and words == others if not numbers else words <= others or others <= words


def _draws(trace: Trace, skill: Skill, calibration: Calibration | None) -> int:
    """Return how many runs to draw at most."""
    report, draws = trace.report, skill.subagent.draws
    if report.status != "answered" or denies(report) or set(_said(report)[1]) == {"0"}:
        return 0  # that there is none, or that none are counted, is never sure
    if calibration is None:
        return draws
    is_doubtful = WORTH_ASKING <= calibration.confidence(features(trace)) < calibration.threshold
    return calibration.agreed if is_doubtful and calibration.agreed and calibration.agreed <= draws else 0


def _again(brief: loop.Brief, trace: Trace, number: int) -> loop.Brief:
    """Return the brief of a drawn run, with as many steps as the first one took: a longer one has gone another way."""
    subagent = brief.skill.subagent
    turns = sum(message.role == "assistant" for message in trace.messages)
    steps = min(subagent.limits.steps, max(turns, len(trace.receipts) - subagent.opening_calls))
    seconds = subagent.limits.seconds - trace.tally.seconds
    limits = subagent.limits.model_copy(update={"steps": max(1, steps), "seconds": seconds})
    skill = brief.skill.model_copy(update={"subagent": subagent.model_copy(update={"limits": limits})})
    return replace(brief, skill=skill, run=f"{brief.run}.{number}")


def _lease(models: Models, spec: ModelSpec, prompt: str, number: int) -> AbstractAsyncContextManager[Model]:
    """Return a lease of the model that draws by chance: the same question and number draw the same."""
    seed = zlib.crc32(f"{prompt}\n{number}".encode()) >> 1  # a signed 32-bit number everywhere
    return models.lease(spec.model_copy(update={"seed": seed}))


def _said(report: Report) -> tuple[set[str], list[str]]:
    """Return the words of an answer and its numbers, without references to results and words that say little."""
    text = RECEIPT.sub(" ", REFERENCE.sub(" ", report.answer)).translate(MINUS).casefold()
    said = WORD.findall(text)
    numbers = [word for word in said if word.lstrip("-")[0].isdigit()]
    return set(said) - set(numbers) - (STOP_WORDS - NEGATIONS), numbers


def _sum(one: Tally, other: Tally) -> Tally:
    return Tally(**{name: round(getattr(one, name) + getattr(other, name), 3) for name in Tally.model_fields})
