"""All that is kept for a user outside of workspaces: where it lies, how large it is, and how it goes.

Nothing else is touched: no workspace, no run folder of a training, no entry in a client's configuration, nothing that
another program put into the hub's cache.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from skillstill.errors import RemovalError
from skillstill.models.sources import fetched_files
from skillstill.util.storage import cache_folder, config_folder, data_folder, library_folder, state_folder


@dataclass(frozen=True, slots=True)
class StoredItem:
    """One file or folder of ours. `size` is in bytes."""

    what: str
    path: Path
    size: int


def stored_items() -> Sequence[StoredItem]:
    """Return what there is, models first: the data folder holds the list of them. Raise RemovalError if unsure."""
    found: dict[Path, StoredItem] = {}
    for what, path in _places():
        if path not in found and (path.exists() or path.is_symlink()):
            inside = sum(one.size for one in found.values() if one.path.is_relative_to(path))
            found[path] = StoredItem(what, path, _measure(path) - inside)
    return list(found.values())


def remove(found: Sequence[StoredItem]) -> None:
    """Raise RemovalError if something cannot be removed; what comes before it is gone then."""
    for one in found:
        try:
            _remove_model(one.path) if one.what == MODEL else _remove(one.path)
        except OSError as error:
            raise RemovalError(f"{error.filename or one.path} cannot be removed: {error.strerror}") from error


MODEL = "a model file that was fetched"


def _places() -> Iterator[tuple[str, Path]]:
    yield from ((MODEL, path) for path in fetched_files())
    yield "imported skills", library_folder()
    yield "traces and counters", _own_folder(state_folder())
    yield "caches", _own_folder(cache_folder())
    yield "settings", _own_folder(config_folder())
    yield "subagents, packs and trust", _own_folder(data_folder())


def _own_folder(folder: Path) -> Path:
    """Raise RemovalError if this is somebody's project, which happens if the folder around it was chosen badly."""
    if (folder / ".git").exists():
        raise RemovalError(f"{folder} is a git repository, and stays: look at XDG_DATA_HOME and the like")
    return folder


def _measure(path: Path) -> int:
    try:
        return _size(path)
    except OSError as error:
        raise RemovalError(f"{error.filename or path} cannot be read: {error.strerror}") from error


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder. Only a model file's link counts as what it leads to."""
    if path.is_dir() and not path.is_symlink():
        return sum(_size(one) for one in path.iterdir())
    return path.stat().st_size if path.is_file() else path.lstat().st_size


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _remove_model(path: Path) -> None:
    """Remove a file of the hub's cache, the content that it links to, if no other link does, and folders left empty."""
    repository = next(above for above in path.parents if above.name == "snapshots").parent
    content = path.resolve()
    path.unlink()
    links = (one.resolve() for one in (repository / "snapshots").rglob("*"))
    if content != path and content.is_relative_to(repository.resolve()) and content not in links:
        content.unlink()
        _prune(content.parent, repository)
    _prune(path.parent, repository)


def _prune(folder: Path, last: Path) -> None:
    with suppress(OSError):  # not empty
        while folder.is_relative_to(last):
            folder.rmdir()
            folder = folder.parent
