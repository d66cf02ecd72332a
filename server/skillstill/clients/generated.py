"""A folder that this program writes as a whole: made, made again from newer facts, and taken away.

It keeps a list of what it wrote there. A folder without that list that holds anything is somebody else's, and a file
that is no longer as it was written is its reader's: neither is changed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath

from skillstill.errors import ClientError
from skillstill.util.storage import ALL_READ, write_atomically

LIST = ".skillstill.json"
_Hashes = dict[str, str]


def as_json(value: object) -> str:
    """Return the value as a JSON file that people may read."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


@dataclass(frozen=True)
class WriteSummary:
    """How many files were written, were so already and were removed."""

    folder: Path
    written: int = 0
    unchanged: int = 0
    removed: int = 0

    def __str__(self) -> str:
        counts = {"written": self.written, "unchanged": self.unchanged, "removed": self.removed}
        said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        return f"{self.folder}: {said or 'nothing to do'}"


def write(folder: Path, kind: str, files: Mapping[str, bytes], *, force: bool = False) -> WriteSummary:
    """Make the folder hold these files, and none of those written before. Raise ClientError, before
    anything is changed if the folder or a file is not ours.

    `force` replaces files that were changed since, for good; it does not make another's folder ours.
    """
    try:
        known = _listed_files(folder, kind)
        wanted = {path: _hash(content) for path, content in files.items()}
        found = {path: _found(folder, path) for path in {*wanted, *known}}
        changed = [path for path in sorted(found) if found[path] not in {None, known.get(path), wanted.get(path)}]
        if changed and not force:
            raise ClientError(f"{folder / changed[0]} was changed by somebody: move it away, or --force replaces it")
        new = [path for path in files if found[path] != wanted[path]]
        for path in new:
            write_atomically(folder / path, files[path], mode=ALL_READ)
        stale = [path for path in known if path not in wanted and found[path] is not None]
        _remove(folder, stale)
        write_atomically(folder / LIST, _list(kind, wanted), mode=ALL_READ)
    except OSError as error:
        raise ClientError(f"{error.filename} cannot be written: {error.strerror}") from error
    return WriteSummary(folder, len(new), len(files) - len(new), len(stale))


def remove(folder: Path, kind: str) -> WriteSummary:
    """Take away what `write` wrote, but what was changed since. Raise ClientError."""
    try:
        known = _listed_files(folder, kind)
        ours = [path for path in known if _found(folder, path) == known[path]]
        _remove(folder, [*ours, *([LIST] if known else [])])
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    except OSError as error:
        raise ClientError(f"{error.filename} cannot be removed: {error.strerror}") from error
    return WriteSummary(folder, removed=len(ours))


def _listed_files(folder: Path, kind: str) -> _Hashes:
    """Return what was written there before; nothing if there is nothing at all. Raise ClientError if it is not ours."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return {}
    try:
        said = json.loads((folder / LIST).read_text(encoding="utf-8"))
        files = dict(said["files"]) if said["wrote"] == kind else {}
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ClientError(f"{folder} is not a {kind} that skillstill wrote: name a new or an empty folder") from error
    if said["wrote"] != kind:
        raise ClientError(f"{folder} is a {said['wrote']!r}, not a {kind}: name another folder")
    return {path: str(files[path]) for path in files if _is_inside(path)}


def _is_inside(path: str) -> bool:
    """Return the list came with the folder, and somebody may have written it: nothing that it names leads out."""
    return not PurePosixPath(path).is_absolute() and ".." not in PurePosixPath(path).parts


def _found(folder: Path, path: str) -> str | None:
    """Return the hash of what is there; one that nothing has for what is no regular file, or is reached by a link."""
    file = folder / path
    if not file.exists() and not file.is_symlink():
        return None
    linked = any(part.is_symlink() for part in (file, *file.parents) if part.is_relative_to(folder) and part != folder)
    return "" if linked or not file.is_file() else _hash(file.read_bytes())


def _remove(folder: Path, paths: list[str]) -> None:
    for path in paths:
        (folder / path).unlink()
        for above in (folder / path).parents:
            if above == folder or any(above.iterdir()):
                break
            above.rmdir()


def _list(kind: str, hashes: _Hashes) -> bytes:
    return (json.dumps({"wrote": kind, "files": dict(sorted(hashes.items()))}, indent=2) + "\n").encode()


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()
