"""A pack that was unpacked, taken away again: from the registry first, which so never names a folder that is gone."""

import shutil
from pathlib import Path

from skillstill.errors import PackError, UsageError
from skillstill.packs.unpacking import ASIDE, alone
from skillstill.skills.registry import Document, read_registry, user_registry, write_registry
from skillstill.skills.trust import distrust, pack_around


def remove(name: str) -> Path:
    """The folder that is gone now, and with it the user's entry of this name and the trust in it.

    Raises UsageError where no pack brought such a subagent; PackError and RegistryError where it cannot be taken away.
    """
    with alone() as packs:
        folder, left = _found(name)
        write_registry(user_registry(), left)
        distrust(folder)
        try:
            aside = folder.rename(packs / f"{ASIDE}{folder.name}")
            shutil.rmtree(aside)
        except OSError as error:
            raise PackError(
                f"{name} is no subagent any more, but {folder} cannot be removed: {error.strerror}"
            ) from error
    return folder


def _found(name: str) -> tuple[Path, Document]:
    """The pack's folder, and the registry without it."""
    registry = user_registry()
    entries = read_registry(registry).entries if registry.exists() else ()
    folders = (pack_around(registry.parent / entry.skill) for entry in entries if entry.name == name)
    folder = next(folders, None)
    if folder is None:
        raise UsageError(f"no pack brought a subagent {name[:64]!r}: `skillstill list` shows where each one comes from")
    return folder, Document(entries=tuple(entry for entry in entries if entry.name != name))
