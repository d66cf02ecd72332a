"""What went wrong in stored runs, by class: told from the runs and the feedback alone, by code."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from skillstill.run.feedback import Feedback
from skillstill.run.finish import UNSURE
from skillstill.run.parts import split_questions
from skillstill.types import ReasonKind, Trace

# Words that begin a question which leans on an earlier one.
LEANS = re.compile(r"\W*(?:and|also|so|then|ok(?:ay)?|same|what about|how about)\b", re.IGNORECASE)


class FailureClass(StrEnum):
    """The value is what people read. The first four say what came out, the others what was special in the question."""

    HANDED_BACK = "handed back"
    UNSURE = "unsure"
    WRONG = "wrong by feedback"
    WRONG_SKILL = "wrong skill"  # refused by `delegate`, or answered by another subagent in the end
    TWO_QUESTIONS = "two questions in one"
    FOLLOW_UP = "follow-up"  # of an earlier run, or in words that lean on one


def failures(traces: Iterable[Trace], feedback: Iterable[Feedback]) -> Mapping[FailureClass, Sequence[Trace]]:
    """Return the runs that failed by class, oldest first; a run may be of several. Classes without a run are left out.

    A run that is said to be right did not fail, whatever it warned of.
    """
    runs, verdicts = list(traces), {one.run: one.verdict for one in feedback}
    answered = {(run.workspace, run.prompt): run.skill for run in runs if run.report.status == "answered"}
    found: dict[FailureClass, list[Trace]] = {}
    for run in runs:
        if verdicts.get(run.run) == "right":
            continue
        outcomes = list(_outcomes(run, verdicts.get(run.run) == "wrong", answered))
        for kind in (*outcomes, *(_traits(run) if outcomes else ())):
            found.setdefault(kind, []).append(run)
    return {kind: found[kind] for kind in FailureClass if kind in found}


def _outcomes(run: Trace, is_wrong: bool, answered: Mapping[tuple[str, str], str]) -> Iterator[FailureClass]:
    report = run.report
    refused = report.reason is not None and report.reason.kind is ReasonKind.NO_SUBAGENT
    if report.status == "escalate" and not refused:
        yield FailureClass.HANDED_BACK
    if report.status == "answered" and UNSURE in report.notes:
        yield FailureClass.UNSURE
    if is_wrong:
        yield FailureClass.WRONG
    is_bad = is_wrong or report.status == "escalate"
    if refused or (is_bad and answered.get((run.workspace, run.prompt), run.skill) != run.skill):
        yield FailureClass.WRONG_SKILL


def _traits(run: Trace) -> Iterator[FailureClass]:
    asked = run.prompt.rpartition("\n\n")[2] if run.after else run.prompt
    if len(split_questions(asked)) > 1:
        yield FailureClass.TWO_QUESTIONS
    if run.after or LEANS.match(run.prompt):
        yield FailureClass.FOLLOW_UP
