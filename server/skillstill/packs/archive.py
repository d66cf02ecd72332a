"""The file itself: a zip whose members are stored as they are, in one order and with one date.

Stored, for then the same release is the same file whatever wrote it, no member can be larger than the file that holds
it, and an adapter does not compress anyway. A zip rather than a tar, for its directory can be judged before any member
is read, and everybody can look into it.
"""

import hashlib
import stat
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from pydantic import ValidationError

from skillstill.errors import PackError
from skillstill.packs.manifest import MANIFEST, MOST_BYTES, MOST_MANIFEST, MOST_MEMBERS, Manifest, Member
from skillstill.skills.skill import mistake
from skillstill.util.storage import open_regular

BEGINNING = (1980, 1, 1, 0, 0, 0)  # of a zip's calendar
REGULAR = stat.S_IFREG | 0o644
END = struct.Struct("<4s4H2IH")  # a zip's last record, if it has no comment
LARGE = b"PK\x06\x07"  # stands before that record in a zip of the 64-bit extension, 20 bytes of it
DIRECTORY = MOST_MEMBERS * 400  # bytes: what names of 200 characters need
# What Python's reader raises over bytes that are no zip, or are one no more.
DAMAGED = (BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError, ValueError, struct.error)
CHUNK = 1_000_000
Content = bytes | Path


def write_archive(file: IO[bytes], manifest: Manifest, contents: Mapping[str, Content]) -> None:
    """Write the manifest, then its members in its order. Raise PackError if one is not what the manifest says."""
    with ZipFile(file, "w", ZIP_STORED) as archive:
        archive.writestr(_info(MANIFEST), manifest.model_dump_json(indent=1, exclude_none=True) + "\n")
        for member in manifest.members:
            info = _info(member.path)
            info.file_size = member.size
            with archive.open(info, "w") as target, _open(contents[member.path]) as source:
                _copy(source, target, member)


@contextmanager
def read_archive(file: Path) -> Iterator[tuple[Manifest, "Archive"]]:
    """Return the manifest and what it lists, judged before any member is read. Raise PackError."""
    try:
        content = open(file, "rb", opener=open_regular)  # noqa: SIM115 - Path.open takes no opener
    except OSError as error:
        raise PackError(f"{file} cannot be read: {error.strerror}") from error
    with content:
        _check_end(file, content)
        try:
            archive = ZipFile(content)
            judged = _validate(file, archive)
        except DAMAGED as error:
            raise PackError(f"{file} is damaged: fetch it again") from error
        with archive:
            yield judged


class Archive:
    """The members of an open pack."""

    def __init__(self, file: Path, archive: ZipFile) -> None:
        self._file, self._archive = file, archive

    def read(self, path: str) -> bytes:
        """Return a member in memory; nothing if there is none."""
        return self._archive.read(path) if path in self._archive.namelist() else b""

    def extract(self, member: Member, target: Path) -> None:
        """Write and verify a member. Raise PackError if it differs from the manifest, OSError if there is no room."""
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with target.open("xb") as place, self._open(member) as source:
            try:
                _copy(source, place, member)
            except (BadZipFile, EOFError) as error:
                raise self._damaged(member) from error
            except PackError as error:
                raise PackError(f"{self._file}: {error}: fetch the pack again") from error

    def _open(self, member: Member) -> IO[bytes]:
        try:
            return self._archive.open(member.path)
        except DAMAGED as error:
            raise self._damaged(member) from error

    def _damaged(self, member: Member) -> PackError:
        return PackError(f"{self._file}: {member.path} is damaged: fetch the pack again")


def _validate(file: Path, archive: ZipFile) -> tuple[Manifest, Archive]:
    infos = archive.infolist()
    if not infos or infos[0].filename != MANIFEST:
        raise PackError(f"{file} is no pack: expected {MANIFEST} as its first member")
    for info in infos:
        _check_stored(file, info)
    if sum(info.file_size for info in infos) > file.stat().st_size:
        raise PackError(f"{file} is no pack: its members say that they hold more than the file does")
    manifest = _manifest(file, archive, infos[0])
    _check_listed(file, manifest, infos[1:])
    return manifest, Archive(file, archive)


