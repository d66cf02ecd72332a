"""A source as a tree of folders, each with a digest of all that lies in it: what has the same one has not changed.

A digest is made of names, sizes, modes and times, so that no content is read for it; if the source is a git commit
it is git's own tree id. A folder with a link in it has none, for a link's target changes without it: it is read each
time. Not covered: a change that leaves size, modification time and inode-change time as they were; that takes a clock
which is set back.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skillstill.errors import LibraryError
from skillstill.library.reading.kinds import SKIPPED

ENTRIES = 300_000  # of a source; the largest of 17 public libraries has 9,300
DEPTH = 60  # folders in folders; a path of more is hardly a person's
ROOT = PurePosixPath()


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file, or a link to one inside the source: then `target` is where it leads, from the source's root."""

    name: str
    size: int
    mode: int
    target: PurePosixPath | None = None


@dataclass(frozen=True, slots=True)
class Folder:
    """`path` is relative to the source. `links` lead to folders inside the source, which are read at their own place.
    `refused` are what cannot be read: the path and why. `digest` is empty if nobody can say that it is unchanged."""

    path: PurePosixPath
    files: tuple[TreeEntry, ...]
    folders: tuple["Folder", ...]
    links: Mapping[str, PurePosixPath]
    refused: Mapping[PurePosixPath, str]
    digest: str

    def every(self) -> Iterator["Folder"]:
        """Yield this one and all below, each before what it holds."""
        yield self
        for folder in self.folders:
            yield from folder.every()


def tree(root: Path, ids: Mapping[str, str] | None = None) -> Folder:
    """Return the tree of a folder. Raise LibraryError if it is no folder or too large.

    `ids` are git's own of a commit's folders, by path.
    """
    if not root.is_dir():
        raise LibraryError(f"expected a folder, a file or the address of a git repository, got {root}")
    return _Walk(root.resolve(), ids).folder(ROOT)


class _Walk:
    def __init__(self, root: Path, ids: Mapping[str, str] | None) -> None:
        self.root = root
        self.ids = ids
        self.entries = 0

    def folder(self, path: PurePosixPath) -> Folder:
        files: list[TreeEntry] = []
        folders: list[Folder] = []
        links: dict[str, PurePosixPath] = {}
        refused: dict[PurePosixPath, str] = {}
        digest = hashlib.sha256()
        sealed = True  # nothing in it can change without its digest
        for found in self._listed(path, refused):
            here = path / found.name
            status = self._status(found)
            if status is None or not _sayable(found.name):
                refused[_shown(here)] = "unreadable" if status is None else "a name that is not UTF-8"
            elif stat.S_ISLNK(status.st_mode):
                sealed = False
                self._link(here, files, links, refused)
            elif stat.S_ISREG(status.st_mode):
                files.append(TreeEntry(found.name, status.st_size, status.st_mode))
                digest.update(_seal(found.name, status))
            elif not stat.S_ISDIR(status.st_mode):
                refused[here] = "neither a file nor a folder"
            elif len(here.parts) > DEPTH:
                refused[here] = f"more than {DEPTH} folders deep"
            elif found.name not in SKIPPED:
                folders.append(inner := self.folder(here))
                sealed = sealed and bool(inner.digest)
                digest.update(_text_seal(found.name, inner.digest))
        own = digest.hexdigest() if self.ids is None else self.ids.get(str(path), "")
        known = own if sealed and not refused else ""
        return Folder(path, tuple(files), tuple(folders), links, refused, known)

    def _listed(self, path: PurePosixPath, refused: dict[PurePosixPath, str]) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.root / path) as scanned:
                found = sorted(scanned, key=lambda entry: entry.name)
        except OSError as error:
            refused[path] = f"unreadable: {error.strerror}"
            return []
        self.entries += len(found)
        if self.entries > ENTRIES:
            raise LibraryError(f"{self.root} holds more than {ENTRIES} files: import a folder of it")
        return found

    @staticmethod
    def _status(found: os.DirEntry[str]) -> os.stat_result | None:
        try:
            return found.stat(follow_symlinks=False)
        except OSError:
            return None

    def _link(
        self,
        here: PurePosixPath,
        files: list[TreeEntry],
        links: dict[str, PurePosixPath],
        refused: dict[PurePosixPath, str],
    ) -> None:
        """Follow a link to a file inside the source, once; what it leads to through others is inside as well."""
        try:
            target = (self.root / here).resolve(strict=True)
            status = target.stat()
        except (OSError, RuntimeError, ValueError):
            refused[here] = "a link to nothing, or to itself"
            return
        if not target.is_relative_to(self.root) or SKIPPED & set(target.relative_to(self.root).parts):
            refused[here] = "a link out of the source"
            return
        inside = PurePosixPath(target.relative_to(self.root))
        if stat.S_ISREG(status.st_mode):
            files.append(TreeEntry(here.name, status.st_size, status.st_mode, inside))
        elif stat.S_ISDIR(status.st_mode):
            links[here.name] = inside
        else:
            refused[here] = "neither a file nor a folder"


def _seal(name: str, status: os.stat_result) -> bytes:
    seen = f"{status.st_size} {status.st_mode} {status.st_mtime_ns} {status.st_ctime_ns}"
    return _text_seal(name, seen)


def _text_seal(name: str, seen: str) -> bytes:
    """Return a digest of one length, so that nothing moves between a name and what follows it."""
    return hashlib.sha256(name.encode()).digest() + hashlib.sha256(seen.encode()).digest()


def _sayable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(path: PurePosixPath) -> PurePosixPath:
    return PurePosixPath(str(path).encode("utf-8", "replace").decode())
