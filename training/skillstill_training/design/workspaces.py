"""The user's own folders as declared workspaces: named, pinned as they are now, each of them for one split."""

from collections.abc import Sequence
from pathlib import Path

from skillstill.errors import UsageError, WorkspaceError
from skillstill.library.reading.naming import slug
from skillstill.workspace import Workspace

from skillstill_training.authoring.goal import SPLITS, Split
from skillstill_training.workspaces import Source, pinned

SHARE = 5  # every fifth folder is a test's, and another fifth are for validation


def declared_sources(folders: Sequence[Path], steps: Sequence[str] = ()) -> tuple[Source, ...]:
    """Return the first ones train, the last ones test. Raise UsageError and WorkspaceSourceError."""
    roots = [_root(folder) for folder in folders]
    if twice := [root for root in roots if roots.count(root) > 1]:
        raise UsageError(f"{twice[0]} is named twice: no workspace can serve two splits")
    if len(roots) < len(SPLITS):
        raise UsageError(f"training, validation and test need a folder each: expected three or more, got {len(roots)}")
    names = _names(roots)
    return tuple(
        pinned(Source(name=name, split=split, source=f"folder:{root}", steps=tuple(steps)))
        for name, root, split in zip(names, roots, _splits(len(roots)), strict=True)
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


def _names(roots: Sequence[Path]) -> list[str]:
    plain = [slug(root.name)[:56] or "folder" for root in roots]
    return [name if plain.count(name) == 1 else f"{name}-{at}" for at, name in enumerate(plain, 1)]
