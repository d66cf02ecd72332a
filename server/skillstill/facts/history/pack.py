"""Packs: files of many objects, most of them told as what differs from another one.

Formats: gitformat-pack of git's documentation. Packs with an index of version 1, older than 2007, are not read.
"""

import os
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from skillstill.facts.history.errors import Damaged, TooLarge
from skillstill.facts.history.files import OpenFiles

MAX_OBJECT = 16_000_000  # bytes of any object, also of those that only help to build another
MAX_CHAIN = 4_096  # git makes chains of deltas up to 50 long, and no longer than this
MAX_PACKS = 2_000
PIECE = 4_096  # bytes read at once: most objects are smaller
BLOCK = 1_024  # names of an index read at once: all with one first byte, in most packs

_HEAD = b"\xfftOc\x00\x00\x00\x02"
_NAMES = 8 + 256 * 4  # where the names begin in an index
_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_OFFSET_DELTA, _NAME_DELTA = 6, 7


class Cache(Protocol):
    """Objects by their pack and place, and how much may still be unfolded."""

    def get(self, key: tuple[int, int]) -> tuple[str, bytes] | None: ...
    def put(self, key: tuple[int, int], kind: str, data: bytes) -> None: ...
    def spend(self, size: int) -> None: ...


def find_packs(objects: Path, width: int, files: OpenFiles) -> Iterator["Pack"]:
    """Yield the packs of a folder of objects. One whose index is damaged is left out: its objects are missing."""
    folder = objects / "pack"
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(".idx"))
    except OSError:
        return
    for name in names[:MAX_PACKS]:
        try:
            yield Pack(folder, name.removesuffix(".idx"), width, files)
        except Damaged:
            continue


class Pack:
    """A pack and its index. Raise Damaged if the index is none."""

    def __init__(self, folder: Path, name: str, width: int, files: OpenFiles) -> None:
        self._folder, self._name, self._width, self._files = folder, name, width, files
        head = self._index(0, _NAMES)
        if not head.startswith(_HEAD) or len(head) < _NAMES:
            raise Damaged("not an index of version 2")
        self._fan = head[8:]
        self._count = self._starts(255)[1]

    def find(self, identity: bytes) -> int | None:
        """Return where an object begins in the pack, or None if it is not there."""
        low, high = self._starts(identity[0])
        while high - low > BLOCK:
            middle = (low + high) // 2
            if self._index(_NAMES + middle * self._width, self._width) <= identity:
                low = middle
            else:
                high = middle
        names = self._index(_NAMES + low * self._width, max(high - low, 0) * self._width)
        places = range(0, len(names), self._width)
        found = bisect_left(places, identity, key=lambda place: names[place : place + self._width])
        is_there = names[found * self._width : (found + 1) * self._width] == identity
        return self._offset(low + found) if is_there else None

    def read(self, offset: int, limit: int, cache: Cache) -> tuple[str, bytes]:
        """Return the kind and bytes of the object at an offset. Raise Damaged or TooLarge."""
        deltas: list[tuple[int, bytes]] = []
        while (found := cache.get((id(self), offset))) is None:
            code, data, base = self._entry(offset, limit if not deltas else MAX_OBJECT)
            cache.spend(len(data))
            if code in _KINDS:
                found = _KINDS[code], data
                cache.put((id(self), offset), *found)
                break
            if not deltas and result_size(data) > limit:
                raise TooLarge
            if len(deltas) >= MAX_CHAIN:
                raise Damaged("a chain without an end")
            deltas.append((offset, data))
            offset = base
        kind, data = found
        for place, delta in reversed(deltas):
            cache.spend(result_size(delta))
            data = apply_delta(data, delta)
            cache.put((id(self), place), kind, data)
        if len(data) > limit:
            raise TooLarge
        return kind, data

    def _entry(self, offset: int, limit: int) -> tuple[int, bytes, int]:
        """Return the code of an entry, its unfolded bytes, and where the object that it builds on begins."""
        piece = self._pack(offset, PIECE)
        try:
            code, size, at = _entry_head(piece)
            if size > MAX_OBJECT or (code in _KINDS and size > limit):
                raise TooLarge
            base = 0
            if code == _OFFSET_DELTA:
                distance, at = _distance(piece, at)
                base = offset - distance
            elif code == _NAME_DELTA:
                found = self.find(piece[at : at + self._width])
                base, at = -1 if found is None else found, at + self._width
        except IndexError as error:
            raise Damaged("an entry is cut") from error
        if base < 0 or (code not in _KINDS and base == 0):
            raise Damaged("a delta of nothing")
        return code, self._inflate(piece[at:], offset + len(piece), size), base

    def _inflate(self, piece: bytes, after: int, size: int) -> bytes:
        """Return exactly `size` unfolded bytes: those of a piece, and of what comes after it in the file."""
        inflater = zlib.decompressobj()
        last = after + 2 * size + 65_536  # no sane stream is longer
        try:
            data = inflater.decompress(piece, size + 1)
            while not inflater.eof and len(data) <= size and after < last:
                if not (piece := inflater.unconsumed_tail):
                    piece = self._pack(after, max(PIECE, min(size, 1_000_000)))
                    after += len(piece)
                if not piece:
                    break
                data += inflater.decompress(piece, size - len(data) + 1)
        except zlib.error as error:
            raise Damaged(str(error)) from error
        if not inflater.eof or len(data) != size:
            raise Damaged("another size than it says")
        return data

    def _starts(self, first: int) -> tuple[int, int]:
        """Return between which numbers the names with that first byte lie."""
        before = struct.unpack_from(">I", self._fan, first * 4 - 4)[0] if first else 0
        return before, struct.unpack_from(">I", self._fan, first * 4)[0]

    def _offset(self, number: int) -> int:
        table = _NAMES + self._count * (self._width + 4)
        try:
            offset: int = struct.unpack(">I", self._index(table + number * 4, 4))[0]
            if offset & 0x80000000:
                large = table + self._count * 4 + (offset & 0x7FFFFFFF) * 8
                offset = struct.unpack(">Q", self._index(large, 8))[0]
        except struct.error as error:
            raise Damaged("an index is cut") from error
        return offset

    def _index(self, offset: int, size: int) -> bytes:
        return self._piece("idx", offset, size)

    def _pack(self, offset: int, size: int) -> bytes:
        return self._piece("pack", offset, size)

    def _piece(self, suffix: str, offset: int, size: int) -> bytes:
        try:
            return self._files.read(self._folder, f"{self._name}.{suffix}", size, offset)
        except (OSError, OverflowError) as error:
            raise Damaged("a pack cannot be read") from error


