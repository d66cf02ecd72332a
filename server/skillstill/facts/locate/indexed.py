"""A code base as its index has it."""

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from skillstill.facts.locate.corpus import Column, Definition, Entries, File, NamedFact, NamedLines, Use
from skillstill.facts.locate.history import COMMITS, Commit
from skillstill.facts.locate.postings import Postings
from skillstill.facts.reader import Source, Unreadable
from skillstill.facts.readers.logs.stream import open_bytes
from skillstill.facts.readers.words import LARGEST, LARGEST_LOG
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
# The names by which one would ask for the rows of a table, and where they stand. The rows of a file lie together.
FACTS = {
    "variables": ("w.text", "join _words as w on w.id = qualified", "value_size is not null"),
    "parameters": (
        "f.text || ' ' || w.text",
        "join _words as w on w.id = t.name join _words as f on f.id = function",
        "default_value is not null",
    ),
    "raises": ("w.text", "join _words as w on w.id = exception", "1"),
    "entry_points": ("t.name || ' ' || coalesce(w.text, '')", "left join _words as w on w.id = function", "1"),
    "settings": ("key", "", "1"),
    "dependencies": ("w.text", "join _words as w on w.id = t.name", "1"),
    "scripts": ("w.text", "join _words as w on w.id = t.name", "1"),
    "packages": ("w.text", "join _words as w on w.id = t.name", "1"),
}
TEXTUAL = re.compile(r"char|clob|text", re.IGNORECASE)  # types of columns: SQLite's own rule
KEPT = 1_000  # files whose definitions and facts are kept for the next questions
MOST_FACTS = 500  # rows of a file and table: with more it is data
SECTIONS = (
    "select _first, _first + _more, coalesce(parent, '') || ' ' || coalesce(title, '') from _sections where _file = ?"
)
# An entry is like another of its template and level.
ENTRIES = """
    select _first, _first + _more, coalesce(template * 2147483648 + coalesce(level, 0), 0), coalesce(time, '')
    from _entries where _file = ? order by _number
"""
TABLES = """
    select _file, _first, names.text, rows, columns, coalesce(about, '')
    from _data_tables join _words as names on names.id = table_name order by _file, _number
"""
COLUMNS = """
    select _file, _first, tables.text, names.text, coalesce(title, ''), coalesce(types.text, ''), minimum, maximum,
        coalesce(samples, '')
    from _data_columns join _words as tables on tables.id = table_name join _words as names on names.id = column_name
    left join _words as types on types.id = type order by _file, _number
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
        self._has_sections, self._has_entries = self._has("_sections"), self._has("_entries")
        self._fact_tables = [table for table in FACTS if self._has(f"_{table}")]
        self._entries: dict[int, Entries | None] = {}
        self._facts: dict[int, Sequence[NamedFact]] = {}
        self._defined: dict[int, Sequence[Definition]] = {}

    @cached_property
    def postings(self) -> Postings:
        parts: defaultdict[int, list[str]] = defaultdict(list)
        for file, packed in self._connection.execute("select _file, packed from _file_words order by _file, _number"):
            parts[file].append(packed)
        return Postings.of("".join(parts[number]) for number in self._ids)

    def definitions_named(self, name: str) -> Sequence[Definition]:
        return self._definitions("where names.text = ?", name)

    def definitions_in(self, file: int) -> Sequence[Definition]:
        if file not in self._defined:
            self._make_room()
            self._defined[file] = self._definitions("where _file = ?", self._ids[file])
        return self._defined[file]

    def uses_of(self, name: str) -> Sequence[Use]:
        if not self._has_code:
            return ()
        found = self._connection.execute(USES, (name,))
        return [Use(self._positions[file], len(json.loads(lines))) for file, lines in found]

    def text(self, file: int) -> str:
        """Return the text of a file as it is now, unpacked if it is packed; empty if it cannot be read."""
        path = self._root / self.files[file].path
        most = LARGEST_LOG if file in self._logs else LARGEST
        try:
            with open(path, "rb", opener=open_regular) as opened:
                unpacked = open_bytes(Source(path.name, self.files[file].size, opened))
                return unpacked.peek(most).decode("utf-8", "replace")
        except (OSError, Unreadable):
            return ""

    def facts_in(self, file: int) -> Sequence[NamedFact]:
        if file not in self._facts:
            self._make_room()
            self._facts[file] = [NamedFact(*row) for table in self._fact_tables for row in self._rows(table, file)]
        return self._facts[file]

    def _rows(self, table: str, file: int) -> Iterator[tuple[int, int, str]]:
        name, joins, condition = FACTS[table]
        query = f"select _first, _first + _more, {name} from _{table} as t {joins} where _file = ? and {condition}"  # noqa: S608
        yield from self._connection.execute(f"{query} limit ?", (self._ids[file], MOST_FACTS))

    def _make_room(self) -> None:
        """Forget what was kept of files if that is much."""
        if len(self._facts) + len(self._defined) > KEPT:
            self._facts.clear()
            self._defined.clear()

    def sections_in(self, file: int) -> Sequence[NamedLines]:
        if not self._has_sections:
            return ()
        return [NamedLines(*row) for row in self._connection.execute(SECTIONS, (self._ids[file],))]

    def logs(self) -> Sequence[int]:
        return self._logs

    @cached_property
    def _logs(self) -> Sequence[int]:
        if not self._has_entries:
            return ()
        return [self._positions[file] for (file,) in self._connection.execute("select _file from _log_files")]

    def entries_in(self, file: int) -> Entries | None:
        if not self._has_entries:
            return None
        if file not in self._entries:
            rows = self._connection.execute(ENTRIES, (self._ids[file],)).fetchall()
            firsts, lasts, templates = np.array([row[:3] for row in rows], dtype=np.int64).reshape(-1, 3).T
            self._entries[file] = Entries(firsts, lasts, templates, [row[3] for row in rows]) if rows else None
        return self._entries[file]

    def columns(self) -> Sequence[Column]:
        return self._columns

    @cached_property
    def _columns(self) -> Sequence[Column]:
        if not self._has("_data_columns"):
            return ()
        columns = [*map(self._column, self._connection.execute(COLUMNS))]
        return [*self._tables(columns), *columns]

    def _tables(self, columns: Sequence[Column]) -> Iterator[Column]:
        names: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
        for column in columns:
            names[column.file, column.table].append(column.name)
        for number, line, table, rows, count, about in self._connection.execute(TABLES):
            file = self._positions[number]
            listed = ", ".join(names[file, table])
            many = "" if rows is None else f"{rows:,} rows, "
            yield Column(file, line, table, "", f"{many}{count} columns: {listed}", f"{listed} {about}")

    def _column(self, row: Sequence[Any]) -> Column:
        number, line, table, name, title, kind, low, high, samples = row
        shown = [title if title != name else "", kind]
        shown.append(f"{low} to {high}" if low is not None and not TEXTUAL.search(kind or "") else "")
        shown.append(f"such as {samples}" if samples else "")
        about = ", ".join(part for part in shown if part)
        return Column(self._positions[number], line, table, name, about, f"{title} {samples}")

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
