"""What stood in a registry before: kept beside the skill, never deleted, and gone back to.

skills/<skill>/releases/   <sha256, 12 digits>.gguf          an adapter
                           <sha256, 12 digits>.json          its scorecard
                           <sha256, 12 digits>.entry.json    an entry as it stood, by the hash of its own text

An entry names the one before it by hash, so that the way back is a chain which nobody can bend unseen. The registry is
written last: a process that is killed leaves files that nothing names, never half a release.
"""

import hashlib
from pathlib import Path

from pydantic import ValidationError

from skillstill.errors import RegistryError, UnknownName
from skillstill.models.sources import locate
from skillstill.skills.registry import Document, RegistryEntry, read_registry, write_registry
from skillstill.util.storage import ALL_READ, write_atomically

FOLDER = "releases"
DIGITS = 12  # of a hash in a file's name


def folder_of(registry: Path, entry: RegistryEntry) -> Path:
    return registry.parent / entry.skill / FOLDER


def register(registry: Path, entry: RegistryEntry) -> RegistryEntry:
    """The entry as it stands now, behind it the one that stood there. Raises RegistryError, the old one kept.

    Registered once more, it stays as it is: a stage that is repeated lengthens no history.
    """
    document = read_registry(registry) if registry.exists() else Document()
    old = _named(document, entry.name)
    if old and old == entry.model_copy(update={"before": old.before}):
        return old
    entry = entry.model_copy(update={"before": _keep(registry, old) if old else None})
    _write(registry, document, entry)
    return entry


def rollback(registry: Path, name: str, *, offline: bool = False) -> RegistryEntry:
    """The entry that stood before, which now stands again. Raises RegistryError and BaseError, and changes nothing."""
    document = read_registry(registry)
    current = _named(document, name)
    if current is None:
        raise UnknownName(f"{registry} has no entry called {name[:64]!r}")
    if current.before is None:
        raise RegistryError(f"{name} has nothing to go back to: this {current.state} entry is the first of {registry}")
    entry = _kept(folder_of(registry, current) / _entry_file(current.before), current.before)
    if entry.adapter:
        locate(entry.adapter.placed(registry.parent), offline=offline)
    _keep(registry, current)
    _write(registry, document, entry)
    return entry


def _named(document: Document, name: str) -> RegistryEntry | None:
    return next((entry for entry in document.entries if entry.name == name), None)


def _keep(registry: Path, entry: RegistryEntry) -> str:
    """The hash that the entry is kept under."""
    text = entry.model_dump_json(indent=2, exclude_none=True) + "\n"
    found = hashlib.sha256(text.encode()).hexdigest()
    file = folder_of(registry, entry) / _entry_file(found)
    try:
        write_atomically(file, text, mode=ALL_READ)
    except OSError as error:
        raise RegistryError(f"{file} cannot be written: {error.strerror}; nothing was changed") from error
    return found


def _kept(file: Path, expected: str) -> RegistryEntry:
    try:
        content = file.read_bytes()
        found = hashlib.sha256(content).hexdigest()
        if found != expected:
            raise RegistryError(f"{file} is not the entry that was kept: expected sha256 {expected[:12]}…, "
                                f"found {found[:12]}…; put the right file there")  # fmt: skip
        return RegistryEntry.model_validate_json(content)
    except FileNotFoundError as error:
        raise RegistryError(f"{file} is gone, and with it the entry to go back to: put it there again") from error
    except (OSError, ValidationError) as error:
        raise RegistryError(f"{file} cannot be read as an entry: {error}") from error


def _write(registry: Path, document: Document, entry: RegistryEntry) -> None:
    """The entry takes the place of that of its name, or the last one."""
    if _named(document, entry.name):
        entries = tuple(entry if one.name == entry.name else one for one in document.entries)
    else:
        entries = (*document.entries, entry)
    write_registry(registry, Document(entries=entries))


def _entry_file(found: str) -> str:
    return f"{found[:DIGITS]}.entry.json"
