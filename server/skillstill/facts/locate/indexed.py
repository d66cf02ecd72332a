"""A code base as its index has it."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from skillstill.facts.locate.corpus import Definition, File, Use
from skillstill.facts.locate.history import COMMITS, Commit
from skillstill.facts.locate.postings import Postings
from skillstill.facts.readers.words import LARGEST
from skillstill.util.storage import open_regular

NAMED = """
    select _file, _first, _first + _more, names.text, whole.text from _definitions
    join _words as names on names.id = name join _words as whole on whole.id = qualified
"""
NEWEST = """
    select short, subject, coalesce(body, '') from _commits where not is_merge order by time desc, number desc limit ?
"""
CHANGED = """
    select newest.short, text
    from (select short from _commits where not is_merge order by time desc, number desc limit ?) as newest
    join _changes on _changes.short = newest.short join _words on _words.id = changed_path
"""
USES = "select _file, lines from _uses join _words on _words.id = name where text = ?"


class IndexedCorpus:
    """The files of an index in one state of it. Without facts of code it has words alone."""

    def __init__(self, connection: sqlite3.Connection, root: Path) -> None:
        self._connection, self._root = connection, root
        rows = connection.execute("select id, path, size from _files where name is not null order by id").fetchall()
        self._positions: Mapping[int, int] = {number: at for at, (number, _, _) in enumerate(rows)}
        self.files: Sequence[File] = [File(path, size) for _, path, size in rows]
        self._ids = [number for number, _, _ in rows]
        self._has_code, self._has_history = self._has("_uses"), self._has("_commits")

    @cached_property
    def postings(self) -> Postings:
        parts: defaultdict[int, list[str]] = defaultdict(list)
        for file, packed in self._connection.execute("select _file, packed from _file_words order by _file, _number"):
            parts[file].append(packed)
        return Postings.of("".join(parts[number]) for number in self._ids)

    def definitions_named(self, name: str) -> Sequence[Definition]:
        return self._definitions("where names.text = ?", name)

    def definitions_in(self, file: int) -> Sequence[Definition]:
        return self._definitions("where _file = ?", self._ids[file])

    def uses_of(self, name: str) -> Sequence[Use]:
        if not self._has_code:
            return ()
        found = self._connection.execute(USES, (name,))
        return [Use(self._positions[file], len(json.loads(lines))) for file, lines in found]

    def text(self, file: int) -> str:
        """Return the text of a file as it is now; empty if it cannot be read."""
        try:
            with open(self._root / self.files[file].path, "rb", opener=open_regular) as opened:
                return opened.read(LARGEST).decode("utf-8", "replace")
        except OSError:
            return ""

    def commits(self) -> Sequence[Commit]:
        if not self._has_history:
            return ()
        changed: defaultdict[int, list[str]] = defaultdict(list)
        for short, path in self._connection.execute(CHANGED, (COMMITS,)):
            changed[short].append(path)
        at = {file.path: position for position, file in enumerate(self.files)}
        return [
            Commit(subject or "", body, [at[path] for path in changed[short] if path in at], len(changed[short]))
            for short, subject, body in self._connection.execute(NEWEST, (COMMITS,))
        ]

    def _has(self, table: str) -> bool:
        return bool(self._connection.execute("select 1 from sqlite_master where name = ?", (table,)).fetchone())

    def _definitions(self, condition: str, value: str | int) -> Sequence[Definition]:
        if not self._has_code:
            return ()
        found = self._connection.execute(f"{NAMED} {condition} order by _file, _number", (value,))
        return [Definition(self._positions[file], *row) for file, *row in found]
