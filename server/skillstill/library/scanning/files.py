"""Files of a source, read without a surprise: never through a link, never a device, never more than was asked for."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path


@contextmanager
def open_file(file: Path) -> Iterator[BufferedReader]:
    """Raise OSError if it is no regular file, even one that would be waited for."""
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb") as reader:
        if not stat.S_ISREG(os.fstat(reader.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(file))
        yield reader


def read_content(file: Path, limit: int) -> bytes:
    """Return at most `limit` bytes of it and one more, so that a longer file is known as such. Raise OSError."""
    with open_file(file) as reader:
        return reader.read(limit + 1)


def sha256(file: Path) -> str:
    """Raise OSError."""
    with open_file(file) as reader:
        return hashlib.file_digest(reader, "sha256").hexdigest()
