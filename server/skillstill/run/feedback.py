"""What callers said of stored runs: right, or wrong and what is right. Kept here alone, one file for each run.

It quotes prompts and answers, so only its owner may read it. It stays until `forget` or `purge`: traces go after a
month, and what is learned from feedback must not go with them.
"""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from skillstill.errors import TraceError, UsageError
from skillstill.types import PROMPT_CHARACTERS, Frozen, ToolCall, Trace
from skillstill.util.storage import state_folder, write_atomically
from skillstill.util.text import one_line

RIGHT = 1_000  # characters of what is right
QUOTED = 70  # characters of the question that it is about
Verdict = Literal["right", "wrong"]
log = logging.getLogger(__name__)


class Feedback(Frozen):
    """What a caller said of a run, with what a training needs of it.

    right      what is right, in the caller's words; of a right run the answer itself
    places     where that stands, if the run showed it
    calls      those of a right run, as far as the model made them itself
    workspace  the folder that the run was about
    after      the id of the run that it went on from
    """

    run: str = Field(pattern=r"^[0-9a-f]{1,64}$")
    verdict: Verdict
    right: str = Field(default="", max_length=RIGHT)
    places: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    skill: str
    release: str
    prompt: str = Field(max_length=PROMPT_CHARACTERS)
    workspace: str
    after: str = ""
    created: datetime

    def __str__(self) -> str:
        """Return what was said of which run, and of which question: whoever meant another one sees it."""
        asked = self.prompt.rpartition("\n\n")[2] if self.after else self.prompt
        return f'run {self.run[:12]} of {self.skill} was {self.verdict}: "{one_line(asked, QUOTED)}"'


def give_feedback(trace: Trace, verdict: str, right: str = "") -> Feedback:
    """Return the feedback of a run, stored in place of an earlier one. Raise UsageError and TraceError."""
    if verdict not in ("right", "wrong"):
        raise UsageError(f"feedback is `right` or `wrong`, not {verdict[:40]!r}")
    if len(right) > RIGHT:
        raise UsageError(f"what is right has {len(right):,} characters, at most {RIGHT:,} are kept")
    is_right = verdict == "right"
    if is_right and trace.report.status != "answered":
        raise UsageError(f"run {trace.run[:12]} has no answer that could be right: say `wrong`, and what is right")
    feedback = Feedback(
        run=trace.run,
        verdict="right" if is_right else "wrong",
        right=right or (trace.report.answer[:RIGHT] if is_right else ""),
        places=trace.report.evidence if is_right else (),
        calls=tuple(call for message in trace.messages for call in message.calls) if is_right else (),
        skill=trace.skill,
        release=trace.release,
        prompt=trace.prompt,
        workspace=trace.workspace,
        after=trace.after,
        created=datetime.now(UTC),
    )
    try:
        write_atomically(_file(trace.run), feedback.model_dump_json() + "\n")
    except (OSError, ValueError) as error:
        raise TraceError(f"the feedback of run {trace.run} is not stored in {folder()}: {error}") from error
    return feedback


def all_feedback(skill: str = "") -> Sequence[Feedback]:
    """Return all feedback that can be read, or that of one subagent, oldest first; the rest is logged."""
    found = [one for file in folder().glob("*.json") if (one := _read(file))]
    return sorted((one for one in found if skill in ("", one.skill)), key=lambda one: (one.created, one.run))


def forget_feedback(workspace: Path | None) -> int:
    """Forget the feedback of a folder, or all of it. Return how much there was. Raise OSError."""
    gone = [one for one in all_feedback() if workspace is None or one.workspace == str(workspace)]
    for one in gone:
        _file(one.run).unlink(missing_ok=True)
    return len(gone)


def folder() -> Path:
    return state_folder() / "feedback"


def _file(run: str) -> Path:
    return folder() / f"{run}.json"


def _read(file: Path) -> Feedback | None:
    try:
        return Feedback.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        log.warning("%s cannot be read as feedback: %s", file, type(error).__name__)
        return None
