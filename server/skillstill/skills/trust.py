"""Which projects' own `.skillstill/` folders count, and which foreign packs' Python may run.

A cloned repository must not be able to put tool descriptions into an orchestrator's context, model files into native
code, or Python into this process. So such a folder is ignored until its owner has pinned what it holds; any change
unpins it. Trusting is a person's look at the files; nothing here judges them. Not covered: a file that is changed after
the look at its fingerprint and before its use, by somebody who writes to the project at that very moment.

A pack that was unpacked is the same: its texts and its adapter serve, its `goals.py` and other Python do not run until
its owner has pinned the pack's folder. If it brings tools (`tools.py`), it answers nothing before that. Not covered: a
copy of it elsewhere, which is its owner's own folder.
"""

import hashlib
import json
import shlex
from pathlib import Path

from skillstill.errors import RegistryError, UntrustedError
from skillstill.util.storage import data_folder, write_atomically

PINS = "trusted.json"
PACKS = "packs"  # in the data folder: a folder for each pack that was unpacked
OWN = ".skillstill"  # in a project: what it brings along


def is_trusted(folder: Path) -> bool:
    """Return whether this folder holds exactly what was pinned."""
    try:
        pin = _pins().get(str(folder.resolve()))
        return pin is not None and pin == fingerprint(folder)  # what nobody trusted is not even read
    except RegistryError:
        return False


def trust(folder: Path) -> str:
    """Pin what the folder holds now; its fingerprint. Raise RegistryError."""
    if not folder.is_dir():
        raise RegistryError(f"nothing to trust: there is no folder {folder}")
    pin = fingerprint(folder)
    _write(_pins() | {str(folder.resolve()): pin})
    return pin


def distrust(folder: Path) -> None:
    """Forget the pin of a folder. Raise RegistryError."""
    _write({path: pin for path, pin in _pins().items() if path != str(folder.resolve())})


def pack_around(path: Path) -> Path | None:
    """Return the folder of the unpacked pack that this lies in; None if it is nobody else's."""
    packs, found = (data_folder() / PACKS).resolve(), path.resolve()
    return packs / found.relative_to(packs).parts[0] if packs in found.parents else None


def trustable(given: Path) -> Path:
    """Return what is pinned if a person names this folder.

    The pack it lies in, else the project's own `.skillstill/`.
    """
    return pack_around(given) or given / OWN


def check_code(skill: Path) -> None:
    """Raise UntrustedError if the skill came in a pack that is not trusted. Call it before any of its Python runs."""
    pack = pack_around(skill)
    if pack and not is_trusted(pack):
        command = shlex.join(["skillstill", "trust", str(pack)])
        raise UntrustedError(f"{pack} came from somebody else, and its Python is not trusted: look at it, then type "
                             f"`{command}`")  # fmt: skip


def fingerprint(folder: Path) -> str:
    """Return the SHA-256 of the names, kinds and contents of everything in the folder.

    Raise RegistryError if it is or holds a link, for what a link leads to is not pinned, or cannot be read.
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
    """Return a digest of a file's content; zeros for a folder, which no content comes to."""
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
