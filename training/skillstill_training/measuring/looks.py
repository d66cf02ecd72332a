"""Who has looked at a test set, of all runs of a skill: each look at the same one takes from what it can say."""

from collections.abc import Iterator
from datetime import UTC, datetime

from skillstill.types import Frozen, ModelFile

from skillstill_training.folder import RunFolder
from skillstill_training.hashes import file_sha256
from skillstill_training.jsonl import Appender, read_lines
from skillstill_training.scorecard import Arm, Gate, Scorecard


class Look(Frozen):
    """One look at the test set: who was measured there. A recipe that is changed after it gets a fresh test set."""

    date: datetime
    arms: tuple[Arm, ...]
    adapter: str
    goals: str


def note_look(folder: RunFolder, arms: tuple[Arm, ...], adapter: ModelFile) -> None:
    """Before the look is taken, for one that is broken off has been one too; going on with it is not another."""
    look = Look(date=datetime.now(UTC), arms=arms, adapter=adapter.sha256, goals=file_sha256(folder.goals))
    earlier = read_lines(folder.looks, Look) if folder.looks.exists() else ()
    if not (earlier and earlier[-1].model_copy(update={"date": look.date}) == look):
        with Appender(folder.looks) as log:
            log.append([look])


def looks_at(folder: RunFolder, goals: str) -> Iterator[Look]:
    """Those at the goals of this hash, in this run and all beside it. Raises StageError."""
    for file in sorted(folder.path.absolute().parent.glob(f"*/{folder.looks.name}")):
        yield from (look for look in read_lines(file, Look) if look.goals == goals)


def unseen_before(folder: RunFolder, scorecard: Scorecard) -> Gate:
    """The gate that lets one adapter of a test set through: of two, the better one may be the luckier one."""
    others = {look.adapter for look in looks_at(folder, scorecard.goals)} - {scorecard.adapter.sha256}
    told = (
        "these test goals have been looked at with another adapter: change `seed` in recipe.toml, which draws a fresh "
        "test set"
        if others
        else "no other adapter has been measured on these test goals"
    )
    return Gate(name="looks", passed=not others, told=told)