def apply_delta(base: bytes, delta: bytes) -> bytes:
    """Return the object that a delta makes of another one. Raise Damaged, never building more than the delta says."""
    try:
        source, at = _size(delta, 0)
        target, at = _size(delta, at)
        if source != len(base):
            raise Damaged("a delta of another object")
        return _copy(base, delta, at, target)
    except IndexError as error:
        raise Damaged("a delta is cut") from error


def result_size(delta: bytes) -> int:
    """Return how many bytes a delta says that it makes."""
    try:
        return _size(delta, _size(delta, 0)[1])[0]
    except IndexError as error:
        raise Damaged("a delta is cut") from error


def _copy(base: bytes, delta: bytes, at: int, target: int) -> bytes:
    """Return the pieces of the base and of the delta that its commands name, one after the other."""
    parts, end, built = [], len(delta), 0
    while at < end:
        command = delta[at]
        at += 1
        if command & 0x80:
            offset = size = 0
            for bit, shift in _OFFSET_BYTES[command & 0x0F]:
                offset |= delta[at + bit] << shift
            at += len(_OFFSET_BYTES[command & 0x0F])
            for bit, shift in _SIZE_BYTES[command >> 4 & 7]:
                size |= delta[at + bit] << shift
            at += len(_SIZE_BYTES[command >> 4 & 7])
            part = base[offset : offset + (size or 0x10000)]
        else:
            part = delta[at : at + command]
            at += command
        built += len(part)
        if not part or built > target:
            raise Damaged("a delta makes something else than it says")
        parts.append(part)
    if built != target:
        raise Damaged("a delta makes something else than it says")
    return b"".join(parts)


def _present_bytes(bits: int) -> list[tuple[tuple[int, int], ...]]:
    """Return for each mask which bytes of a number follow: (place in the delta, by how much it is shifted)."""
    return [tuple(enumerate(shift * 8 for shift in range(bits) if mask >> shift & 1)) for mask in range(1 << bits)]


_OFFSET_BYTES, _SIZE_BYTES = _present_bytes(4), _present_bytes(3)


def _entry_head(piece: bytes) -> tuple[int, int, int]:
    """Return an entry's code, its size, and where its head ends."""
    code, size, shift, at = piece[0] >> 4 & 7, piece[0] & 15, 4, 1
    while piece[at - 1] & 0x80:
        if shift > 60:
            raise Damaged("a size without an end")
        size |= (piece[at] & 0x7F) << shift
        shift += 7
        at += 1
    return code, size, at


def _distance(piece: bytes, at: int) -> tuple[int, int]:
    """Return how far before an entry its base begins, and where that number ends."""
    distance = piece[at] & 0x7F
    while piece[at] & 0x80:
        at += 1
        distance = (distance + 1) << 7 | piece[at] & 0x7F
        if distance > 1 << 62:
            raise Damaged("a distance without an end")
    return distance, at + 1


def _size(delta: bytes, at: int) -> tuple[int, int]:
    """Return a number that a delta begins with, and where it ends."""
    size = shift = 0
    while True:
        byte = delta[at]
        size |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return size, at
        if shift > 60:
            raise Damaged("a size without an end")
