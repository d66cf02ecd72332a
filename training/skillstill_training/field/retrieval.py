"""Places for a text without a model: BM25 over pieces of a workspace, each with its place.

The library is bm25s (Lù 2024, arXiv 2407.03618), with its default k1 1.5 and b 0.75.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillstill.errors import Refusal, StageError
from skillstill.tools.tables.catalogue import Table, read_catalogue
from skillstill.workspace import Workspace

from skillstill_training.authoring.reading import (
    LogEntry,
    column_names,
    language_of,
    load_tables,
    quoted_name,
    read_logs,
    symbols,
)
from skillstill_training.field.judge import FieldAnswer
from skillstill_training.workspaces import tree

WINDOW = 40  # lines of a window over a file without definitions
BINARY = 8_000  # bytes in which a binary file has a NUL
FORM = 60  # characters of a value
LONGEST = 120  # lines of a piece: a longer definition is known by its first
SAMPLES = 20  # values of a column that its piece holds
LINES, WIDTH = 14, 140  # of an excerpt: lines, characters of each
TOP = 5
WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a workspace: its place, and the text that is searched."""

    place: str
    text: str

    @property
    def excerpt(self) -> str:
        """Return its first lines, as they are shown and handed over."""
        return "\n".join(line[:WIDTH] for line in self.text.splitlines()[:LINES])


def handed_over(text: str, pieces: Sequence[Piece]) -> FieldAnswer:
    """Return a hand-over with these pieces as its leads."""
    places, quoted = tuple(piece.place for piece in pieces), tuple(piece.excerpt for piece in pieces)
    return FieldAnswer(status="escalate", text=text, leads=places, quoted=quoted)


Reader = Callable[[Path], Sequence[Piece]]


def _bm25() -> Any:
    try:
        from bm25s import BM25
    except ImportError as error:
        raise StageError("the retrieval arm needs bm25s: type `pip install 'skillstill[goals]'`") from error
    return BM25()


class Retrieval:
    """BM25 over the pieces of one workspace."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces
        self._index = _bm25()
        if pieces:
            self._index.index([words_of(piece.text) for piece in pieces], show_progress=False)

    def best(self, text: str, count: int = TOP) -> Sequence[Piece]:
        """Return the pieces most like the text, the best first."""
        if not self.pieces:
            return ()
        count = min(count, len(self.pieces))
        found, _ = self._index.retrieve([words_of(text)], k=count, show_progress=False)
        return [self.pieces[at] for at in found[0]]


def words_of(text: str) -> list[str]:
    """Return the words of a text and of the identifiers in it: `maxRetries` and `max_retries` are two words each."""
    return [word.casefold() for word in WORD.findall(text)] or [""]


def code_pieces(root: Path) -> Sequence[Piece]:
    """Return a piece for each definition, and windows over the files that have none."""
    return [piece for name in tree.files(root) for piece in _pieces_of_source(root, name)]


def log_pieces(root: Path) -> Sequence[Piece]:
    """Return a piece for each log entry, and one for each line of the files that are not read as logs."""
    entries = _log_entries(root)
    read = {entry.path for entry in entries}
    unread = [piece for name in tree.files(root) if name not in read for piece in _windows(root, name, 1)]
    return [Piece(f"{one.path}:{one.first}-{one.last}", f"{one.path} {one.text}") for one in entries] + unread


def table_pieces(root: Path) -> Sequence[Piece]:
    """Return a piece for each column of each table: its names and some of its values. Raise Refusal."""
    with closing(sqlite3.connect("file::memory:", uri=True)) as database:
        load_tables(database, root)
        return [piece for table in tables_under(root) for piece in _pieces_of_table(database, table)]


def tables_under(root: Path) -> Sequence[Table]:
    """Return the tables of the databases and CSV files of a folder."""
    return read_catalogue(Workspace(root), list(tree.files(root)), lambda: None).tables


def table_place(table: Table) -> str:
    """Return `file.csv`, or `file.db:table`."""
    return table.path if table.is_delimited else f"{table.path}:{table.inner}"


def _log_entries(root: Path) -> Sequence[LogEntry]:
    try:
        return read_logs(root).entries
    except Refusal:
        return ()


def _pieces_of_source(root: Path, name: str) -> Iterator[Piece]:
    language = language_of(name)
    found = symbols((root / name).read_bytes(), language) if language else ()
    if not found:
        yield from _windows(root, name, WINDOW)
        return
    lines = _lines(root / name)
    for symbol in found:
        body = lines[symbol.line - 1 : min(symbol.end, symbol.line + LONGEST)]
        yield Piece(f"{name}:{symbol.line}-{symbol.end}", "\n".join([name, symbol.name, *body]))


def _windows(root: Path, name: str, size: int) -> Iterator[Piece]:
    lines = _lines(root / name)
    for first in range(0, len(lines), size):
        part = lines[first : first + size]
        yield Piece(f"{name}:{first + 1}-{first + len(part)}", "\n".join([name, *part]))


def _lines(file: Path) -> Sequence[str]:
    """Return the lines of a text; none of a binary file."""
    data = file.read_bytes()
    return () if b"\0" in data[:BINARY] else data.decode("utf-8", "replace").splitlines()


def _pieces_of_table(database: sqlite3.Connection, table: Table) -> Iterator[Piece]:
    between = ":" if table.is_delimited else "."
    for column in column_names(database, table.name):
        query = f"select distinct {quoted_name(column)} from {quoted_name(table.name)} limit {SAMPLES}"  # noqa: S608
        values = (str(value)[:FORM] for (value,) in database.execute(query) if value is not None)
        yield Piece(f"{table_place(table)}{between}{column}", " ".join([table.name, column, *values]))
