"""What files and texts hash to, one or many."""

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path


def file_sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def files_sha256(root: Path, names: Iterable[str]) -> str:
    """Return one hash of paths and contents: of the lines `path NUL sha256(content) newline`, in the order given."""
    total = hashlib.sha256()
    for name in names:
        total.update(os.fsencode(name) + b"\0" + file_sha256(root / name).encode() + b"\n")
    return total.hexdigest()


def drawn(name: str) -> bytes:
    """Return a key to sort by: the first of what is sorted so is a sample, the same one each time."""
    return hashlib.sha256(name.encode()).digest()


def hash_parts(*parts: str) -> str:
    """Return twelve digits that are the same only for the same texts in the same order: a key for a file name."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
