"""What was imported, in one SQLite file: found by name, key and source; a source is replaced whole or not at all.

It is an index: what it holds can be imported again, so a damaged file is thrown away, never mended.
"""

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from skillstill.errors import UnknownName
from skillstill.library.catalogue import database, index
from skillstill.library.catalogue.embeddings import encoder
from skillstill.library.catalogue.passages import passage
from skillstill.library.catalogue.sources import unread
from skillstill.library.definition import Definition
from skillstill.util.storage import LIBRARY_FILE, library_folder
from skillstill.util.text import one_line

TERMS = ("allowed", "unclear", "forbidden")  # the order in which one of several alike is preferred
KEY = 8  # characters of a key that at least must be typed
CHOICES = 5  # named if a name is not enough


@dataclass(frozen=True, slots=True)
class Added:
    """How many definitions of a source are new, changed, as they were, and no longer there."""

    new: int = 0
    changed: int = 0
    known: int = 0
    gone: int = 0


class Catalogue:
    """The user's library; `folder` is where its file lies or will lie. Every method raises LibraryError."""

    def __init__(self, folder: Path | None = None) -> None:
        self.file = (folder or library_folder()) / LIBRARY_FILE
        self._read: tuple[int, index.Matrix] = (-1, index.Matrix())

    @property
    def exists(self) -> bool:
        """Return whether anything was ever imported. Cheap: asked for again and again."""
        return self.file.is_file()

    def add(
        self, definitions: Iterable[Definition], source: str, folders: Mapping[str, str] = MappingProxyType({})
    ) -> Added:
        """Keep what a source holds now, in place of what it held.

        `folders` are the hashes of its folders, each over all that lies below it. What was not delivered but lies in a
        folder whose hash is what it was before has not been read again, and stays; all else is gone.
        All or nothing: the old state stands until the last line is written.
        """
        delivered = {one.origin.path: one for one in definitions}  # read before anybody is kept from writing
        with database.writing(self.file) as connection:
            stored = _stored_definitions(connection, source)
            before = _folders(connection, source)
            kept = {path for path in stored.keys() - delivered.keys() if unread(path, before, folders)}
            gone = stored.keys() - delivered.keys() - kept
            _remove(connection, [stored[path][0] for path in gone])
            _write(connection, source, list(delivered.values()))
            _remember(connection, source, before, folders)
        old = {path: stored[path][1] for path in stored.keys() & delivered.keys()}
        same = sum(delivered[path].key == key for path, key in old.items())
        return Added(len(delivered) - len(old), len(old) - same, same + len(kept), len(gone))

    def folders(self, source: str) -> Mapping[str, str]:
        """Return the hashes of a source's folders as they were when it was last read."""
        with database.reading(self.file) as connection:
            return _folders(connection, source)

    def sources(self) -> Mapping[str, int]:
        """Return the sources, and how many definitions each has."""
        sql = "select source, count(*) from definition group by source order by source"
        with database.reading(self.file) as connection:
            return dict(connection.execute(sql).fetchall())

    def forget(self, source: str) -> int:
        """Drop all that came from a source; how many definitions that were."""
        with database.writing(self.file) as connection:
            numbers = [number for number, _ in _stored_definitions(connection, source).values()]
            _remove(connection, numbers)
            connection.execute("delete from folder where source = ?", (source,))
        return len(numbers)

    def definitions(self) -> Iterator[Definition]:
        """Yield all of them, by source and path."""
        with database.reading(self.file) as connection:
            for (packed,) in connection.execute("select packed from definition order by source, path"):
                yield unpack_definition(packed)

    def get(self, name_or_key: str) -> Definition:
        """Return the definition of that name, or of a key that begins so. Raise UnknownName, with the choices."""
        sql = (
            "select sha256, source, path, packed from definition"
            " where name = ?1 or (length(?1) >= ?2 and substr(sha256, 1, length(?1)) = ?1)"
            " order by terms, findings, source, path"
        )
        with database.reading(self.file) as connection:
            rows = connection.execute(sql, (name_or_key, KEY)).fetchall()
        keys = {key: f"{source}/{path}" for key, source, path, _ in reversed(rows)}
        if len(keys) != 1:
            raise UnknownName(_choices(name_or_key, dict(reversed(keys.items()))))
        return unpack_definition(rows[0][3])

    def matrix(self) -> index.Matrix:
        """Return the vectors of all definitions, those made up for that were indexed without an encoder."""
        with database.reading(self.file) as connection:
            generation = database.generation(connection)
            if self._read[0] == generation:
                return self._read[1]
            lacking = bool(index.without_vector(connection)) if (known := encoder()) else False
            found = index.matrix(connection)
        if lacking:
            with database.writing(self.file) as connection:
                index.put(connection, index.without_vector(connection), known)
                generation, found = database.generation(connection), index.matrix(connection)
        self._read = (generation, found)
        return found


def unpack_definition(packed: bytes) -> Definition:
    return Definition.model_validate_json(zlib.decompress(packed))


def _stored_definitions(connection: sqlite3.Connection, source: str) -> dict[str, tuple[int, str]]:
    """Return number and key of each definition of a source, by path."""
    sql = "select path, id, sha256 from definition where source = ?"
    return {path: (number, key) for path, number, key in connection.execute(sql, (source,))}


def _folders(connection: sqlite3.Connection, source: str) -> dict[str, str]:
    return dict(connection.execute("select path, sha256 from folder where source = ?", (source,)).fetchall())


def _remove(connection: sqlite3.Connection, numbers: Sequence[int]) -> None:
    connection.executemany("delete from definition where id = ?", [(number,) for number in numbers])
    index.drop(connection, numbers)


def _write(connection: sqlite3.Connection, source: str, definitions: Sequence[Definition]) -> None:
    sql = (
        "insert into definition (source, path, name, kind, sha256, terms, findings, packed)"
        " values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (source, path) do update set"
        " name = excluded.name, kind = excluded.kind, sha256 = excluded.sha256, terms = excluded.terms,"
        " findings = excluded.findings, packed = excluded.packed returning id"
    )
    numbers = [connection.execute(sql, _row(source, one)).fetchone()[0] for one in definitions]
    index.put(connection, list(zip(numbers, map(passage, definitions), strict=True)), encoder())


def _row(source: str, one: Definition) -> tuple[object, ...]:
    packed = zlib.compress(one.model_dump_json().encode(), 1)
    terms = TERMS.index(one.licence.derived_works)
    return source, one.origin.path, one.name, one.kind, one.key, terms, len(one.findings), packed


def _remember(
    connection: sqlite3.Connection, source: str, before: Mapping[str, str], folders: Mapping[str, str]
) -> None:
    """Write the folders as they are now; those inside a folder that was not read again stay as they were."""
    inside = {path: known for path, known in before.items() if path not in folders and unread(path, before, folders)}
    rows = [(source, path, known) for path, known in {**inside, **folders}.items()]
    connection.execute("delete from folder where source = ?", (source,))
    connection.executemany("insert into folder values (?, ?, ?)", rows)


def _choices(name: str, keys: Mapping[str, str]) -> str:
    if not keys:
        return f"no definition called {name[:64]!r} is in the library: `skillstill search` finds what is"
    named = ", ".join(f"{key[:12]} ({one_line(where, 100)})" for key, where in list(keys.items())[:CHOICES])
    more = ", ..." if len(keys) > CHOICES else ""
    return f"{len(keys)} definitions are called {name[:64]!r}; type the key of one of them: {named}{more}"
