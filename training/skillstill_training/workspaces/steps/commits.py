"""What steps ask of the clone beside a tree: which commit the tree is of, and what a commit changed."""

from collections.abc import Iterator
from pathlib import Path

from skillstill.errors import WorkspaceSourceError

from skillstill_training.workspaces.fetching.git import COMMIT, LINK, git
from skillstill_training.workspaces.steps.changes import is_source


def cloned_commit(tree: Path, step: str) -> tuple[Path, str]:
    """Return the clone and the commit that a tree is of. Raise WorkspaceSourceError if it is of none."""
    repository, commit = tree.with_name(LINK), tree.with_name(COMMIT)
    if not commit.is_file():
        raise WorkspaceSourceError(f"{step} needs a source of the kind git:PATH_OR_URL@COMMIT")
    return repository, commit.read_text(encoding="utf-8")


def sources_before(repository: Path, commit: str) -> dict[str, str]:
    """Return the source files that a commit touches, with the hashes of their contents before it."""
    raw = git(repository, "diff-tree", "-r", "-z", "--no-commit-id", "--no-renames", commit)
    return {path: blob for path, blob in _blobs_before(raw) if is_source(path)}


def _blobs_before(raw: str) -> Iterator[tuple[str, str]]:
    """Yield path and content hash before, of `:mode mode hash hash letter NUL path NUL`."""
    parts = raw.split("\0")
    for head, path in zip(parts[::2], parts[1::2], strict=False):
        yield path, head.split()[2]
