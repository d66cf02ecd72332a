"""Contents by their hash, so that what was imported can be written again byte for byte when its source is gone."""

import hashlib
from pathlib import Path

from skillstill.errors import LibraryError
from skillstill.library.scanning.files import open_file, read_content
from skillstill.util.storage import library_folder, write_atomically

LARGEST = 50_000_000  # bytes of one content


class Blobs:
    """`folder` is where they lie or will lie: `ab/cdef...`, each readable by its owner alone."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or library_folder() / "blobs"

    def put(self, file: Path, sha256: str) -> None:
        """Keep a file's content. Raise LibraryError if it is not, or no longer, what was hashed."""
        place = self._place(sha256)
        try:
            if place.is_file() and place.stat().st_size == file.stat().st_size:
                return
            raw = read_content(file, LARGEST)
            if hashlib.sha256(raw).hexdigest() != sha256:
                raise LibraryError("changed while it was read")
            write_atomically(place, raw)
        except OSError as error:
            raise LibraryError(f"cannot be kept: {error.strerror}") from error

    def get(self, sha256: str) -> bytes:
        """Raise LibraryError if it is missing or altered."""
        place = self._place(sha256)
        try:
            with open_file(place) as reader:
                raw = reader.read()
        except OSError as error:
            raise LibraryError(f"{place} cannot be read ({error.strerror}): import its source again") from error
        if hashlib.sha256(raw).hexdigest() != sha256:
            raise LibraryError(f"{place} was altered: remove it and import its source again")
        return raw

    def _place(self, sha256: str) -> Path:
        return self.folder / sha256[:2] / sha256[2:]
