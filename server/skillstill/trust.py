"""Which projects' own `.skillstill/` folders count.

A cloned repository must not be able to put tool descriptions into an orchestrator's context, model files into native
code, or Python into this process. So such a folder is ignored until its owner has pinned what it holds; any change
unpins it. Trusting is a person's look at the files; nothing here judges them. Not covered: a file that is changed after
the look at its fingerprint and before its use, by somebody who writes to the project at that very moment.
"""

import hashlib
import json
from pathlib import Path

from skillstill.errors import RegistryError
from skillstill.storage import data_folder, write_atomically

PINS = "trusted.json"


def trusted(folder: Path) -> bool:
    """Whether this folder holds exactly what was pinned."""
    try:
        pin = _pins().get(str(folder.resolve()))
        return pin is not None and pin == fingerprint(folder)  # what nobody trusted is not even read
    except RegistryError:
        return False


def trust(folder: Path) -> str:
    """Pin what the folder holds now; its fingerprint. Raises RegistryError."""
    if not folder.is_dir():
        raise RegistryError(f"nothing to trust: there is no folder {folder}")
    pin = fingerprint(folder)
    _write(_pins() | {str(folder.resolve()): pin})
    return pin


def distrust(folder: Path) -> None:
    """Forget the pin of a folder. Raises RegistryError."""
    _write({path: pin for path, pin in _pins().items() if path != str(folder.resolve())})


def fingerprint(folder: Path) -> str:
    """SHA-256 over the names, kinds and contents of everything in the folder.

    Raises RegistryError where it is or holds a link, for what a link leads to is not pinned, or cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for path in (folder, *sorted(folder.rglob("*"))):
            name = path.relative_to(folder).as_posix().encode("utf-8", "surrogateescape")
            digest.update(hashlib.sha256(name).digest() + _content(path))
    except OSError as error:
        raise RegistryError(f"{folder} cannot be trusted: {error}") from error
    return digest.hexdigest()


def _content(path: Path) -> bytes:
    """A digest of a file's content; zeros for a folder, which no content comes to."""
    if path.is_symlink() or not (path.is_file() or path.is_dir()):
        raise RegistryError(f"{path} is a link or a device: such a folder cannot be trusted")
    if path.is_dir():
        return bytes(hashlib.sha256().digest_size)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _pins() -> dict[str, str]:
    try:
        pins = json.loads((data_folder() / PINS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return pins if isinstance(pins, dict) else {}


def _write(pins: dict[str, str]) -> None:
    try:
        write_atomically(data_folder() / PINS, json.dumps(pins, indent=2) + "\n")
    except OSError as error:
        raise RegistryError(f"{data_folder() / PINS} cannot be written: {error.strerror}") from error
