"""Delimited texts as sheets, in bounded memory: CSV and its relatives."""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import BinaryIO

from skillstill.facts.reader import Gap, Source, Unreadable
from skillstill.facts.readers.data.dialect import MAX_CELL, Dialect, infer_dialect
from skillstill.facts.readers.data.encoding import find_encoding
from skillstill.facts.readers.data.formats import POINTER
from skillstill.facts.readers.data.grid import Grid, Row, sheet_of
from skillstill.facts.readers.data.sheet import Sheet

SNIFFED = 400  # lines by which the dialect is found
SNIFFED_SIZE = 100_000  # characters of them
DELIMITERS = {"\t": "tab", "|": "pipe", ";": "semicolon", " ": "blank", ":": "colon"}


@dataclass(frozen=True, slots=True)
class DelimitedFile:
    """A delimited text and how it is written."""

    stream: BinaryIO
    encoding: str
    ending: str
    dialect: Dialect
    skipped: int = 0  # lines before all others that only name the delimiter

    def rows(self) -> Iterator[tuple[int, Row]]:
        """Yield the line at which each row begins, and its cells. Raise Unreadable if a row has no end."""
        with self._lines() as lines:
            reader = self.dialect.rows(lines)
            begin = 1 + self.skipped
            try:
                for row in reader:
                    yield begin, row
                    begin = reader.line_num + 1 + self.skipped
            except csv.Error as error:
                raise Unreadable(f"no readable CSV: {error}") from error

    @contextmanager
    def _lines(self) -> Iterator[Iterator[str]]:
        self.stream.seek(0)
        text = io.TextIOWrapper(self.stream, self.encoding, "replace", newline=self.ending)
        try:
            yield islice(read_lines(text), self.skipped, None)
        finally:
            text.detach()


def read_lines(text: io.TextIOWrapper) -> Iterator[str]:
    """Yield the lines, each ended by one line feed, without NUL. Raise Unreadable if one is too long."""
    while line := text.readline(MAX_CELL):
        if len(line) >= MAX_CELL:
            raise Unreadable(f"a line is longer than {MAX_CELL // 1_000_000} MB")
        if "\r" in line:
            line = line.rstrip("\r\n").replace("\r", " ") + "\n"
        yield line.replace("\0", "") if "\0" in line else line


def read_delimited(source: Source, name: str) -> Sheet:
    """Return the sheet of a delimited text. Raise Unreadable if there is none."""
    if source.stream.read(len(POINTER)) == POINTER:
        raise Unreadable("a pointer of Git LFS: the file itself is not here")
    source.stream.seek(0)
    encoding, damage = find_encoding(source.stream)
    file = _open(source.stream, encoding)
    gaps = (Gap("some letters are damaged"),) if damage else ()
    return sheet_of(Grid(name, file.rows, "_line", file.dialect.delimiter, findings=(*_of_dialect(file),), gaps=gaps))


def _open(stream: BinaryIO, encoding: str) -> DelimitedFile:
    """Return the file with the dialect that its first lines show."""
    stream.seek(0)
    head = io.TextIOWrapper(stream, encoding, "replace", newline="")
    sample = head.read(SNIFFED_SIZE)
    head.detach()
    ending = "\n" if "\n" in sample or "\r" not in sample else "\r"
    lines = [f"{line.rstrip(chr(13))}\n" for line in sample.split(ending)[:SNIFFED]]
    if len(sample) == SNIFFED_SIZE and len(lines) > 1 and len(lines) < SNIFFED:
        lines.pop()  # the end of a sample is no end of a line
    first = lines[0].strip().lower() if lines else ""
    if first.startswith("sep=") and len(first) == len("sep=;"):  # as Excel writes it
        dialect = replace(infer_dialect(lines[1:]), delimiter=first[-1])
        return DelimitedFile(stream, encoding, ending, dialect, skipped=1)
    return DelimitedFile(stream, encoding, ending, infer_dialect(lines))


def _of_dialect(file: DelimitedFile) -> Iterator[str]:
    delimiter, quote = file.dialect.delimiter, file.dialect.quote
    if delimiter != ",":
        yield f"delimiter {DELIMITERS.get(delimiter, delimiter)}"
    if quote == "'":
        yield "single quotes"
    if file.encoding not in ("utf-8", "utf-8-sig"):
        yield f"encoding {file.encoding}"
