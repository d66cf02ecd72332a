"""One refresh of an index: find what changed, read it, and name the new state."""

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from skillstill.facts.files import Stamp, is_test, stamps, suffix
from skillstill.facts.folder import FolderRefreshing
from skillstill.facts.parsing import Batch
from skillstill.facts.reader import FolderReader, Reader
from skillstill.facts.reading import FileFacts, FileReaders, FileReading
from skillstill.facts.rows import RowWriter
from skillstill.facts.tree import ROOT, Tree, split

COMMIT = 64  # files after which what was read is safe from a crash
UNSURE = Stamp(-1, -1, -1, -1)  # equals no file's: the next refresh looks at the content again

Told = Callable[[int, int], None]  # how many files of how many are read


@dataclass(frozen=True, slots=True)
class Refresh:
    """What a refresh did, in numbers of files. `root` is the hash of the state; `left` files are no part of it."""

    root: bytes
    files: int
    read: int
    removed: int
    left: int
    seconds: float


class Known(NamedTuple):
    """A file that has been read: its number, and its stamp and hash at that time."""

    id: int
    stamp: Stamp
    leaf: bytes


class State:
    """What an index knows of the files, held in memory from one refresh to the next."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        rows = connection.execute("select path, id, size, mtime, ctime, inode, leaf from _files where name is not null")
        self.files = {path: Known(number, Stamp(*stamp), leaf) for path, number, *stamp, leaf in rows}
        self.tree = Tree({path: known.leaf for path, known in self.files.items()})

    def put(self, path: str, known: Known) -> None:
        before = self.files.get(path)
        self.files[path] = known
        if before is None or before.leaf != known.leaf:
            self.tree.put(path, known.leaf)

    def remove(self, path: str) -> None:
        del self.files[path]
        self.tree.remove(path)


class Refreshing:
    """A refresh of an index that nobody else writes meanwhile. If it fails, the state is of no more use."""

    def __init__(
        self,
        root: Path,
        connection: sqlite3.Connection,
        readers: Sequence[Reader],
        files: FileReaders,
        state: State,
        told: Told,
    ) -> None:
        self._root, self._connection, self._readers = root, connection, readers
        self._start = time.monotonic()
        folders = [reader for reader in readers if isinstance(reader, FolderReader)]
        self._folders = [FolderRefreshing(root, connection, lambda: self._writer, reader) for reader in folders]
        self._state, self._told = state, told
        self._reading = FileReading(root, files, state.files)

    @cached_property
    def _writer(self) -> RowWriter:
        return RowWriter(self._connection, [table for reader in self._readers for table in reader.tables])

    def run(self, paths: Sequence[str], seconds: float, most: int) -> Refresh:
        """Bring the index to the state of these files.

        What there is no time for is left, and what is more than `most` bytes together, the largest files first.
        """
        listed = dict(stamps(self._root, paths))
        known = self._state.files
        stale = [path for path, stamp in listed.items() if path not in known or known[path].stamp != stamp]
        gone = [path for path in known if path not in listed]
        left, end = 0, self._start + seconds
        grown = [folder.run(end) for folder in self._folders]
        if stale or gone or any(grown) or not root_hash(self._connection):
            with self._connection:  # no state has a name until this one is whole
                self._connection.execute("delete from _folders where path = ?", (ROOT,))
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

    def _remove(self, path: str) -> None:
        file = self._state.files[path].id
        self._writer.forget(file)
        self._connection.execute("delete from _files where id = ?", (file,))
        self._state.remove(path)

    def _read(self, paths: Sequence[str], end: float) -> int:
        """Read files until the time is up. Return how many are left."""
        left = 0
        try:
            for done, facts in enumerate(self._reading.read(paths), 1):
                self._write(facts, partial(self._told, done - 1, len(paths)))
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

    def _write(self, facts: FileFacts, tell: Callable[[], None]) -> None:
        known = self._state.files.get(facts.path)
        stamp = facts.stamp if facts.stamp.is_settled else UNSURE
        values = (facts.stamp.size, stamp.mtime, stamp.ctime, stamp.inode, facts.leaf)
        if known:
            update = "update _files set size = ?, mtime = ?, ctime = ?, inode = ?, leaf = ? where id = ?"
            self._connection.execute(update, (*values, known.id))
            if facts.batches is not None:
                self._writer.forget(known.id)
        number = known.id if known else self._added(facts.path, values)
        self._state.put(facts.path, Known(number, stamp._replace(size=facts.stamp.size), facts.leaf))
        if facts.batches is not None:
            self._writer.write(number, _each_told(facts.batches, tell))

    def _added(self, path: str, values: tuple[object, ...]) -> int:
        folder, name = split(path)
        row = (path, name, folder, suffix(name), is_test(path), *values)
        insert = "insert into _files values (null, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        return self._connection.execute(insert, row).lastrowid or 0

    def _name(self, left: int) -> None:
        tree = self._state.tree
        for path, leaf in self._connection.execute("select path, leaf from _files where name is null"):
            tree.put(path, leaf)
        hashes = tree.rehash()
        with self._connection:
            if hashes.keys() >= tree.hashes.keys():  # what a refresh that failed has left is none of them
                self._connection.execute("delete from _folders")
            gone = [(path,) for path, made in hashes.items() if made is None]
            self._connection.executemany("delete from _folders where path = ?", gone)
            made = [(path, made) for path, made in hashes.items() if made is not None]
            self._connection.executemany("insert or replace into _folders values (?, ?)", made)
            self._connection.execute("update _state set left = ?", (left,))


def _each_told(batches: Iterable[Batch], tell: Callable[[], None]) -> Iterator[Batch]:
    """Yield the batches of a file. A large one may take minutes."""
    for batch in batches:
        tell()
        yield batch


def root_hash(connection: sqlite3.Connection) -> bytes:
    """Return the hash of the present state; empty if a refresh is under way or broke off."""
    row = connection.execute("select hash from _folders where path = ?", (ROOT,)).fetchone()
    return row[0] if row else b""
