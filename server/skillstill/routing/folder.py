"""What a folder holds, by the names of its files alone."""

import os
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Literal

Kind = Literal["code", "documents", "logs", "tables"]
MOST = 3_000  # names: a large tree is as clear by then
PASSED_OVER = frozenset({"node_modules", "__pycache__", "vendor", "target", "venv", "site-packages"})
_PACKED = re.compile(r"\.(gz|bz2|xz|zst)$")
_LOG = re.compile(
    r".*\.log([._-].*)?|(.*[._-])?(sys|auth|mail|kern|daemon)?log(s|file)?([._-].*)?"
    r"|(messages|secure|dmesg|cron|catalina\.out)([._-]\d.*)?|.*\.(journal|trace)"
)
_LOG_FOLDERS = frozenset({"log", "logs"})  # a name that says nothing is one of a log there, as in /var/log
_CODE = (
    "py pyi pyx js jsx mjs cjs ts tsx mts go rs java kt kts scala c h cc cpp cxx hh hpp cs fs vb rb php swift m mm lua "
    "pl pm r jl ex exs erl hs ml clj dart nim zig vue svelte elm sol sh bash ps1 sql gradle cmake mk"
)
_DOCUMENTS = "md rst txt adoc html htm toml yaml yml json ini cfg conf xml properties"
_LINES = "jsonl ndjson"  # logs or tables
_TABLES = f"db db3 sqlite sqlite3 anki2 csv tsv tab psv parquet xlsx xlsm xls ods {_LINES}"
_SUFFIXES: Mapping[Kind, frozenset[str]] = {
    "code": frozenset(_CODE.split()),
    "documents": frozenset(_DOCUMENTS.split()),
    "logs": frozenset(_LINES.split()),
    "tables": frozenset(_TABLES.split()),
}


def kinds_of(name: str, folder: str = "") -> frozenset[Kind]:
    """Return the kinds that a file of this name, in a folder of that, may be of; none if they say nothing."""
    bare = _PACKED.sub("", name.lower())
    suffix = bare.rpartition(".")[2] if "." in bare else ""
    named = {kind for kind, suffixes in _SUFFIXES.items() if suffix in suffixes}
    is_log = folder.lower() in _LOG_FOLDERS or _LOG.fullmatch(bare)
    return frozenset(named or ({"logs"} if is_log else set()))


def count_kinds(root: Path) -> Mapping[Kind, int]:
    """Return how many files of each kind are in a folder, or that of a file; hidden ones do not count."""
    return Counter(kind for file in _files(root) for kind in kinds_of(file.name, file.parent.name))


def _files(root: Path) -> Iterator[PurePath]:
    """Yield at most MOST files, those of upper folders first. What cannot be read is passed over."""
    if root.is_file():
        yield root
    folders, left = deque([root] if root.is_dir() else []), MOST
    while folders and left:
        for entry in _entries(folders.popleft()):
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in PASSED_OVER:
                    folders.append(Path(entry.path))
            elif left:
                left -= 1
                yield PurePath(entry.path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted((one for one in found if not one.name.startswith(".")), key=lambda one: one.name)
    except OSError:
        return []
