"""One refresh of an index: find what changed, read it, and name the new state."""

import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from skillstill.facts.files import Stamp, is_test, stamps, suffix
from skillstill.facts.folder import FolderRefreshing
from skillstill.facts.reader import FolderReader, Reader
from skillstill.facts.reading import FileFacts, FileReaders, FileReading
from skillstill.facts.rows import RowWriter
from skillstill.facts.tree import ROOT, folder_hashes, split

COMMIT = 64  # files after which what was read is safe from a crash
RECENT = 2_000_000_000  # ns: a file that changed so shortly before it was read may change again within one clock tick
UNSURE = Stamp(-1, -1, -1, -1)  # equals no file's: the next refresh looks at the content again


@dataclass(frozen=True, slots=True)
class Refresh:
    """What a refresh did, in numbers of files. `root` is the hash of the state; `left` files are no part of it."""

    root: bytes
    files: int
    read: int
    removed: int
    left: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Known:
    id: int
    stamp: Stamp
    leaf: bytes


class Refreshing:
    """A refresh of an index that nobody else writes meanwhile."""

    def __init__(
        self, root: Path, connection: sqlite3.Connection, readers: Sequence[Reader], files: FileReaders
    ) -> None:
        self._root, self._connection = root, connection
        self._start = time.monotonic()
        self._writer = RowWriter(connection, [table for reader in readers for table in reader.tables])
        folders = [reader for reader in readers if isinstance(reader, FolderReader)]
        self._folders = [FolderRefreshing(root, connection, self._writer, reader) for reader in folders]
        self._known = self._indexed()
        self._reading = FileReading(root, files, {path: known.leaf for path, known in self._known.items()})

    def run(self, paths: Sequence[str], seconds: float, most: int) -> Refresh:
        """Bring the index to the state of these files.

        What there is no time for is left, and what is more than `most` bytes together, the largest files first.
        """
        listed = dict(stamps(self._root, paths))
        stale = [path for path, stamp in listed.items() if path not in self._known or self._known[path].stamp != stamp]
        gone = [path for path in self._known if path not in listed]
        left, end = 0, self._start + seconds
        grown = [folder.run(end) for folder in self._folders]
        if stale or gone or any(grown) or not root_hash(self._connection):
            with self._connection:
                self._connection.execute("delete from _folders")  # no state has a name until this one is whole
                for path in gone:
                    self._remove(path)
            smallest = sorted(stale, key=lambda path: listed[path].size)
            sizes = accumulate(listed[path].size for path in smallest)
            due = [path for path, size in zip(smallest, sizes, strict=True) if size <= most]
            left = len(stale) - len(due) + self._read(due, end)
            self._name(left)
        return Refresh(
            root_hash(self._connection),
            files=len(listed),
            read=len(stale) - left,
            removed=len(gone),
            left=left,
            seconds=round(time.monotonic() - self._start, 3),
        )

    def _indexed(self) -> Mapping[str, _Known]:
        rows = self._connection.execute(
            "select path, id, size, mtime, ctime, inode, leaf from _files where name is not null"
        )
        return {path: _Known(number, Stamp(*stamp), leaf) for path, number, *stamp, leaf in rows}

    def _remove(self, path: str) -> None:
        file = self._known[path].id
        self._writer.forget(file)
        self._connection.execute("delete from _files where id = ?", (file,))

    def _read(self, paths: Sequence[str], end: float) -> int:
        """Read files until the time is up. Return how many are left."""
        left = 0
        try:
            for done, facts in enumerate(self._reading.read(paths), 1):
                self._write(facts)
                if done % COMMIT == 0:
                    self._connection.commit()
                if time.monotonic() > end:
                    left = len(paths) - done
                    break
        except BaseException:
            self._connection.rollback()
            raise
        self._connection.commit()
        return left

    def _write(self, facts: FileFacts) -> None:
        known = self._known.get(facts.path)
        stamp = facts.stamp if max(facts.stamp.mtime, facts.stamp.ctime) < time.time_ns() - RECENT else UNSURE
        values = (facts.stamp.size, stamp.mtime, stamp.ctime, stamp.inode, facts.leaf)
        if known:
            update = "update _files set size = ?, mtime = ?, ctime = ?, inode = ?, leaf = ? where id = ?"
            self._connection.execute(update, (*values, known.id))
        if facts.batches is None:
            return
        if known:
            self._writer.forget(known.id)
        self._writer.write(known.id if known else self._added(facts.path, values), facts.batches)

    def _added(self, path: str, values: tuple[object, ...]) -> int:
        folder, name = split(path)
        row = (path, name, folder, suffix(name), is_test(path), *values)
        insert = "insert into _files values (null, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        return self._connection.execute(insert, row).lastrowid or 0

    def _name(self, left: int) -> None:
        leaves = dict(self._connection.execute("select path, leaf from _files"))
        with self._connection:
            self._connection.executemany("insert into _folders values (?, ?)", folder_hashes(leaves).items())
            self._connection.execute("update _state set left = ?", (left,))


def root_hash(connection: sqlite3.Connection) -> bytes:
    """Return the hash of the present state; empty if a refresh is under way or broke off."""
    row = connection.execute("select hash from _folders where path = ?", (ROOT,)).fetchone()
    return row[0] if row else b""
