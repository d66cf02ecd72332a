"""The folders that keep the user's things, and how files are written: all or nothing."""

import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_cache_path, user_config_path, user_data_path, user_state_path

LIBRARY_FILE = "catalogue.sqlite"  # in the library's folder; there is none before the first import
OWNER_ONLY, ALL_READ = 0o600, 0o644  # what files are: a user's own things, and what goes into a project


def data_folder() -> Path:
    """Return the folder of what the user installed or decided: registries, trust."""
    return user_data_path("skillstill")


def library_folder() -> Path:
    """Return the folder of what the user imported: the catalogue and the contents that it names."""
    return data_folder() / "library"


def state_folder() -> Path:
    """Return the folder of what happened here: traces."""
    return user_state_path("skillstill")


def cache_folder() -> Path:
    """Return the folder of what can be made or fetched again: workspaces for training, checksums, proofs."""
    return user_cache_path("skillstill")


def config_folder() -> Path:
    """Return the folder of what the user wrote: the configuration file."""
    return user_config_path("skillstill")


def open_regular(file: str, flags: int) -> int:
    """Open a file, as the `opener` of `open`. Raise OSError if it is not regular: a pipe waits, a device never ends."""
    descriptor = os.open(file, flags | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", file)
    return descriptor


def open_no_link(file: str, flags: int) -> int:
    """Open a file, as the `opener` of `open`. Raise OSError if it is not regular, or a link."""
    return open_regular(file, flags | os.O_NOFOLLOW | os.O_CLOEXEC)


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Wait until no other process has locked this file, and keep others waiting. It ends with the process, too."""
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write_atomically(file: Path, content: str | bytes, *, mode: int = OWNER_ONLY) -> None:
    """Write a file so that a reader sees the old one or the new one. Raise OSError and keep the old one if it fails.

    A folder that is made for it may be entered by whoever may read the file. What is not a regular file is never
    replaced: root could do it, and a device would be gone.
    """
    if file.exists() and not file.is_file():
        raise OSError(errno.EINVAL, "not a regular file", str(file))
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o755 if mode & 0o044 else 0o700)
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=file.name, suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as part:
            part.write(content.encode() if isinstance(content, str) else content)
            part.flush()
            os.fsync(part.fileno())
        if file.exists() and (old := file.stat()).st_uid != os.geteuid():
            os.chown(name, old.st_uid, old.st_gid)  # as root: it stays its owner's
        Path(name).chmod(mode)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
