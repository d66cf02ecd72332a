"""Which files differ between two commits, and which of them were renamed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from skillstill.facts.history.errors import Damaged, TooLarge
from skillstill.facts.history.objects import ObjectStore

Status = Literal["added", "modified", "deleted", "renamed"]

MAX_TREES = 20_000  # folders read for one commit; nested ones may name each other without end
MAX_PATH = 4_096  # bytes, as on Linux
MAX_TREE = 4_000_000  # bytes of a folder: about 100,000 files

_ENTRIES = {width: re.compile(rb"([0-7]{5,6}) ([^\0]+)\0(.{%d})" % width, re.DOTALL) for width in (20, 32)}
_FOLDER, _SUBMODULE, _TYPE = 0o040000, 0o160000, 0o170000


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file in a tree: the id of its bytes, and what sort of file it is."""

    identity: bytes
    mode: int

    @property
    def is_regular(self) -> bool:
        """Return whether it is a file of bytes, and no link or submodule."""
        return self.mode & _TYPE == 0o100000

    @property
    def is_submodule(self) -> bool:
        """Return whether it names a commit of another repository."""
        return self.mode & _TYPE == _SUBMODULE


@dataclass(frozen=True, slots=True)
class Change:
    """A file that a commit changed, with its versions before and after."""

    path: bytes
    old: FileVersion | None
    new: FileVersion | None
    old_path: bytes | None = None

    @property
    def status(self) -> Status:
        """Return what happened to the file."""
        if self.old_path is not None:
            return "renamed"
        return "added" if self.old is None else "deleted" if self.new is None else "modified"


Entries = dict[bytes, FileVersion]


def changed_files(store: ObjectStore, old: bytes | None, new: bytes) -> Iterator[Change]:
    """Yield the files that differ between two trees. Raise ObjectError, TooLarge if the trees have too many folders."""
    pending: list[tuple[bytes, bytes | None, bytes | None]] = [(b"", old, new)]
    for _ in range(MAX_TREES):
        if not pending:
            return
        folder, before, after = pending.pop()
        for name, was, now in _differing(store, before, after):
            path = folder + name
            if len(path) > MAX_PATH or len(pending) > MAX_TREES:
                raise TooLarge
            if _folder(was) or _folder(now):
                pending.append((path + b"/", _folder(was), _folder(now)))
            if _file(was) or _file(now):
                yield Change(path, _file(was), _file(now))
    raise TooLarge


def _differing(
    store: ObjectStore, old: bytes | None, new: bytes | None
) -> Iterator[tuple[bytes, FileVersion | None, FileVersion | None]]:
    before, after = _entries(store, old), _entries(store, new)
    gone, came = (
        {name: (mode, i) for mode, name, i in one - other} for one, other in ((before, after), (after, before))
    )
    for name in sorted(gone | came):
        yield name, _version(gone.get(name)), _version(came.get(name))


def _entries(store: ObjectStore, identity: bytes | None) -> set[tuple[bytes, bytes, bytes]]:
    """Return the mode, name and id of each entry of a tree."""
    if identity is None:
        return set()
    data = store.read(identity, "tree", MAX_TREE)
    entries = _ENTRIES[store.width].findall(data)
    if len(data) != sum(len(mode) + len(name) for mode, name, _ in entries) + (2 + store.width) * len(entries):
        raise Damaged("not a list of files")
    return set(entries)


def _version(entry: tuple[bytes, bytes] | None) -> FileVersion | None:
    return None if entry is None else FileVersion(entry[1], int(entry[0], 8))


def _folder(version: FileVersion | None) -> bytes | None:
    return version.identity if version is not None and version.mode & _TYPE == _FOLDER else None


def _file(version: FileVersion | None) -> FileVersion | None:
    return version if version is not None and version.mode & _TYPE != _FOLDER else None
