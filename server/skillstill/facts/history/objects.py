"""A repository's objects by their ids: loose ones and packs, each with a limit on what it may unfold to."""

import zlib
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from skillstill.facts.history.errors import Damaged, Exhausted, Missing, TooLarge
from skillstill.facts.history.files import OpenFiles, inside, read_file
from skillstill.facts.history.pack import MAX_OBJECT, find_packs
from skillstill.facts.reader import Unreadable

ObjectKind = Literal["commit", "tree", "blob", "tag"]

CACHE = 32_000_000  # bytes of objects kept: neighbours in a history are deltas of each other
OBJECT_COST = 100  # what finding an object costs, in the bytes that could be unfolded meanwhile
CACHED_OBJECT = 2_000_000
ALTERNATES = 5  # git's own limit on how deep one folder of objects may name another


class ObjectCache:
    """Keeps the objects that were used last, and counts the bytes that may still be unfolded."""

    def __init__(self) -> None:
        self.budget = 0
        self._objects: OrderedDict[tuple[int, int], tuple[str, bytes]] = OrderedDict()
        self._size = 0

    def get(self, key: tuple[int, int]) -> tuple[str, bytes] | None:
        """Return the kind and bytes of an object by its pack and place."""
        found = self._objects.get(key)
        if found is not None:
            self._objects.move_to_end(key)
        return found

    def spend(self, size: int) -> None:
        """Count bytes that are unfolded. Raise Exhausted if they are more than was granted."""
        self.budget -= size
        if self.budget < 0:
            raise Exhausted

    def put(self, key: tuple[int, int], kind: str, data: bytes) -> None:
        """Keep an object, and let go of those not used for longest."""
        if len(data) > CACHED_OBJECT or key in self._objects:
            return
        self._objects[key] = kind, data
        self._size += len(data)
        while self._size > CACHE:
            self._size -= len(self._objects.popitem(last=False)[1][1])


class ObjectStore:
    """Objects of a folder `objects` and of the folders inside the jail that it borrows from.

    width      bytes of an id: 20 for SHA-1, 32 for SHA-256
    outside    whether it borrows from a folder outside, which is not read
    """

    def __init__(self, objects: Path, jail: Path, width: int) -> None:
        self.width = width
        self.outside = False
        self._files = OpenFiles()
        self._folders = list(self._borrow(objects, jail, ALTERNATES))
        self._packs = [pack for folder in self._folders for pack in find_packs(folder, width, self._files)]
        self._cache = ObjectCache()

    def read(self, identity: bytes, kind: ObjectKind, limit: int = MAX_OBJECT) -> bytes:
        """Return an object's bytes. Raise Missing, Damaged or TooLarge."""
        self._cache.spend(OBJECT_COST)
        found, data = self._read_packed(identity, limit) or self._read_loose(identity, limit)
        if found != kind:
            raise Damaged(f"a {found} in the place of a {kind}")
        self._cache.spend(len(data))
        return data

    def grant(self, budget: int) -> None:
        """Allow so many more bytes to be unfolded, whatever was left."""
        self._cache.budget = budget

    def close(self) -> None:
        """Close all files."""
        self._files.close()

    def _read_packed(self, identity: bytes, limit: int) -> tuple[str, bytes] | None:
        for number, pack in enumerate(self._packs):
            offset = pack.find(identity)
            if offset is not None:
                if number:  # the next object is likely to be in the same pack
                    self._packs.insert(0, self._packs.pop(number))
                return pack.read(offset, limit, self._cache)
        return None

    def _read_loose(self, identity: bytes, limit: int) -> tuple[str, bytes]:
        name = identity.hex()
        for folder in self._folders:
            raw = read_file(folder, name[:2], name[2:], limit=MAX_OBJECT)
            if raw is not None:
                return parse_loose(raw, limit)
        raise Missing

    def _borrow(self, objects: Path, jail: Path, depth: int) -> Iterator[Path]:
        """Yield a folder of objects and those that it names in `info/alternates`, if they are inside."""
        yield objects
        lines = (read_file(objects, "info", "alternates", limit=65_536) or b"").decode("utf-8", "replace").split("\n")
        for line in lines[:20] if depth else ():
            if line and not line.startswith("#"):
                try:
                    yield from self._borrow(inside(objects / line, jail), jail, depth - 1)
                except Unreadable:
                    self.outside = True


def parse_loose(raw: bytes, limit: int) -> tuple[str, bytes]:
    """Return the kind and bytes of a loose object."""
    inflater = zlib.decompressobj()
    try:
        head, end, data = inflater.decompress(raw, 64).partition(b"\0")
        kind, _, size = head.decode("ascii", "replace").partition(" ")
        if not end or not size.isdecimal():
            raise Damaged("no head")
        if int(size) > limit:
            raise TooLarge
        data += inflater.decompress(inflater.unconsumed_tail, int(size) + 1)
    except zlib.error as error:
        raise Damaged(str(error)) from error
    if len(data) != int(size):
        raise Damaged("another size than it says")
    return kind, data
