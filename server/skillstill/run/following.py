"""A follow-up: a question that goes on from an earlier run, under what was asked and answered there."""

from skillstill.errors import UsageError
from skillstill.run.prompt import check_prompt
from skillstill.types import Trace
from skillstill.util.text import shorten
from skillstill.workspace import Workspace

ANSWER = 400  # characters of the earlier answer; a small model forgets what it is asked under a longer one
PLACES = 3  # of the earlier evidence


def follow_up(earlier: Trace, question: str, skill: str, folder: Workspace) -> str:
    """Return the prompt of a follow-up, in the form of field questions: what it follows, an empty line, itself.

    Raise UsageError if the earlier run was of another subagent or folder, or if both are too long.
    """
    if earlier.skill != skill:
        raise UsageError(f"run {earlier.run[:12]} was of {earlier.skill}, not of {skill}: ask {earlier.skill} again")
    if earlier.workspace != str(folder.root):
        raise UsageError(f"run {earlier.run[:12]} was about {earlier.workspace}, not about {folder.root}")
    return check_prompt("\n\n".join(filter(None, [earlier.prompt, _answer(earlier), question])))


def _answer(earlier: Trace) -> str:
    """Return what the earlier run answered, with its places if they do not stand in the answer; else nothing."""
    report = earlier.report
    if report.status != "answered":
        return ""
    places = [place for place in report.evidence[:PLACES] if place not in report.answer]
    return shorten(report.answer, ANSWER) + (f" ({', '.join(places)})" if places else "")
