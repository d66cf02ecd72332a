"""The step `unfixed`: a mistake that a project really had, with the tests that found it."""

from pathlib import Path
from random import Random

from pydantic import JsonValue
from skillstill.errors import WorkspaceSourceError
from skillstill.tools.box.spectrum import TEST_CODE

from skillstill_training.workspaces.archives import unpack
from skillstill_training.workspaces.fetching.git import COMMIT, LINK, git
from skillstill_training.workspaces.steps.changes import is_source
from skillstill_training.workspaces.steps.later import blobs_before

ABSENT = "0" * 40


def unfixed(tree: Path, _: Random) -> dict[str, JsonValue]:
    """Take the source files of the tree's commit back to the commit before, but not its tests. Note them as `unfixed`.

    So the tests that a fix brought along fail.
    """
    repository, commit = tree.with_name(LINK), tree.with_name(COMMIT)
    if not commit.is_file():
        raise WorkspaceSourceError("unfixed needs a source of the kind git:PATH_OR_URL@COMMIT")
    after = commit.read_text(encoding="utf-8")
    raw = git(repository, "diff-tree", "-r", "-z", "--no-commit-id", "--no-renames", after)
    changed = {path: blob for path, blob in blobs_before(raw) if is_source(path) and not TEST_CODE.search(path)}
    if not changed:
        raise WorkspaceSourceError(f"the commit {after} changes no source file beside tests")
    for path in changed:
        (tree / path).unlink(missing_ok=True)
    if known := [path for path, blob in changed.items() if blob != ABSENT]:
        _restore(tree, repository, f"{after}^", known)
    return {"unfixed": [*changed]}


def _restore(tree: Path, repository: Path, commit: str, paths: list[str]) -> None:
    archive = tree.with_name("before.tar")
    git(repository, "archive", "--format=tar", f"--output={archive}", commit, "--", *paths)
    unpack(archive, tree)
    archive.unlink()
