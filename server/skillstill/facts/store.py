"""The index of a workspace on disk: a compressed snapshot of its facts, and what was read since, file by file.

Rows of a file are safe as soon as they are in the journal, so a crash loses the files that were being read and no
other. Several processes may read and write a store. A damaged one is begun anew: all of it can be read again.
"""

import hashlib
import heapq
import json
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from skillstill.facts.parsing import Batch
from skillstill.facts.tree import BYTES

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

WAIT = 30.0  # seconds for another process that writes
LEVEL = 3  # of compression: higher ones take four times as long and save a tenth
SKETCH = 64  # paths by which two workspaces are compared
LAYOUT = """
    create table if not exists snapshot (checksum blob, data blob, sketch blob);
    create table if not exists journal (key blob primary key, data blob) without rowid;
"""


class Store:
    """One file. Raises what sqlite3 raises if it cannot be written, and OSError if its folder cannot be made."""

    def __init__(self, file: Path) -> None:
        self._file = file
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            self._connection = _connect(file)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            remove_store(file)
            self._connection = _connect(file)

    def load(self) -> bytes | None:
        """Return the last snapshot, or None if there is none or it is damaged."""
        with self._mending():
            row = self._connection.execute("select checksum, data from snapshot").fetchone()
            if row and _checksum(row[1]) == row[0]:
                return zstd.decompress(row[1])
        return None

    def save(self, image: bytes, paths: Iterable[str]) -> None:
        """Replace the snapshot by one that holds all that the journal does."""
        data = zstd.compress(image, LEVEL)
        with self._mending(), self._connection:
            self._connection.execute("delete from snapshot")
            row = (_checksum(data), data, sketch(paths))
            self._connection.execute("insert into snapshot values (?, ?, ?)", row)
            self._connection.execute("delete from journal")

    def get(self, keys: Iterable[bytes]) -> Mapping[bytes, Sequence[Batch]]:
        """Return the batches of those keys that are in the journal."""
        found: dict[bytes, Sequence[Batch]] = {}
        with self._mending():
            for key in keys:
                row = self._connection.execute("select data from journal where key = ?", (key,)).fetchone()
                if row:
                    found[key] = _unpacked(row[0])
        return found

    def put(self, batches: Mapping[bytes, Sequence[Batch]]) -> None:
        """Add what was read to the journal."""
        rows = [(key, _packed(one)) for key, one in batches.items()]
        with self._mending(), self._connection:
            self._connection.executemany("insert or replace into journal values (?, ?)", rows)

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _mending(self) -> Iterator[None]:
        """Begin the store anew if it turns out to be damaged."""
        try:
            yield
        except sqlite3.OperationalError:
            raise
        except (sqlite3.DatabaseError, zstd.ZstdError, ValueError):
            with closing(self._connection):
                remove_store(self._file)
            self._connection = _connect(self._file)


def find_alike(file: Path, paths: Iterable[str]) -> Path | None:
    """Return the store beside this one whose workspace holds most of the same paths, at least half: another checkout.

    Its facts are worth starting from: files of equal content need not be read again.
    """
    own = sketch(paths)
    likeness = {other: _likeness(own, _sketch_of(other)) for other in _others(file)}
    best = max(likeness, key=lambda other: likeness[other], default=None)
    return best if best and likeness[best] >= 0.5 else None


def sketch(paths: Iterable[str]) -> bytes:
    """Return the smallest hashes of the paths.

    Two workspaces share as large a part of them as of their paths (MinHash: Broder, 1997).
    """
    hashes = (hashlib.blake2b(path.encode("utf-8", "surrogateescape"), digest_size=8).digest() for path in paths)
    return b"".join(heapq.nsmallest(SKETCH, hashes))


def remove_store(file: Path) -> None:
    """Remove a store with its journals."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)


def _others(file: Path) -> Iterator[Path]:
    """Yield the stores of other workspaces that hold facts of the same readers."""
    _, _, readers = file.name.rpartition("-")
    return (other for other in file.parent.glob(f"*-{readers}") if other != file)


def _sketch_of(file: Path) -> bytes:
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=1.0)) as connection:
            row = connection.execute("select sketch from snapshot").fetchone()
            return bytes(row[0]) if row else b""
    except sqlite3.Error:
        return b""


def _likeness(left: bytes, right: bytes) -> float:
    one, other = ({*_chunks(sketch_)} for sketch_ in (left, right))
    smallest = {*heapq.nsmallest(SKETCH, one | other)}
    return len(smallest & one & other) / len(smallest) if one and other else 0.0


def _chunks(data: bytes) -> Iterator[bytes]:
    return (data[at : at + 8] for at in range(0, len(data), 8))


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=WAIT, check_same_thread=False)
    try:
        file.chmod(0o600)
        connection.execute("pragma auto_vacuum = full")  # a journal that was emptied gives its room back
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = normal")
        connection.executescript(LAYOUT)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _checksum(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=BYTES).digest()


def _packed(batches: Sequence[Batch]) -> bytes:
    values = [(batch.rows, batch.gaps) for batch in batches]
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return zstd.compress(text.encode("utf-8", "replace"), LEVEL)


def _unpacked(data: bytes) -> Sequence[Batch]:
    return [Batch(rows, gaps) for rows, gaps in json.loads(zstd.decompress(data))]
