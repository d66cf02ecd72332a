"""The user's own folders as declared workspaces: named, pinned as they are now, each of them for one split."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skillstill.errors import UsageError, WorkspaceError
from skillstill.library.reading.naming import slug
from skillstill.workspace import Workspace

from skillstill_training.authoring.goal import Split
from skillstill_training.workspaces import Source, pinned

SHARE = 5  # every fifth folder is a test's, and another fifth are for validation


@dataclass(frozen=True, slots=True)
class MadeFolder:
    """A folder that a model has made, and the name of that model."""

    folder: Path
    by: str


def declared_sources(
    folders: Sequence[Path], steps: Sequence[str] = (), made: Sequence[MadeFolder] = ()
) -> tuple[Source, ...]:
    """Return the first ones train, the last ones test: what was made comes before what is somebody's own.

    They are as many as there are splits, or more.
    Raise UsageError and WorkspaceSourceError.
    """
    roots = [_root(folder) for folder in (*(one.folder for one in made), *folders)]
    if twice := [root for root in roots if roots.count(root) > 1]:
        raise UsageError(f"{twice[0]} is named twice: no workspace can serve two splits")
    makers = [*(one.by for one in made), *("" for _ in folders)]
    return tuple(
        pinned(Source(name=name, split=split, source=f"folder:{root}", steps=tuple(steps), made_by=by))
        for name, root, split, by in zip(_names(roots, makers), roots, _splits(len(roots)), makers, strict=True)
    )


def _root(folder: Path) -> Path:
    try:
        return Workspace(folder.expanduser()).root
    except WorkspaceError as error:
        raise UsageError(f"--workspace {folder}: {error}") from error


def _splits(count: int) -> list[Split]:
    held = max(1, count // SHARE)
    ends: Sequence[tuple[int, Split]] = ((count - 2 * held, "train"), (count - held, "validation"), (count, "test"))
    return [next(split for end, split in ends if at < end) for at in range(count)]


def _names(roots: Sequence[Path], makers: Sequence[str]) -> list[str]:
    named = [f"made-{root.name}" if by else root.name for root, by in zip(roots, makers, strict=True)]
    plain = [slug(name)[:56] or "folder" for name in named]
    return [name if plain.count(name) == 1 else f"{name}-{at}" for at, name in enumerate(plain, 1)]
