"""Where the user's things are kept, and how they are written: all or nothing."""

import errno
import os
import tempfile
from pathlib import Path

from platformdirs import user_cache_path, user_config_path, user_data_path, user_state_path

LIBRARY_FILE = "catalogue.sqlite"  # in the library's folder; there is none before the first import
OWNER_ONLY, ALL_READ = 0o600, 0o644  # what files are: a user's own things, and what goes into a project


def data_folder() -> Path:
    """What the user installed or decided: registries, trust."""
    return user_data_path("skillstill")


def library_folder() -> Path:
    """What the user imported: the catalogue and the contents that it names."""
    return data_folder() / "library"


def state_folder() -> Path:
    """What happened here: traces."""
    return user_state_path("skillstill")


def cache_folder() -> Path:
    """What can be made or fetched again: workspaces for training, checksums, proofs."""
    return user_cache_path("skillstill")


def config_folder() -> Path:
    """What the user wrote: the configuration file."""
    return user_config_path("skillstill")


def write_atomically(file: Path, content: str | bytes, *, mode: int = OWNER_ONLY) -> None:
    """A reader sees the old file or the new one. Raises OSError, the old one kept.

    A folder made for it may be entered by whoever may read the file.
    What stands there and is no regular file is never replaced: root could, and a device would be gone.
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
