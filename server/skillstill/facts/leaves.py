"""What readers found in files, by content: compressed, shared by all workspaces, and forgotten if it is not used.

Two checkouts, two branches, or a file that comes back cost one reading. Nothing here says where a file lay.
"""

import json
import sqlite3
import time
import zlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from skillstill.facts.parsing import Batch

FILE = "leaves.sqlite"
CAP = 1_000_000_000  # bytes of all leaves
DAY = 86_400
WAIT = 30.0  # seconds for another process that writes
PRUNED = 0.8  # of the cap that is left after pruning


class LeafStore:
    """A file of leaves. A damaged one is begun anew: everything in it can be read again."""

    def __init__(self, folder: Path, cap: int = CAP) -> None:
        self._file, self._cap = folder / FILE, cap
        try:
            self._connection = self._opened()
        except sqlite3.DatabaseError:
            remove_database(self._file)
            self._connection = self._opened()

    def get(self, keys: Sequence[bytes]) -> Mapping[bytes, Sequence[Batch]]:
        """Return the batches of those keys that are here."""
        found: dict[bytes, Sequence[Batch]] = {}
        try:
            for key in keys:
                row = self._connection.execute("select data from leaves where key = ?", (key,)).fetchone()
                if row:
                    found[key] = _unpacked(row[0])
            with self._connection:
                today = int(time.time() / DAY)
                touched = ((today, key, today) for key in found)
                self._connection.executemany("update leaves set day = ? where key = ? and day < ?", touched)
        except (sqlite3.DatabaseError, zlib.error, ValueError):
            self._begin_anew()
            return {}
        return found

    def put(self, leaves: Mapping[bytes, Sequence[Batch]]) -> None:
        """Keep the batches of these keys."""
        today = int(time.time() / DAY)
        rows = [(key, today, data, len(data)) for key, data in ((key, _packed(one)) for key, one in leaves.items())]
        try:
            with self._connection:
                self._connection.executemany("insert or replace into leaves values (?, ?, ?, ?)", rows)
        except sqlite3.DatabaseError:
            self._begin_anew()

    def prune(self) -> None:
        """Forget what was used longest ago, if all is more than the cap."""
        (size,) = self._connection.execute("select coalesce(sum(size), 0) from leaves").fetchone()
        if size <= self._cap:
            return
        with self._connection:
            oldest = self._connection.execute("select key, size from leaves order by day").fetchall()
            gone = []
            for key, bytes_ in oldest:
                if size <= PRUNED * self._cap:
                    break
                gone.append((key,))
                size -= bytes_
            self._connection.executemany("delete from leaves where key = ?", gone)
        self._connection.execute("vacuum")

    def close(self) -> None:
        self._connection.close()

    def _opened(self) -> sqlite3.Connection:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = connect(self._file)
        try:
            connection.execute(
                "create table if not exists leaves (key blob primary key, day integer, data blob, size integer)"
            )
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return connection

    def _begin_anew(self) -> None:
        with closing(self._connection):
            remove_database(self._file)
        self._connection = self._opened()


def connect(file: Path) -> sqlite3.Connection:
    """Open a database that several processes share. A crash loses at most what was not committed."""
    connection = sqlite3.connect(file, timeout=WAIT, check_same_thread=False)
    file.chmod(0o600)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = normal")
    return connection


def remove_database(file: Path) -> None:
    """Remove a database with its journals."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)


def _packed(batches: Sequence[Batch]) -> bytes:
    values = [(batch.rows, batch.gaps) for batch in batches]
    return zlib.compress(json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def _unpacked(data: bytes) -> Sequence[Batch]:
    return [Batch(rows, gaps) for rows, gaps in json.loads(zlib.decompress(data))]
