"""Texts that are not in an index but in the files themselves: a row holds where they begin and how long they are."""

import os
from pathlib import Path

from skillstill.util.storage import open_no_link

MAX_BYTES = 20_000  # of one excerpt that are read


class Excerpts:
    """The SQL function `excerpt(path, file_size, at, size)`.

    It keeps the last file open, since rows of a file follow each other. Of a file that has another size than when it
    was indexed it gives NULL: what lies there now is not what the row says.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._path, self._descriptor = "", -1
        self.changed: set[str] = set()

    def __call__(self, path: str, file_size: int, at: int | None, size: int | None) -> str | None:
        if at is None or size is None:
            return None
        if path != self._path:
            self._open(path, file_size)
        if self._descriptor < 0:
            return None
        return os.pread(self._descriptor, min(size, MAX_BYTES), at).decode("utf-8", "replace")

    def close(self) -> None:
        """Close the file, and forget which have changed."""
        self._close()
        self.changed.clear()

    def _open(self, path: str, size: int) -> None:
        self._close()
        self._path = path
        try:
            self._descriptor = open_no_link(os.fspath(self._root / path), os.O_RDONLY)
            if os.fstat(self._descriptor).st_size == size:
                return
        except OSError:
            pass
        self._close()
        self._path = path
        self.changed.add(path)

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._path, self._descriptor = "", -1
