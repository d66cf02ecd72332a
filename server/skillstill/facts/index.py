"""The index of a workspace: its facts in SQLite, kept fresh at the cost of what changed.

A refresh compares the stamp of each file with that of its last reading, reads what differs, and takes from the leaves
what was read before in any workspace. Several processes share an index: one refreshes it, the others wait.
"""

import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from threading import Lock

from skillstill.errors import SkillstillError
from skillstill.facts.ask import KEPT, FactAsker, FactRows
from skillstill.facts.home import alone, index_file, mark_used, prune
from skillstill.facts.leaves import LeafStore, connect, remove_database
from skillstill.facts.reading import FileReaders
from skillstill.facts.refreshing import Refresh, Refreshing, root_hash
from skillstill.facts.schema import FILES, LAYOUT, is_created, statements
from skillstill.facts.table import FactTable
from skillstill.facts.worker import load_readers

PROCESSES = min(4, os.cpu_count() or 1)
SECONDS = 120.0  # of a refresh; what is left then, the next one reads


class FactIndex:
    """The facts of one folder. Without a `home` they are in memory, and nothing is written anywhere.

    Any thread may use it, one at a time.
    """

    def __init__(self, root: Path, references: Sequence[str], home: Path | None, processes: int = PROCESSES) -> None:
        """Open the index, or begin one. Raise SkillstillError if its folder cannot be written."""
        self.root = root
        self.readers = load_readers(references)
        self.tables: tuple[FactTable, ...] = tuple(table for reader in self.readers for table in reader.tables)
        self._home, self._lock = home, Lock()
        try:
            self._leaves = LeafStore(home) if home else None
            self._file_readers = FileReaders(references, self.readers, processes, self._leaves)
            self._file = index_file(home, root, f"{LAYOUT}\n{self._file_readers.versions}") if home else None
            self._connect(self._opened())
        except (OSError, sqlite3.OperationalError) as error:
            raise SkillstillError(f"the index folder {home} cannot be used ({error}): try --no-index") from error

    def refresh(self, paths: Iterable[str], seconds: float = SECONDS) -> Refresh:
        """Read what changed among the files of these paths, and forget all others. Raise SkillstillError."""
        listed = [*paths]
        with self._alone():
            try:
                return self._refreshed(listed, seconds)
            except sqlite3.OperationalError as error:
                raise SkillstillError(f"the index of {self.root} cannot be written ({error})") from error
            except sqlite3.DatabaseError:  # damaged
                self._begin_anew()
                return self._refreshed(listed, seconds)

    def ask(self, query: str, kept: int = KEPT) -> FactRows:
        """Return the rows of one SELECT over the present state. Raise Refusal, in words for a model."""
        if root_hash(self.connection):
            return self._asked(query, kept)
        with self._alone():  # another process refreshes it
            return self._asked(query, kept)

    def _asked(self, query: str, kept: int) -> FactRows:
        self.connection.execute("begin")  # all that is asked is asked of one state
        try:
            return self._asker.ask(query, kept)
        finally:
            self.connection.rollback()

    def close(self) -> None:
        """End the worker processes and close the files."""
        self._file_readers.close()
        self.connection.close()
        if self._leaves:
            self._leaves.prune()
            self._leaves.close()
        if self._home and self._file:
            prune(self._home, self._file)

    def _connect(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._asker = FactAsker(connection, self.root, (FILES, *self.tables))

    def _refreshed(self, listed: Sequence[str], seconds: float) -> Refresh:
        return Refreshing(self.root, self.connection, self.tables, self._file_readers).run(listed, seconds)

    def _alone(self) -> AbstractContextManager[object]:
        return alone(self._file) if self._file else self._lock

    def _opened(self) -> sqlite3.Connection:
        if self._file is None:
            connection = sqlite3.connect(":memory:", check_same_thread=False)
            self._create(connection)
        else:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with alone(self._file):
                connection = _sound(self._file)
                self._create(connection)
            mark_used(self._file)
        return connection

    def _create(self, connection: sqlite3.Connection) -> None:
        if not is_created(connection):
            with connection:
                connection.execute("begin")
                for statement in statements(self.tables):
                    connection.execute(statement)

    def _begin_anew(self) -> None:
        """Replace a damaged index by an empty one. The lock is held already."""
        assert self._file
        with closing(self.connection):
            remove_database(self._file)
        self._connect(connect(self._file))
        self._create(self.connection)


def _sound(file: Path) -> sqlite3.Connection:
    """Open an index, an empty one if it is damaged."""
    connection = connect(file) if _is_sound(file) else None
    if connection is None:
        remove_database(file)
        connection = connect(file)
    return connection


def _is_sound(file: Path) -> bool:
    try:
        with closing(connect(file)) as connection:
            return bool(connection.execute("pragma quick_check(1)").fetchone() == ("ok",))
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        return False
