"""Who has looked at a test set, of all runs of a skill: each look at the same one takes from what it can say."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime

from skillstill.errors import StageError
from skillstill.types import Frozen, ModelFile

from skillstill_training.authoring.goal import Goal
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import Arm, Gate, Scorecard
from skillstill_training.util.jsonl import Appender, read_lines

SEEN = (
    "these test goals have been looked at with another adapter: "
    "change `seed` in recipe.toml, which draws a fresh test set"
)


class LoggedLook(Frozen):
    """One look at the test set: who was measured there. A recipe that is changed after it gets a fresh test set."""

    date: datetime
    arms: tuple[Arm, ...]
    adapter: str
    goals: str  # of the test set alone, as `tests_of` has it


def tests_of(folder: RunFolder) -> str:
    """A hash of the test goals: the same ones may stand beside other training goals. Raises StageError."""
    ids = sorted(goal.id for goal in read_lines(folder.goals, Goal) if goal.split == "test")
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()


def note_look(folder: RunFolder, arms: tuple[Arm, ...], adapter: ModelFile) -> None:
    """Before the look is taken, for one that is broken off has been one too; going on with it is not another."""
    look = LoggedLook(date=datetime.now(UTC), arms=arms, adapter=adapter.sha256, goals=tests_of(folder))
    earlier = read_lines(folder.looks, LoggedLook) if folder.looks.exists() else ()
    if not (earlier and earlier[-1].model_copy(update={"date": look.date}) == look):
        with Appender(folder.looks) as log:
            log.append([look])


def looks_of(folder: RunFolder) -> Iterator[LoggedLook]:
    """Those at its test goals, in this run and all beside it. Raises StageError."""
    goals = tests_of(folder) if folder.goals.exists() else ""
    for file in sorted(folder.path.absolute().parent.glob(f"*/{folder.looks.name}")):
        yield from (look for look in read_lines(file, LoggedLook) if look.goals == goals)


def check_unseen(folder: RunFolder) -> None:
    """Before another adapter is trained. Raises StageError where it could never be released."""
    if any(looks_of(folder)):
        raise StageError(SEEN)


def unseen_before(folder: RunFolder, scorecard: Scorecard) -> Gate:
    """The gate that lets one adapter of a test set through: of two, the better one may be the luckier one."""
    others = {look.adapter for look in looks_of(folder)} - {scorecard.adapter.sha256}
    told = SEEN if others else "no other adapter has been measured on these test goals"
    return Gate(name="looks", passed=not others, told=told)
