"""Where indexes are kept: one file for each workspace in the user's cache, pruned by last use, never in a workspace."""

import hashlib
import os
import time
from contextlib import AbstractContextManager
from pathlib import Path

from skillstill.facts.store import remove_store
from skillstill.util.storage import cache_folder, locked

CAP = 2_000_000_000  # bytes of all indexes
UNUSED = 90 * 86_400  # seconds after which an index is removed
LOCK = ".lock"


def index_folder() -> Path:
    """Return the folder of all indexes."""
    return cache_folder() / "facts"


def index_file(home: Path, root: Path, versions: str) -> Path:
    """Return the file of a workspace's index, by its path and by the readers whose rows it holds."""
    readers = hashlib.blake2b(versions.encode(), digest_size=4).hexdigest()
    return home / f"{_workspace(root)}-{readers}.sqlite"


def copy_file(home: Path, key: bytes) -> Path:
    """Return where the tables of a data file are copied to, by the hash of its content and of its reader."""
    return home / f"{key.hex()}-copy.sqlite"


def forget(home: Path, root: Path) -> int:
    """Remove the indexes of a workspace. Return how many there were."""
    files = [*home.glob(f"{_workspace(root)}-*.sqlite")]
    for file in files:
        _remove(file)
    return len(files)


def forget_all(home: Path) -> int:
    """Remove all indexes. Return how many there were."""
    files = [*home.glob("*-*.sqlite")]
    for file in files:
        _remove(file)
    return len(files)


def prune(home: Path, keep: Path, cap: int = CAP) -> None:
    """Remove indexes that nobody has used for long, and the longest unused ones if all are more than the cap."""
    room, now = cap, time.time()
    for file in sorted(home.glob("*-*.sqlite"), key=_used, reverse=True):
        room -= file.stat().st_size
        if file != keep and (room < 0 or _used(file) < now - UNUSED):
            _remove(file)


def mark_used(file: Path) -> None:
    os.utime(file)


def alone(file: Path) -> AbstractContextManager[None]:
    """Wait until no other process refreshes this index, and keep others waiting."""
    return locked(file.with_name(file.name + LOCK))


def _workspace(root: Path) -> str:
    return hashlib.blake2b(os.fsencode(root), digest_size=12).hexdigest()


def _used(file: Path) -> float:
    return file.stat().st_mtime


def _remove(file: Path) -> None:
    remove_store(file)
    file.with_name(file.name + LOCK).unlink(missing_ok=True)
