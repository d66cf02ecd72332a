"""The step `later_commits`: what a project changed after the commit that its tree is of, and why it said so."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

from pydantic import JsonValue

from skillstill_training.workspaces.fetching.git import git
from skillstill_training.workspaces.steps.changes import (
    MOST_FILES,
    change,
    describe_change,
    distinct_changes,
)
from skillstill_training.workspaces.steps.commits import cloned_commit, sources_before

MOST = 200  # commits; the oldest ones first, so that a growing history adds to them and changes none


def later_commits(tree: Path, _: Random) -> dict[str, JsonValue]:
    """Note `changes` as the step `patches` does, from commits on the remote's HEAD that are no merges.

    Kept are those which touch one or two source files that are the same right before as they are in the tree.
    """
    repository, base = cloned_commit(tree, "later_commits")
    then = dict(_blobs(git(repository, "ls-tree", "-r", "-z", base)))
    later = git(repository, "rev-list", "--reverse", "--no-merges", "--topo-order", f"{base}..HEAD").split()[:MOST]
    return {"changes": distinct_changes(_change(tree, repository, one, then) for one in later)}


def _change(tree: Path, repository: Path, commit: str, then: dict[str, str]) -> dict[str, JsonValue] | None:
    description = describe_change(git(repository, "show", "--no-patch", "--format=%s", commit))
    if description is None:
        return None
    touched = sources_before(repository, commit)
    if not 1 <= len(touched) <= MOST_FILES or any(then.get(path) != blob for path, blob in touched.items()):
        return None
    return change(tree, description, git(repository, *DIFF, commit, "--", *touched))


DIFF = ("diff-tree", "-p", "--no-commit-id", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
        "--src-prefix=a/", "--dst-prefix=b/")  # fmt: skip


def _blobs(listed: str) -> Iterator[tuple[str, str]]:
    """Yield path and content hash, of `mode kind hash TAB path NUL`."""
    for entry in filter(None, listed.split("\0")):
        head, _, path = entry.partition("\t")
        yield path, head.split()[2]
