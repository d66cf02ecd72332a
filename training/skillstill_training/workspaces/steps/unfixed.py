"""The step `unfixed`: a mistake that a project really had, with the tests that found it."""

from pathlib import Path
from random import Random

from pydantic import JsonValue
from skillstill.errors import WorkspaceSourceError
from skillstill.tools.box.spectrum import TEST_CODE

from skillstill_training.workspaces.archives import unpack
from skillstill_training.workspaces.fetching.git import git
from skillstill_training.workspaces.steps.commits import cloned_commit, sources_before

ABSENT = "0" * 40


def unfixed(tree: Path, _: Random) -> dict[str, JsonValue]:
    """Take the source files of the tree's commit back to the commit before, but not its tests. Note them as `unfixed`.

    So the tests that a fix brought along fail.
    """
    repository, commit = cloned_commit(tree, "unfixed")
    changed = {path: blob for path, blob in sources_before(repository, commit).items() if not TEST_CODE.search(path)}
    if not changed:
        raise WorkspaceSourceError(f"the commit {commit} changes no source file beside tests")
    for path in changed:
        (tree / path).unlink(missing_ok=True)
    if known := [path for path, blob in changed.items() if blob != ABSENT]:
        _restore(tree, repository, f"{commit}^", known)
    return {"unfixed": [*changed]}


def _restore(tree: Path, repository: Path, commit: str, paths: list[str]) -> None:
    archive = tree.with_name("before.tar")
    git(repository, "archive", "--format=tar", f"--output={archive}", commit, "--", *paths)
    unpack(archive, tree)
    archive.unlink()
