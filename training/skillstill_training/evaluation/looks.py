"""The log of looks at a test set. A look is one logged access to test results, in any run of a skill.

Whoever picks the better of two adapters by the same test set may pick the luckier one: so a test set serves only one
adapter. A look has nothing to do with unseen wordings, which are wordings that no training goal has.
"""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime

from skillstill.errors import StageError
from skillstill.types import Frozen, ModelFile

from skillstill_training.authoring.goal import Goal
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import ArmName, Gate, Scorecard
from skillstill_training.util.jsonl import Appender, read_lines

NOT_FRESH = (
    "these test goals have been looked at with another adapter: "
    "change `seed` in recipe.toml, which draws a fresh test set"
)


class LoggedLook(Frozen):
    """One look: when which arms with which adapter were measured on the test goals with the hash `goals`."""

    date: datetime
    arms: tuple[ArmName, ...]
    adapter: str
    goals: str  # a hash by `hash_test_goals`


def hash_test_goals(run: RunFolder) -> str:
    """Return a hash of the test goals. It does not depend on the training goals. Raises StageError."""
    ids = sorted(goal.id for goal in read_lines(run.goals, Goal) if goal.split == "test")
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()


def log_look(run: RunFolder, arms: tuple[ArmName, ...], adapter: ModelFile) -> None:
    """Write a look to the log before its evaluation starts, so that an interrupted evaluation counts as well.

    An evaluation that is continued is the same look.
    """
    look = LoggedLook(date=datetime.now(UTC), arms=arms, adapter=adapter.sha256, goals=hash_test_goals(run))
    earlier = read_lines(run.looks, LoggedLook) if run.looks.exists() else ()
    if not (earlier and earlier[-1].model_copy(update={"date": look.date}) == look):
        with Appender(run.looks) as log:
            log.append([look])


def read_looks(run: RunFolder) -> Iterator[LoggedLook]:
    """Yield the looks at this run's test goals, from the logs of all runs of the skill. Raises StageError."""
    goals = hash_test_goals(run) if run.goals.exists() else ""
    for file in sorted(run.path.absolute().parent.glob(f"*/{run.looks.name}")):
        yield from (look for look in read_lines(file, LoggedLook) if look.goals == goals)


def check_fresh_test_set(run: RunFolder) -> None:
    """Raise StageError if the test goals were looked at: another adapter of this run could never be released."""
    if any(read_looks(run)):
        raise StageError(NOT_FRESH)


def fresh_test_set_gate(run: RunFolder, scorecard: Scorecard) -> Gate:
    """Return the gate that fails if another adapter was measured on the same test goals."""
    others = {look.adapter for look in read_looks(run)} - {scorecard.adapter.sha256}
    sentence = NOT_FRESH if others else "no other adapter has been measured on these test goals"
    return Gate(name="looks", passed=not others, told=sentence)
