"""The whole of `skillstill design`: drafted, proposed, written, proven, and only then put where the user wants it."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from skillstill.errors import GoalsError, StageError

from skillstill_training.authoring.kinds import FILE as KINDS
from skillstill_training.design.draft import Design
from skillstill_training.design.proofs import Proven, prove
from skillstill_training.design.texts import write_skill
from skillstill_training.sampling.sampler import OnProgress
from skillstill_training.sampling.setup import OnWorkspace, ignore

Propose = Callable[[Design, Path], Awaitable[Design]]  # of a folder that holds the design so far


@dataclass(frozen=True, slots=True)
class MadeSkill:
    folder: Path
    design: Design
    proven: Proven


async def make(
    design: Design,
    place: Path,
    few: int,
    *,
    propose: Propose | None = None,
    offline: bool = False,
    on_workspace: OnWorkspace = ignore,
    on_progress: OnProgress = lambda tally: None,
) -> MadeSkill:
    """Return the folder, with the families that yield goals; if `few` is 0, nothing is drawn.

    Raise StageError, and then nothing is written.
    """
    proven = Proven((), ())
    with _part(place) as part:
        write_skill(design, part)
        if propose:
            design = await propose(design, part)
            write_skill(design, part)
        if few:
            proven = await prove(part, few, offline=offline, on_workspace=on_workspace, on_progress=on_progress)
        if proven.dropped:
            design = _left(design, proven, part)
            write_skill(design, part)
        part.rename(place)
    return MadeSkill(place, design, proven)


def _left(design: Design, proven: Proven, part: Path) -> Design:
    """Return the design without what yields no goals. Raise GoalsError if that was declared, or if nothing is left."""
    declared = {kind.name for kind in design.declared.kinds} if design.declared else set()
    if failed := [why.removeprefix(f"{part}/") for name, why in proven.dropped if name in declared]:
        raise GoalsError(f"{'; '.join(failed)}; change {KINDS}, or name other folders")
    left = design.without(proven.dropped)
    if not left.is_askable:
        name, why = proven.dropped[0]
        raise GoalsError(f"none of its {len(proven.dropped)} families yields goals in these workspaces; {name}: {why}")
    return left


@contextmanager
def _part(place: Path) -> Iterator[Path]:
    """Return a folder beside the place, of the same name, removed if it is not moved away. Raise StageError."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=place.parent, prefix=".design-", ignore_cleanup_errors=True) as around:
            yield Path(around) / place.name
    except OSError as error:
        raise StageError(f"{place} cannot be written: {error.strerror or error}") from error