def _check_end(file: Path, content: IO[bytes]) -> None:
    """Check the end before Python's reader does, which would take a directory of any size into memory."""
    size = content.seek(0, 2)
    if size > MOST_BYTES:
        raise PackError(f"{file} has {size:,} bytes: a pack has at most {MOST_BYTES:,}")
    content.seek(max(0, size - END.size - 20))
    tail = content.read()
    if not tail[-END.size :].startswith(b"PK\x05\x06") or not tail.endswith(b"\0\0"):  # it has no comment
        raise PackError(f"{file} is cut off or no pack: fetch it again")
    _, _, _, _, count, directory, _, _ = END.unpack(tail[-END.size :])
    if count > MOST_MEMBERS + 1 or directory > DIRECTORY or tail.startswith(LARGE):
        raise PackError(f"{file} is no pack: its directory is too large ({count:,} members, {directory:,} bytes)")


def _check_stored(file: Path, info: ZipInfo) -> None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in {0, stat.S_IFREG} or info.is_dir():
        raise PackError(f"{file}: {info.filename!r} is a link, a folder or a device: a pack holds regular files only")
    if info.compress_type != ZIP_STORED or info.compress_size != info.file_size or info.flag_bits & 1:
        raise PackError(f"{file}: {info.filename!r} is compressed or encrypted: the members of a pack never are")


def _manifest(file: Path, archive: ZipFile, info: ZipInfo) -> Manifest:
    if info.file_size > MOST_MANIFEST:
        raise PackError(f"{file}: its {MANIFEST} has {info.file_size:,} bytes, at most {MOST_MANIFEST:,} are read")
    try:
        text = archive.read(info)
    except DAMAGED as error:
        raise PackError(f"{file}: {MANIFEST} is damaged: fetch the pack again") from error
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        field, expected = mistake(error)
        if field == "format":
            raise PackError(f"{file} has a format that this version does not know: update skillstill") from error
        raise PackError(f"{file}: {MANIFEST}: {field}: {expected}") from error


def _check_listed(file: Path, manifest: Manifest, infos: list[ZipInfo]) -> None:
    listed = {member.path: member.size for member in manifest.members}
    seen: set[str] = set()
    for info in infos:
        if info.filename not in listed or info.filename in seen:
            why = "twice" if info.filename in seen else "unlisted"
            raise PackError(f"{file}: the member {info.filename!r} is {why}: it is not what {MANIFEST} says")
        if info.file_size != listed[info.filename]:
            raise PackError(f"{file}: {info.filename} has {info.file_size:,} bytes, {MANIFEST} says "
                            f"{listed[info.filename]:,}")  # fmt: skip
        seen.add(info.filename)
    if missing := sorted(set(listed) - seen):
        raise PackError(f"{file}: {missing[0]} is missing, which {MANIFEST} lists")


def _copy(source: IO[bytes], target: IO[bytes], member: Member) -> None:
    """Raise PackError if size or hash are not those of the manifest."""
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(CHUNK):
        digest.update(chunk)
        size += len(chunk)
        target.write(chunk)
    if (size, digest.hexdigest()) != (member.size, member.sha256):
        raise PackError(f"{member.path} is not what {MANIFEST} says: expected sha256 {member.sha256[:12]}…, "
                        f"found {digest.hexdigest()[:12]}…")  # fmt: skip


@contextmanager
def _open(content: Content) -> Iterator[IO[bytes]]:
    with BytesIO(content) if isinstance(content, bytes) else content.open("rb") as source:
        yield source


def _info(name: str) -> ZipInfo:
    info = ZipInfo(name, BEGINNING)
    info.create_system = 3  # what Python writes on every Unix: the same bytes everywhere
    info.external_attr = REGULAR << 16
    return info
