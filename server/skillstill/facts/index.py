"""The index of a workspace: its facts in SQLite, kept fresh at the cost of what changed.

It is asked in memory and kept in a store. A refresh compares the stamp of each file with that of its last reading,
reads what differs, and takes from the store what was read before. Several processes share a store: one refreshes its
index, the others wait and find the work done.
"""

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from skillstill.errors import SkillstillError
from skillstill.facts.ask import KEPT, FactAsker, FactRows
from skillstill.facts.data_tables import DataTables
from skillstill.facts.home import alone, index_file, mark_used, prune
from skillstill.facts.hot import create_hot, image_of, load_hot, size_of, warm
from skillstill.facts.reading import FileReaders
from skillstill.facts.refreshing import Refresh, Refreshing, State, Told, root_hash
from skillstill.facts.schema import FILES, LAYOUT
from skillstill.facts.store import Store, find_alike
from skillstill.facts.table import FactTable
from skillstill.facts.worker import load_readers

if TYPE_CHECKING:
    from skillstill.facts.locate.places import Locator, Place
    from skillstill.facts.locate.unknown import UnknownWord

PROCESSES = min(4, os.cpu_count() or 1)
SECONDS = 120.0  # of a refresh; what is left then, the next one reads
MOST_BYTES = 20_000_000_000  # of a refresh
LIKELIEST = 5  # places that are shown for a text
OFTEN = 10  # questions after which it is worth a second to make look-ups fast
FEW, SHARE = 50, 20  # files, and the part of all files, that are left to the journal before a snapshot is made


class FactIndex:
    """The facts of one folder. Without a `home` nothing is written anywhere. Several threads may use it."""

    def __init__(
        self,
        root: Path,
        references: Sequence[str],
        home: Path | None = None,
        *,
        processes: int = PROCESSES,
    ) -> None:
        """Open the index. Raise SkillstillError if its folder cannot be written."""
        self.root = root
        self.readers = load_readers(references)
        self.tables: tuple[FactTable, ...] = tuple(table for reader in self.readers for table in reader.tables)
        versions = "\n".join((str(LAYOUT), *(f"{reader.name} {reader.version}" for reader in self.readers)))
        self._home, self._lock = home, RLock()
        self._file = index_file(home, root, versions) if home else None
        with self._as_ours():
            self._store = Store(self._file) if self._file else None
        self._readers = FileReaders(references, versions, processes, self._store)
        self._unsaved = self._asked = self.size = 0  # the size is in bytes, after the last refresh
        self._is_warm = False
        self._locator: tuple[bytes, Locator] | None = None  # with the state that it knows
        self._state: State | None = None
        self._connect(create_hot(self.tables))

    def refresh(
        self,
        paths: Iterable[str],
        seconds: float = SECONDS,
        most: int = MOST_BYTES,
        told: Told = lambda done, of: None,
    ) -> Refresh:
        """Read what changed among the files of these paths, at most so many bytes, and forget all others.

        `told` hears now and then how many files of how many are read. Raise SkillstillError.
        """
        listed = [*paths]
        with self._lock, self._as_ours(), self._alone():
            self._load(listed)
            state, self._state = self._state or State(self.connection), None  # it is kept if all goes well
            refreshing = Refreshing(self.root, self.connection, self.readers, self._readers, state, told)
            done = refreshing.run(listed, seconds, most)
            self._state = state
            self.size = size_of(self.connection)
            self._unsaved += done.read + done.removed
            if self._unsaved > max(FEW, done.files // SHARE):
                self._save(listed)
        return done

    def ask(self, query: str, kept: int = KEPT) -> FactRows:
        """Return the rows of one SELECT. Raise Refusal, in words for a model."""
        with self._lock:
            self._count_question(self._compares(query))
            return self._asker.ask(query, kept)

    def _count_question(self, needs_look_ups: bool = False) -> None:
        """Make look-ups fast once it is worth it."""
        self._asked += 1
        if not self._is_warm and (self._asked >= OFTEN or needs_look_ups):
            warm(self.connection, self.tables)
            self._is_warm = True

    def _compares(self, query: str) -> bool:
        """Return whether a query reads more than one table: without look-ups, each row would go through all others."""
        tables = {table.name: 1 + bool(table.made_of) for table in self.tables}
        return sum(tables.get(word, 0) for word in re.findall(r"\w+", query.lower())) > 1

    def locate(self, text: str, count: int = LIKELIEST) -> "Sequence[Place]":
        """Return the likeliest places for a text, the likeliest first. The reader of words is needed."""
        with self._lock:
            self._count_question()
            return self._located().places(text, count)

    def unknown_words(self, text: str) -> "Sequence[UnknownWord]":
        """Return the words of a question that no file has. The reader of words is needed."""
        with self._lock:
            return self._located().unknown_words(text)

    def _located(self) -> "Locator":
        from skillstill.facts.locate.indexed import IndexedCorpus  # with numpy: others need not wait for it
        from skillstill.facts.locate.places import Locator

        state = root_hash(self.connection)
        if self._locator is None or self._locator[0] != state:
            self._locator = (state, Locator(IndexedCorpus(self.connection, self.root)))
        return self._locator[1]

    def rest(self) -> None:
        """End the worker processes unless they are at work. The next file that changes starts others."""
        if self._lock.acquire(blocking=False):
            try:
                self._readers.close()
            finally:
                self._lock.release()

    def close(self) -> None:
        """End the worker processes and close the files."""
        self._readers.close()
        self.connection.close()
        self._data.close()
        if self._store and self._home and self._file:
            self._store.close()
            prune(self._home, self._file)

    def _load(self, paths: Sequence[str]) -> None:
        """Begin with the last snapshot, or with that of another checkout, unless there are facts already."""
        if self._store is None or self._file is None or self.connection.execute("select 1 from _files").fetchone():
            return
        mark_used(self._file)
        image = self._store.load() or _load_alike(self._file, paths)
        if image and (hot := load_hot(image, self._file.parent)):
            self.connection.close()
            self._connect(hot)

    def _save(self, paths: Sequence[str]) -> None:
        if self._store:
            self._store.save(image_of(self.connection, self.tables), paths)
        self._unsaved = 0

    def _connect(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._locator = self._state = None
        self._data = DataTables(self.root, self._readers, self._home, [table.name for table in (FILES, *self.tables)])
        self._asker = FactAsker(connection, self.root, self.readers, self._data)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other process refresh this index meanwhile."""
        if self._file is None:
            yield
        else:
            with alone(self._file):
                yield

    @contextmanager
    def _as_ours(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise SkillstillError(
                f"the index of {self.root} cannot be kept in {self._home} ({error}): try --no-index"
            ) from error


def _load_alike(file: Path, paths: Sequence[str]) -> bytes | None:
    alike = find_alike(file, paths)
    if alike is None:
        return None
    store = Store(alike)
    try:
        return store.load()
    finally:
        store.close()
