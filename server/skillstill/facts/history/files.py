"""Where a repository's files lie, and how they are opened: no link is followed, nothing outside the jail is read.

No configuration is read, not even the repository's: nothing in it could start a program or name a file.
"""

import os
import stat
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from skillstill.facts.reader import Unreadable

OUTSIDE = "the history lies outside the workspace"
POINTER = 4_096  # bytes of a file that names a folder or a commit
DEPTH_OF_REFS = 12
OPEN_FILES = 64  # packs kept open; below the usual limit of 1,024 descriptors

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe in the place of a file cannot block


@dataclass(frozen=True, slots=True)
class GitFolder:
    """The folders of a repository, links resolved.

    own       has HEAD and what is under way: that of a worktree, or the same as `common`
    common    has refs and objects
    jail      the folder that nothing may lie outside of
    """

    own: Path
    common: Path
    jail: Path


def find_git_folder(root: Path, within: Path | None = None) -> GitFolder | None:
    """Return the repository of `root`, or None if there is none. Raise Unreadable if it is not one that can be read."""
    try:
        jail = (within or root).resolve()
        own = _own_folder(root, jail)
    except OSError as error:
        raise Unreadable("the .git folder cannot be opened") from error
    if own is None:
        return None
    pointer = read_file(own, "commondir", limit=POINTER)
    common = own if pointer is None else inside(own / os.fsdecode(pointer.strip()), jail)
    if read_file(own, "HEAD", limit=POINTER) is None or not _is_folder(common / "objects"):
        raise Unreadable("the .git folder is damaged")
    return GitFolder(own, common, jail)


def inside(path: Path, jail: Path) -> Path:
    """Return the path with its links resolved. Raise Unreadable if it is not a folder of the jail."""
    try:
        real = path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise Unreadable("the .git folder is damaged") from error
    if not real.is_relative_to(jail):
        raise Unreadable(OUTSIDE)
    if not _is_folder(real):
        raise Unreadable("the .git folder is damaged")
    return real


def read_file(folder: Path, *parts: str, limit: int) -> bytes | None:
    """Return a file's bytes. None if it is missing, a link, no regular file, not readable or above the limit."""
    try:
        with open_beneath(folder, *parts) as file:
            data = os.pread(file, limit + 1, 0)
    except (OSError, ValueError):
        return None
    return data if len(data) <= limit else None


@contextmanager
def open_beneath(folder: Path, *parts: str) -> Iterator[int]:
    """Open a regular file beneath a folder. Raise OSError if it or a folder on the way is a link."""
    descriptor = os.open(folder, _FOLDER)
    try:
        for part in parts[:-1]:
            descriptor = _step(descriptor, part, _FOLDER)
        descriptor = _step(descriptor, parts[-1], _FILE)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a regular file")
        yield descriptor
    finally:
        os.close(descriptor)


def list_files(folder: Path, depth: int = DEPTH_OF_REFS) -> Iterator[tuple[str, ...]]:
    """Yield the parts of the paths of the files beneath a folder, in order, without following links."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_file(follow_symlinks=False):
            yield (entry.name,)
        elif depth and entry.is_dir(follow_symlinks=False):
            for parts in list_files(folder / entry.name, depth - 1):
                yield (entry.name, *parts)


class OpenFiles:
    """Reads pieces of large files, a few of which stay open. Mapping them would kill the process if one is cut."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[Path, str], int] = OrderedDict()

    def read(self, folder: Path, name: str, size: int, offset: int) -> bytes:
        """Return up to `size` bytes. Raise OSError if the file cannot be opened."""
        key = folder, name
        if key in self._open:
            self._open.move_to_end(key)
        else:
            self._add(key)
        return os.pread(self._open[key], size, offset)

    def close(self) -> None:
        """Close all files."""
        while self._open:
            os.close(self._open.popitem()[1])

    def _add(self, key: tuple[Path, str]) -> None:
        with open_beneath(*key) as file:
            self._open[key] = os.dup(file)
        if len(self._open) > OPEN_FILES:
            os.close(self._open.popitem(last=False)[1])


def _own_folder(root: Path, jail: Path) -> Path | None:
    dot_git = root / ".git"
    if dot_git.is_symlink() or dot_git.is_dir():
        return inside(dot_git, jail)
    if dot_git.exists():
        return inside(root / _named_folder(root), jail)
    is_bare = (root / "HEAD").is_file() and _is_folder(root / "objects") and _is_folder(root / "refs")
    return inside(root, jail) if is_bare else None


def _named_folder(root: Path) -> str:
    """Return what the file `.git` of a worktree or submodule names."""
    pointer = read_file(root, ".git", limit=POINTER) or b""
    if not pointer.startswith(b"gitdir: "):
        raise Unreadable("the .git folder is damaged")
    return os.fsdecode(pointer.removeprefix(b"gitdir: ").rstrip(b"\r\n"))


def _step(folder: int, name: str, flags: int) -> int:
    """Return the descriptor of what has that name in a folder, whose own descriptor is closed if that succeeds."""
    if name in ("", ".", "..") or "/" in name:
        raise OSError("not a plain name")
    descriptor = os.open(name, flags, dir_fd=folder)
    os.close(folder)
    return descriptor


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except (OSError, ValueError):
        return False
