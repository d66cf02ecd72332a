"""Delimited texts as sheets, in bounded memory: CSV and its relatives."""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import BinaryIO

from skillstill.facts.reader import Gap, Source, Unreadable
from skillstill.facts.readers.data.dialect import MAX_CELL, Dialect, infer_dialect
from skillstill.facts.readers.data.encoding import TextScan, scan_text
from skillstill.facts.readers.data.formats import POINTER
from skillstill.facts.readers.data.grid import Chunk, Grid, Row, sheet_of
from skillstill.facts.readers.data.sheet import Sheet

SNIFFED = 400  # lines by which the dialect is found
SNIFFED_SIZE = 100_000  # characters of them
FIRST_ROWS = 300  # of the first chunk, which shows the layout
CHUNK_CELLS = 50_000  # of the others
MOST_ROWS, FEWEST_ROWS = 5_000, 20
CHUNK_SIZE = 16_000_000  # bytes after which a chunk ends, looked at each STEP rows
STEP = 50
DAMAGED = Gap("some letters are damaged")
DELIMITERS = {"\t": "tab", "|": "pipe", ";": "semicolon", " ": "blank", ":": "colon"}


@dataclass(frozen=True, slots=True)
class DelimitedFile:
    """A delimited text and how it is written."""

    stream: BinaryIO
    scan: TextScan
    dialect: Dialect
    skipped: int = 0  # lines before all others that only name the delimiter

    def chunks(self) -> Iterator[Chunk]:
        """Yield some rows at a time, with the lines where they begin. Raise Unreadable if a row has no end."""
        with self._lines() as lines:
            reader = self.dialect.rows(lines)
            begin, size = 1 + self.skipped, FIRST_ROWS
            try:
                while rows := self._some(reader, size):
                    end = reader.line_num + 1 + self.skipped
                    yield _begins(begin, end, rows), rows
                    begin, size = end, max(min(CHUNK_CELLS // max(len(rows[0]), 1), MOST_ROWS), FEWEST_ROWS)
            except csv.Error as error:
                raise Unreadable(f"no readable CSV: {error}") from error

    def _some(self, reader: Iterator[Row], size: int) -> list[Row]:
        """Return so many rows, or fewer if they take much room."""
        begin = self.stream.tell()
        rows: list[Row] = []
        while some := list(islice(reader, min(STEP, size - len(rows)))):
            rows += some
            if self.stream.tell() - begin > CHUNK_SIZE:
                break
        return rows

    @contextmanager
    def _lines(self) -> Iterator[Iterator[str]]:
        with open_lines(self.stream, self.scan) as lines:
            yield islice(lines, self.skipped, None)


@contextmanager
def open_lines(stream: BinaryIO, scan: TextScan) -> Iterator[Iterator[str]]:
    """Open the lines of a text, each ended by one line feed, without NUL. Raise Unreadable if one is too long."""
    if scan.longest > MAX_CELL:
        raise Unreadable(f"a line is longer than {MAX_CELL // 1_000_000} MB")
    stream.seek(0)
    text = io.TextIOWrapper(stream, scan.encoding, "replace", newline=None if scan.is_plain else "\n")
    try:
        yield text if scan.is_plain else map(_cleaned, text)
    finally:
        text.detach()


def _cleaned(line: str) -> str:
    return line.rstrip("\r\n").replace("\r", " ").replace("\0", "") + "\n"


def _begins(begin: int, end: int, rows: Sequence[Row]) -> Sequence[int]:
    """Return the lines where the rows begin. A line feed in a cell is a line of its row."""
    if end - begin == len(rows):
        return range(begin, end)
    spans = (1 + sum(cell.count("\n") for cell in row) for row in rows[:-1])
    return [*accumulate(spans, initial=begin)]


def read_delimited(source: Source, name: str) -> Sheet:
    """Return the sheet of a delimited text. Raise Unreadable if there is none."""
    if source.stream.read(len(POINTER)) == POINTER:
        raise Unreadable("a pointer of Git LFS: the file itself is not here")
    source.stream.seek(0)
    scan = scan_text(source.stream)
    file = _open(source.stream, scan)
    gaps = (DAMAGED,) if scan.is_damaged else ()
    return sheet_of(Grid(name, file.chunks, "_line", file.dialect.delimiter, findings=(*_of_dialect(file),), gaps=gaps))


def _open(stream: BinaryIO, scan: TextScan) -> DelimitedFile:
    """Return the file with the dialect that its first lines show."""
    with open_lines(stream, scan) as text:
        lines = list(_first_lines(text))
    first = lines[0].strip().lower() if lines else ""
    if first.startswith("sep=") and len(first) == len("sep=;"):  # as Excel writes it
        dialect = replace(infer_dialect(lines[1:]), delimiter=first[-1])
        return DelimitedFile(stream, scan, dialect, skipped=1)
    return DelimitedFile(stream, scan, infer_dialect(lines))


def _first_lines(text: Iterator[str]) -> Iterator[str]:
    size = 0
    for line in islice(text, SNIFFED):
        yield line
        size += len(line)
        if size > SNIFFED_SIZE:
            return


def _of_dialect(file: DelimitedFile) -> Iterator[str]:
    delimiter, quote = file.dialect.delimiter, file.dialect.quote
    if delimiter != ",":
        yield f"delimiter {DELIMITERS.get(delimiter, delimiter)}"
    if quote == "'":
        yield "single quotes"
    if file.scan.encoding not in ("utf-8", "utf-8-sig"):
        yield f"encoding {file.scan.encoding}"
