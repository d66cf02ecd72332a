"""Earlier releases: kept beside the skill, never deleted, and gone back to.

skills/<skill>/releases/   <sha256, 12 digits>.gguf          an adapter
                           <sha256, 12 digits>.json          its scorecard
                           <sha256, 12 digits>.entry.json    an entry as it stood, by the hash of its own text

An entry names the one before it by hash, so that the way back is a chain which nobody can bend unseen. The registry is
written last: a process that is killed leaves files that nothing names, never half a release. The bundled registry
belongs to all users and is not written: to go back there, the user's own registry pins the earlier entry.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from skillstill.errors import RegistryError, UnknownName
from skillstill.models.sources import locate
from skillstill.skills.registry import (
    RELEASES,
    Document,
    ListedEntry,
    RegistryEntry,
    is_bundled,
    kept_entry,
    kept_file,
    read_registry,
    user_registry,
    write_registry,
)
from skillstill.util.storage import ALL_READ, write_atomically


def folder_of(registry: Path, entry: RegistryEntry) -> Path:
    """Return the folder of the skill's releases."""
    return registry.parent / entry.skill / RELEASES


def register(registry: Path, entry: RegistryEntry) -> RegistryEntry:
    """Return the entry as it stands now, behind it the one that stood there. Raise RegistryError, the old one kept.

    An entry that is registered once more stays as it is: a stage that is repeated lengthens no history.
    """
    document = read_registry(registry) if registry.exists() else Document()
    old = _find_entry(document, entry.label)
    if old and old == entry.model_copy(update={"before": old.before}):
        return old
    entry = entry.model_copy(update={"before": _keep(registry, old) if old else None})
    _write(registry, document, entry)
    return entry


def amend(registry: Path, entry: RegistryEntry) -> None:
    """Replace an entry by the same release with other figures; the history stays. Raise RegistryError."""
    _write(registry, read_registry(registry), entry)


def rollback(listed: ListedEntry, *, offline: bool = False) -> RegistryEntry:
    """Return the entry that stood before, which now stands again.

    Raise RegistryError and BaseError, and change nothing.
    """
    current = listed.entry
    if current.before is None:
        raise RegistryError(
            f"{current.name} has nothing to go back to: this {current.state} entry is the first of {listed.origin}"
        )
    entry = kept_entry(listed.origin, current, current.before)
    _check_adapter(listed.origin, entry, offline=offline)
    if is_bundled(listed.origin):
        _pin(current.label, current.before)
    else:
        document = read_registry(listed.origin)
        _keep(listed.origin, _stored_entry(document, current.label, listed.origin))
        _write(listed.origin, document, entry)
    return entry


def forward(listed: ListedEntry, *, offline: bool = False) -> RegistryEntry:
    """Return the entry that a rollback left, which now stands again. Raise as `rollback` does."""
    if is_bundled(listed.origin):
        return _unpin(listed, offline=offline)
    document = read_registry(listed.origin)
    current = _stored_entry(document, listed.entry.label, listed.origin)
    entry = next(_followers(listed.origin, current), None)
    if entry is None:
        raise RegistryError(f"{current.name} has nothing to go forward to: it is the newest of {listed.origin}")
    _check_adapter(listed.origin, entry, offline=offline)
    _keep(listed.origin, current)
    _write(listed.origin, document, entry)
    return entry


def _unpin(listed: ListedEntry, *, offline: bool) -> RegistryEntry:
    """Pin the bundled entry that followed the pinned one, or none if that is the newest."""
    label = listed.entry.label
    pin = _user_document().pinned.get(label)
    newest = entry = _stored_entry(read_registry(listed.origin), label, listed.origin)
    if pin is None:
        raise RegistryError(f"{label} has nothing to go forward to: it is the newest of {listed.origin}")
    following = None
    while entry.before and entry.before != pin:
        following, entry = entry.before, kept_entry(listed.origin, entry, entry.before)
    if entry.before is None:  # a pin of another version of this package
        following, entry = None, newest
    _check_adapter(listed.origin, entry, offline=offline)
    _pin(label, following)
    return entry


def _pin(label: str, sha256: str | None) -> None:
    """Write the hash of the entry that takes the place of the bundled one, or none, into the user's registry."""
    document = _user_document()
    others = {key: value for key, value in document.pinned.items() if key != label}
    pinned = others | ({label: sha256} if sha256 else {})
    write_registry(user_registry(), document.model_copy(update={"pinned": pinned}))


def _user_document() -> Document:
    return read_registry(user_registry()) if user_registry().exists() else Document()


def _followers(registry: Path, current: RegistryEntry) -> Iterator[RegistryEntry]:
    """Yield the kept entries that stood right after this one, the last one that was kept first."""
    mark = _hash(current)
    files = sorted(folder_of(registry, current).glob("*.entry.json"), key=lambda file: -file.stat().st_mtime_ns)
    for file in files:
        entry = kept_entry(registry, current, hashlib.sha256(file.read_bytes()).hexdigest())
        if entry.label == current.label and entry.before == mark:
            yield entry


def _check_adapter(registry: Path, entry: RegistryEntry, *, offline: bool) -> None:
    if entry.adapter:
        locate(entry.adapter.resolved_from(registry.parent), offline=offline)


def _find_entry(document: Document, label: str) -> RegistryEntry | None:
    return next((entry for entry in document.entries if entry.label == label), None)


def _stored_entry(document: Document, label: str, registry: Path) -> RegistryEntry:
    """Return the entry as the file has it. Raise UnknownName if it went away meanwhile."""
    if entry := _find_entry(document, label):
        return entry
    raise UnknownName(f"{registry} has no entry called {label[:80]!r}")


def _keep(registry: Path, entry: RegistryEntry) -> str:
    """Return the hash that the entry is kept under."""
    sha256 = _hash(entry)
    file = kept_file(registry, entry, sha256)
    if file.exists():
        return sha256
    try:
        write_atomically(file, _text(entry), mode=ALL_READ)
    except OSError as error:
        raise RegistryError(f"{file} cannot be written: {error.strerror}; nothing was changed") from error
    return sha256


def _hash(entry: RegistryEntry) -> str:
    return hashlib.sha256(_text(entry).encode()).hexdigest()


def _text(entry: RegistryEntry) -> str:
    return entry.model_dump_json(indent=2, exclude_none=True) + "\n"


def _write(registry: Path, document: Document, entry: RegistryEntry) -> None:
    """Write the entry in place of that of its name and size, or as the last one."""
    if _find_entry(document, entry.label):
        entries = tuple(entry if one.label == entry.label else one for one in document.entries)
    else:
        entries = (*document.entries, entry)
    write_registry(registry, document.model_copy(update={"entries": entries}))
