"""What a reader is: it turns one file into rows, and says what it could not read.

A reader depends on nothing but a file's name and bytes. So files of equal content share their rows, also between two
checkouts, and a file that has not changed is never read again.
"""

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol, runtime_checkable

from skillstill.facts.table import FactTable, Row

ALL_OF = "@"  # before a reader's name, in place of a table: all of its tables
HEAD = 8_192  # bytes by which readers tell whether a file is theirs


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that is not among the rows though the file may hold it. Each result that it touches repeats it.

    table     the table whose rows are missing; empty: all tables of the reader
    column    the column that is empty; empty: whole rows
    reason    in a few words, the same for like files, as they are counted: "JavaScript declares no types"
    """

    reason: str
    table: str = ""
    column: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Some rows of a file by table, and gaps. A reader yields one of them, or many if the file is large."""

    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A file as a reader gets it: the last part of its path, its size in bytes, and a stream at its beginning."""

    name: str
    size: int
    stream: BinaryIO

    def whole(self, limit: int) -> bytes:
        """Return all bytes. Raise Unreadable if there are more than `limit`."""
        if self.size > limit:
            raise Unreadable(f"larger than {limit // 1_000_000} MB")
        return self.stream.read()


class Unreadable(Exception):
    """A reader cannot read a file; the text is the reason of the gap, in a few words."""


class Reader(Protocol):
    """Rows of one sort of file.

    version   raised whenever the same bytes give other rows: what was read before is read again
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int: ...

    @property
    def tables(self) -> tuple[FactTable, ...]: ...

    def takes(self, name: str, head: bytes) -> bool:
        """Return whether the file is of the reader's sort, by its name and first HEAD bytes."""
        ...

    def read(self, source: Source) -> Iterator[Facts]:
        """Yield the rows of a file in their order. Raise Unreadable; any other error becomes a gap, too."""
        ...


@runtime_checkable
class TableReader(Reader, Protocol):
    """A reader of files that hold tables of their own, beside what it tells of them."""

    def copy(self, source: Source, connection: sqlite3.Connection) -> None:
        """Copy the tables of a file into a database. Raise Unreadable."""
        ...


@runtime_checkable
class FolderReader(Reader, Protocol):
    """Rows of a folder as a whole, such as its history. Of files it takes none.

    grows     what stands for the folder as the path of rows that stay; the first column of the first table is their key
    changes   what stands for it as the path of rows that are read anew each time
    """

    @property
    def grows(self) -> str: ...

    @property
    def changes(self) -> str: ...

    def state(self, root: Path) -> str:
        """Return a text that differs whenever there are other rows."""
        ...

    def keys(self, root: Path) -> Collection[str]:
        """Return the keys of all rows that stay."""
        ...

    def read_since(self, root: Path, known: Collection[str]) -> Iterator[Facts]:
        """Yield first the rows that change, then in batches those whose keys are not known."""
        ...
