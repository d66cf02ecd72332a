"""Which parts of a source were not read again, told by the hashes of its folders."""

from collections.abc import Mapping
from pathlib import PurePosixPath


def unread(path: str, before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Return whether a folder above `path` (the source's own is "" or ".") has the hash that it had before."""
    above = [str(folder) for folder in PurePosixPath(path).parents]
    return any(before.get(folder) is not None and before[folder] == now.get(folder) for folder in [*above, ""])
