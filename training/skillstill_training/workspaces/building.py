"""A declared source -> a read-only tree, made once: `<cache>/workspaces/<key>/{tree,notes.json,source.json}`."""

import errno
import hashlib
import json
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from pydantic import JsonValue
from skillstill.errors import WorkspaceSourceError

from skillstill_training.util.skillcode import code_files
from skillstill_training.workspaces import tree
from skillstill_training.workspaces.fetching import FETCHERS, git
from skillstill_training.workspaces.fetching.local import locate_folder
from skillstill_training.workspaces.requests import FetchRequest, Unpinned, cache_folder, move_into_place
from skillstill_training.workspaces.sources import Source, load_sources
from skillstill_training.workspaces.steps import BUILT_IN, run_steps, steps_file
from skillstill_training.workspaces.steps.notes import read_notes, write_notes

VERSION = 1  # to be raised if a fetcher or a built-in step makes another tree of the same source


@dataclass(frozen=True, slots=True)
class BuiltWorkspace:
    """A workspace: `root` is what a run sees, `notes` what the steps know of it and a run never sees."""

    name: str
    split: Literal["train", "validation", "test"]
    root: Path
    notes: Mapping[str, JsonValue]


def build_workspace(source: Source, skill_folder: Path, offline: bool = False) -> BuiltWorkspace:
    """Return the workspace, from the cache if it was made before. Raise WorkspaceSourceError."""
    try:
        home = cache_folder() / _key(source, skill_folder)
        if not _intact(home):
            _make(source, skill_folder, home, offline=offline)
        return BuiltWorkspace(source.name, source.split, home / "tree", read_notes(home / "tree"))
    except WorkspaceSourceError as error:
        raise WorkspaceSourceError(f"workspace {source.name} ({source.source or 'generated'}): {error}") from error
    except OSError as error:
        raise WorkspaceSourceError(f"workspace {source.name}: {_disk(error)}") from error


def pinned(source: Source) -> Source:
    """Return the source with the hash that its content has now. Raise WorkspaceSourceError."""
    try:
        build_workspace(source, Path.cwd())
    except WorkspaceSourceError as error:
        if isinstance(error.__cause__, Unpinned):
            return source.model_copy(update={"sha256": error.__cause__.sha256})
        raise
    return source


def workspace_roots(skill_folder: Path, names: Collection[str], offline: bool = False) -> Mapping[str, Path]:
    """Return the visible trees of a skill's workspaces of these names. Raise WorkspaceSourceError."""
    sources = [source for source in load_sources(skill_folder) if source.name in names]
    return {source.name: build_workspace(source, skill_folder, offline).root for source in sources}


def _make(source: Source, skill_folder: Path, home: Path, *, offline: bool) -> None:
    wanted = (source.source or ":").partition(":")[2]
    request = FetchRequest(wanted, source.sha256, skill_folder, offline, source.keep)
    home.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=home.parent, prefix=".part-", ignore_cleanup_errors=True) as part:
        work = Path(part, "workspace")
        (root := work / "tree").mkdir(parents=True)
        FETCHERS[source.scheme](request, root)
        tree.prune(root, source.keep, always="debian" if source.scheme == "debian" else "\0")
        if source.root:
            tree.lift(root, source.root)
        if source.scheme == "folder":
            request.check(tree.sha256(root))
        write_notes(root, {})
        run_steps(source, skill_folder, root)
        if source.keep_history:
            repository = locate_folder(request) if source.scheme == "folder" else root.with_name(git.LINK)
            git.place_history(repository, root)
        _finish(source, request, work)
        shutil.rmtree(home, ignore_errors=True)  # one that lacks files
        move_into_place(work, home)


def _finish(source: Source, request: FetchRequest, work: Path) -> None:
    root = work / "tree"
    tree.remove_empty(root)
    if not any(root.iterdir()):
        raise WorkspaceSourceError(
            "nothing is left of it after its steps" if source.steps else "there is no file in it"
        )
    if (found := tree.sha256(root)) and source.source is None:
        request.check(found)
    made = {"source": source.model_dump(mode="json"), "tree": {"sha256": found, **tree.measure(root)}}
    (work / "source.json").write_text(json.dumps(made, indent=1), encoding="utf-8")
    tree.freeze(root)


def _intact(home: Path) -> bool:
    """Return whether all is there: counted, not hashed. An altered file of the same size goes unseen."""
    try:
        made: dict[str, Any] = json.loads((home / "source.json").read_text(encoding="utf-8"))["tree"]
        read_notes(home / "tree")
        return tree.measure(home / "tree") == {"files": made["files"], "bytes": made["bytes"]}
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _key(source: Source, skill_folder: Path) -> str:
    """Return a hash of all that the tree depends on: its declaration, our version, the skill's own steps."""
    notes = {"name", "split", "first_uploaded", "licence", "made_by", "variants"}
    fields = source.model_dump(mode="json", exclude=notes)
    for name in ("root", "keep_history"):  # so that trees which were made before there was one are found
        if not fields[name]:
            del fields[name]
    total = hashlib.sha256(json.dumps(fields, sort_keys=True).encode() + _made_by())
    if source.steps and steps_file(skill_folder).is_file():
        for file in code_files(skill_folder) if set(source.steps) - BUILT_IN.keys() else [steps_file(skill_folder)]:
            total.update(file.read_bytes())
    return total.hexdigest()[:32]


@cache
def _made_by() -> bytes:
    """Return the version of our own fetchers and steps, with the word lists that they read."""
    lists = sorted(Path(__file__).parent.rglob("*.txt"))
    return b"\0".join([str(VERSION).encode(), *(file.read_bytes() for file in lists)])


def _disk(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk of {cache_folder()} is full; free some space, or set XDG_CACHE_HOME to another disk"
    return f"{error.filename or cache_folder()}: {error.strerror or error}"
