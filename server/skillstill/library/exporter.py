"""A definition, written again as its author wrote it: every byte, every file beside it, and which may be executed."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from skillstill.errors import LibraryError
from skillstill.library.catalogue.blobs import Blobs
from skillstill.library.definition import Definition


def export(definition: Definition, folder: Path, blobs: Blobs) -> Path:
    """Return a skill's folder, or the one file of an agent or a command, in `folder`; where it stands then.

    All or nothing. Raise LibraryError: something stands there, cannot be written, or the library lost a content.
    """
    place = folder / _file_name(definition)
    if place.exists() or place.is_symlink():
        raise LibraryError(f"{place} is there already: name another folder, or remove it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".skillstill-") as part:
            _write(definition, Path(part) / place.name, blobs)
            (Path(part) / place.name).rename(place)
    except OSError as error:
        raise LibraryError(f"{place} cannot be written: {error.strerror}") from error
    return place


def _file_name(definition: Definition) -> str:
    """Return the name that its author gave it, which a skill at the very top of its source has none of."""
    path = PurePosixPath(definition.origin.path)
    return (path.parent.name or definition.name) if definition.kind == "skill" else path.name


def _write(definition: Definition, place: Path, blobs: Blobs) -> None:
    for path, sha256, mode in _files(definition):
        file = place / path if path else place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(blobs.get(sha256))
        file.chmod(mode)


def _files(definition: Definition) -> Iterator[tuple[str, str, int]]:
    """Yield path in the folder (none for a lone file), content and mode."""
    origin = definition.origin
    yield PurePosixPath(origin.path).name if definition.kind == "skill" else "", origin.sha256, origin.mode
    for file in definition.bundle:
        if PurePosixPath(file.path).is_absolute() or re.search(r"(?:^|/)\.\.(?:/|$)", file.path):
            raise LibraryError(f"{definition.name} names a file outside its folder: {file.path!r}")
        yield file.path, file.sha256, file.mode
