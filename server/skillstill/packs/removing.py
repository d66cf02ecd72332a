"""A pack that was unpacked, taken away again: from the registry first, which so never names a folder that is gone."""

import shutil
from pathlib import Path

from skillstill.errors import PackError, UsageError
from skillstill.packs.installer import ASIDE, locked
from skillstill.skills.registry import remove_entry, skill_paths, user_registry
from skillstill.skills.trust import distrust, pack_around


def remove(name: str) -> Path:
    """Remove the user's entry of this name, the trust in it and its folder, which is returned.

    Raise UsageError if no pack brought such a subagent, PackError or RegistryError if it cannot be taken away.
    """
    with locked() as packs:
        folder = _pack_of(name)
        remove_entry(user_registry(), name)
        distrust(folder)
        try:
            aside = folder.rename(packs / f"{ASIDE}{folder.name}")
            shutil.rmtree(aside)
        except OSError as error:
            raise PackError(
                f"{name} is no subagent any more, but {folder} cannot be removed: {error.strerror}"
            ) from error
    return folder


def _pack_of(name: str) -> Path:
    """Return the folder of the pack that brought this entry, even if the entry cannot be read any more."""
    registry = user_registry()
    folders = map(pack_around, skill_paths(registry, name) if registry.exists() else ())
    folder = next(filter(None, folders), None)
    if folder is None:
        raise UsageError(f"no pack brought a subagent {name[:64]!r}: `skillstill list` shows where each one comes from")
    return folder
