"""The files of a workspace as an index compares them: by what changes if their content does."""

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

# Of a path: the folders and file names that test runners of all languages look for.
TEST = re.compile(
    r"(^|/)(tests?|testing|specs?|__tests__|testdata|fixtures)/|(^|/)(test_[^/]*|conftest\.py)$"
    r"|[^/]*([._-](test|spec|tests)|Tests?|Spec)\.\w+$"
)

RECENT = 2_000_000_000  # ns: a file that changed so shortly before it was read may change again within one clock tick


class Stamp(NamedTuple):
    """What the file system says of a file. Equal stamps mean equal content; times are in nanoseconds.

    The time of the last change of the inode tells of tools that set the other time back, such as `rsync -t`. It is a
    tuple since each refresh makes and compares one for every file.
    """

    size: int
    mtime: int
    ctime: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Stamp":
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)

    @property
    def is_settled(self) -> bool:
        """Return whether the file changed so long ago that the next change will give it another stamp."""
        return max(self.mtime, self.ctime) < time.time_ns() - RECENT


UNNAMED = Stamp(0, 0, 0, 0)  # of a file that cannot be found by its name


def is_unnameable(path: str) -> bool:
    """Return whether a name in the path may have had bytes that are no UTF-8: listings put this mark there."""
    return "\ufffd" in path


def stamps(root: Path, paths: Iterable[str]) -> Iterator[tuple[str, Stamp]]:
    """Yield those of the paths that are regular files, with their stamps."""
    base = os.fspath(root)
    for path in paths:
        try:
            status = os.lstat(f"{base}/{path}")
        except OSError:
            if is_unnameable(path):
                yield path, UNNAMED
            continue
        if stat.S_ISREG(status.st_mode):
            yield path, Stamp.of(status)


def is_test(path: str) -> bool:
    """Return whether a path is that of a test, by the names that test runners look for."""
    return TEST.search(path) is not None


def suffix(name: str) -> str:
    """Return what follows the last dot of a name, with it and in small letters; empty for `.name` and `name`."""
    return os.path.splitext(name)[1].lower()  # noqa: PTH122 - of 30,000 names a Path each costs too much
