"""Archives unpacked as data: nothing leaves the folder, nothing but regular files comes out, and not too much.

It does not defend against an archive whose single header is made to exhaust memory below the limit on bytes.
"""

import bz2
import gzip
import io
import lzma
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

from skillstill.errors import WorkspaceSourceError

from skillstill_training.workspaces.tree import MAX_BYTES, Allowance, is_wanted

ArchiveEntry = tuple[str, int, IO[bytes]]  # its path, its size in bytes, its content
BROKEN = (
    tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError,
    NotImplementedError, RuntimeError,  # what zipfile says of a method that it lacks and of a password
)  # fmt: skip
OPENERS: dict[bytes, Callable[[Path], Any]] = {b"\x1f\x8b": gzip.open, b"\xfd7": lzma.open, b"BZ": bz2.open}


class Counted(io.RawIOBase):
    """A stream that ends with an error if far more comes out of it than a workspace holds."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__()
        self.stream = stream
        self.left = MAX_BYTES + MAX_BYTES // 4  # headers and padding: 1 kB for each file, and some room

    def read(self, size: int = -1) -> bytes:
        data = self.stream.read(size)
        self.left -= len(data)
        if self.left < 0:
            raise WorkspaceSourceError(f"it unpacks to more than {MAX_BYTES:,} bytes")
        return data


def unpack(archive: Path, into: Path, *, strip_top: bool = False) -> None:
    """Write the wanted regular files of a tar or zip, without its single top folder if `strip_top`.

    Links inside are left out. Raise WorkspaceSourceError for paths and links that leave, devices, too many files or
    bytes, and what is no archive.
    """
    into.mkdir(parents=True, exist_ok=True)
    try:
        for name, size, content in _zip(archive) if _magic(archive) == b"PK" else _tar(archive):
            path = PurePosixPath(name)
            target = into / path
            if is_wanted(str(PurePosixPath(*path.parts[strip_top:])), size):
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("wb") as file:
                    shutil.copyfileobj(content, file)
    except BROKEN as error:
        raise WorkspaceSourceError(f"{archive.name} is no archive that can be read ({error})") from error
    if strip_top:
        _strip_top(into)


def _tar(archive: Path) -> Iterator[ArchiveEntry]:
    allowance = Allowance()
    with _decompress(archive) as stream, tarfile.open(fileobj=Counted(stream), mode="r|") as tar:
        for member in tar:
            _check_member(member)
            allowance.take(member.size)
            if member.isreg() and (content := tar.extractfile(member)):
                yield member.name, member.size, content


def _check_member(member: tarfile.TarInfo) -> None:
    """Raise WorkspaceSourceError if the member would leave the folder or is a device.

    Our own, because the filters of tarfile are missing before Python 3.11.4, which Debian 12 does not have.
    """
    _check_name(member.name)
    if member.issym():
        _check_link(member.name, member.linkname)
    elif member.islnk():
        _check_name(member.linkname)  # it counts from the top of the archive
    elif member.isdev():
        raise WorkspaceSourceError(f"its entry {member.name!r} is a device")


def _decompress(archive: Path) -> IO[bytes]:
    opener = OPENERS.get(_magic(archive))
    stream: IO[bytes] = opener(archive) if opener else archive.open("rb")
    return stream


def _magic(archive: Path) -> bytes:
    with archive.open("rb") as file:
        return file.read(2)


def _zip(archive: Path) -> Iterator[ArchiveEntry]:
    allowance = Allowance()
    with zipfile.ZipFile(archive) as opened:
        for member in opened.infolist():
            _check_name(member.filename)
            allowance.take(member.file_size)
            kind = stat.S_IFMT(member.external_attr >> 16)
            if member.is_dir():
                continue
            if kind == stat.S_IFLNK:
                _check_link(member.filename, opened.read(member).decode("utf-8", "replace"))
            elif kind not in (0, stat.S_IFREG):
                raise WorkspaceSourceError(f"its entry {member.filename!r} is a device")
            else:
                with opened.open(member) as content:
                    yield member.filename, member.file_size, content


def _check_name(name: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name or "\\" in name:
        raise WorkspaceSourceError(f"its entry {name!r} would leave the folder")


def _check_link(name: str, target: str) -> None:
    depth = len(PurePosixPath(name).parts) - 1
    for part in PurePosixPath(target).parts:
        depth += -1 if part == ".." else 1
        if depth < 0 or part == "/":
            raise WorkspaceSourceError(f"its link {name!r} would leave the folder")


def _strip_top(folder: Path) -> None:
    """Move up what the only folder contains, which may be one of its own name."""
    top = list(folder.iterdir())
    if len(top) != 1 or not top[0].is_dir():
        return
    lifted = folder.with_name(f"{folder.name}.top")
    top[0].rename(lifted)
    folder.rmdir()
    lifted.rename(folder)
