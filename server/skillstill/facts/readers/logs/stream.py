"""The bytes of a log: unpacked if it is compressed, and cut into chunks of whole lines, in bounded memory."""

import bz2
import codecs
import gzip
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from skillstill.facts.reader import Source, Unreadable

CHUNK = 256 * 1024  # some 2,500 lines: their rows are one batch
LONGEST = 1024 * 1024  # bytes of a line; of a longer one the beginning is read
KEPT = 64 * 1024  # bytes of a line that is too long
_DICTIONARY = 128 * 1024 * 1024  # bytes that xz may take; the strongest setting takes 65 MB
RATIO = 300  # logs shrink to a tenth, at most to a hundredth
LEAST = 64 * 1024 * 1024  # bytes that any archive may unpack to
_MOST = 16 * 1024**3  # bytes that none may
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
PACKED = re.compile(r"\.(?:gz|bz2|xz|zst)$", re.IGNORECASE)  # the end of the name of a file that is
COLOUR = re.compile(r"\x1b\[[\d;?]*[A-Za-z]|\x1b\([A-B]")
_BROKEN = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zstd.ZstdError)


class Xz:
    """Unpacks xz with a bound to its memory, which the standard reader of files cannot set."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._unpacker = stream, lzma.LZMADecompressor(memlimit=_DICTIONARY)

    def read(self, size: int) -> bytes:
        data = b""
        while not data and not self._unpacker.eof:
            packed = self._stream.read(CHUNK) if self._unpacker.needs_input else b""
            if self._unpacker.needs_input and not packed:
                raise EOFError
            data = self._unpacker.decompress(packed, size)
        return data


Some = Callable[[int], bytes]  # returns some bytes, at most that many, and none at the end
_MAGIC: tuple[tuple[bytes, Callable[[BinaryIO], Some]], ...] = (
    (b"\x1f\x8b", lambda stream: gzip.GzipFile(fileobj=stream).read1),
    (b"BZh", lambda stream: bz2.BZ2File(stream).read1),
    (b"\xfd7zXZ\0", lambda stream: Xz(stream).read),
    (b"\x28\xb5\x2f\xfd", lambda stream: zstd.ZstdFile(stream).read1),
)


@dataclass
class Bytes:
    """The unpacked bytes of a file.

    raw         a place in them is a place in the file
    encoding    of the file; what `read` returns is UTF-8 if the file is UTF-16
    skipped     bytes of the mark of the encoding, at the beginning
    coloured    there are codes for terminals, which `chunks` takes out
    """

    stream: BinaryIO
    some: Some
    raw: bool
    encoding: str = "utf-8"
    skipped: int = 0
    left: int = _MOST
    broken: str = ""
    coloured: bool = False
    _pending: bytes = b""
    _decoder: codecs.IncrementalDecoder | None = None

    def read(self, size: int) -> bytes:
        """Return that many bytes, or fewer at the end. What is broken ends there."""
        if self._pending:
            data, self._pending = self._pending[:size], self._pending[size:]
            return data
        data = self._unpack(size)
        return self._decoder.decode(data, final=not data).encode() if self._decoder else data

    def peek(self, size: int) -> bytes:
        """Return the next bytes without taking them."""
        while len(self._pending) < size:
            pending, self._pending = self._pending, b""
            data = self.read(size)
            self._pending = pending + data
            if not data:
                break
        return self._pending[:size]

    def windows(self, size: int, number: int, whole: int) -> list[bytes]:
        """Return parts of the file, evenly spread; only of the beginning if places cannot be sought."""
        if not self.raw or not self.stream.seekable():
            return [self.peek(size * number)]
        if whole <= size * number:
            return [self.peek(whole)]
        head, here, parts = self.peek(size), self.stream.tell(), []
        for index in range(1, number):
            self.stream.seek(index * (whole - size) // (number - 1))
            parts.append(self.stream.read(size).partition(b"\n")[2])
        self.stream.seek(here)
        return [head, *parts]

    def _unpack(self, size: int) -> bytes:
        """Return that many bytes, or fewer: what comes before a break is not lost."""
        data = b""
        try:
            while len(data) < size and self.left > 0 and (more := self.some(min(size - len(data), self.left))):
                data += more
                self.left -= len(more)
        except _BROKEN:
            self.broken = "broken archive: read up to the break"
            self.left = 0
        else:
            self.broken = self.broken or ("" if self.left > 0 else "unpacks to too much: read in part")
        return data


def open_bytes(source: Source) -> Bytes:
    """Return the bytes of a file, unpacked. Raise Unreadable if it holds none to speak of."""
    head = source.stream.read(8)
    source.stream.seek(0)
    unpack = next((open_it for magic, open_it in _MAGIC if head.startswith(magic)), None)
    if unpack is None:
        return _decoded(Bytes(source.stream, source.stream.read, raw=True))
    packed = Bytes(source.stream, unpack(source.stream), raw=False, left=min(_MOST, max(LEAST, RATIO * source.size)))
    if not packed.peek(1) and packed.broken:
        raise Unreadable("broken archive")
    return _decoded(packed)


def _decoded(found: Bytes) -> Bytes:
    """Return the bytes without the mark of their encoding, and as UTF-8 if they are UTF-16."""
    head = found.peek(4)
    bom, encoding = next(((bom, name) for bom, name in _BOMS if head.startswith(bom)), (b"", "utf-8"))
    found.skipped = len(found.read(len(bom))) if bom else 0
    if encoding.startswith("utf-16"):
        found._decoder = codecs.getincrementaldecoder(encoding)("replace")
        found._pending = found._decoder.decode(found._pending).encode()
        found.raw = False
    found.encoding = encoding
    return found


def unpack_head(head: bytes) -> bytes:
    """Return the beginning of a file as text bytes, also if it is compressed or UTF-16."""
    from io import BytesIO

    try:
        return open_bytes(Source("", len(head), BytesIO(head))).peek(8_192)
    except Unreadable:
        return b""


def last_line(data: bytes) -> int:
    """Return where the last line that has an end ends."""
    return data.rfind(b"\n") + 1


def chunks(data: Bytes, cut: Callable[[bytes], int], end: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the place of a chunk, its text as Latin-1, and whether a line in it was too long.

    cut     returns where the last entry that is whole ends
    end     what entries end with; it is put where the file has none, and where a line is cut
    """
    place, rest = data.skipped, b""
    while block := data.read(CHUNK):
        rest += block
        if whole := cut(rest):
            yield place, _text(rest[:whole], data.coloured), False
            place, rest = place + whole, rest[whole:]
        elif len(rest) > LONGEST:
            yield place, _text(rest[:KEPT], data.coloured) + end, True
            size, rest = _skip(data, len(rest))
            place += size
    if rest:
        yield place, _text(rest, data.coloured).removesuffix("\r") + end, False


def _text(data: bytes, coloured: bool) -> str:
    text = data.decode("latin-1")
    return COLOUR.sub("", text) if coloured else text


def _skip(data: Bytes, size: int) -> tuple[int, bytes]:
    """Return the size of a line that is too long, with its end, and what was read after it."""
    while block := data.read(CHUNK):
        end = block.find(b"\n") + 1
        if end:
            return size + end, block[end:]
        size += len(block)
    return size, b""
