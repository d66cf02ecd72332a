"""CSV and TSV texts as typed rows: delimiter, header and column types are inferred, the same on every Python.

(`csv.Sniffer` guesses differently from version to version, and takes quote characters and letters for delimiters.)
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

from skillstill.errors import Refusal
from skillstill.tools.tables.separators import BLANKS, split_fields
from skillstill.util.text import clean

SAMPLE = 64_000  # characters from which the delimiter and the header are inferred
CHUNK = 5_000  # rows that are looked at in one go, and between two looks at the clock
MAX_COLUMNS = 500
UNIT = "\x1f"  # ASCII's own separator of fields
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]*)?|[0-9]{4}-[0-9]{2}-[0-9]{2}.*")
YEAR = re.compile(r"(?:19|20)[0-9]{2}")
# What every cell of a column must be, narrow to wide; each cell ends in NUL. A leading zero or plus makes a code, not
# a number; 18 digits still fit into 64 bits; a blank behind a number is none of it, to SQLite either.
INTEGER = r"-?(?:0|[1-9][0-9]{0,17})"
# Without a point, a power of ten has a sign: `1E2` is a room, and `12e4567` the beginning of a hash.
FRACTION = r"\.[0-9]+(?:[eE][+-]?[0-9]{1,2})?|[eE][+-][0-9]{1,2}"
PATTERNS = {
    "INTEGER": re.compile(rf"(?:(?:{INTEGER} *+)?\0)*+"),
    "REAL": re.compile(rf"(?:(?:(?:{INTEGER}|-?(?=\.))(?:{FRACTION})? *+)?\0)*+"),
    "TEXT": re.compile(""),
}
KINDS = tuple(PATTERNS)


@dataclass(frozen=True, slots=True)
class Delimited:
    """A text as a table."""

    text: str
    delimiter: str
    has_header: bool
    names: tuple[str, ...]
    types: tuple[str, ...]
    count: int

    def rows(self) -> Iterator[list[str | None]]:
        """Parse the text again and yield its rows, each as wide as the header, None for an empty cell."""
        width = len(self.names)
        for row in islice(_records(self.text, self.delimiter), int(self.has_header), None):
            yield [*(cell or None for cell in row), *[None] * (width - len(row))]


def parse_delimited(data: bytes, name: str, check: Callable[[], None], separator: str = "") -> Delimited:
    """Return the table in the bytes. `check` is called now and then and may raise. Raise Refusal if it is no table.

    `separator` is what sets the fields apart, if that is known: more than one character, or runs of blanks, too.
    """
    text, delimiter = _decode(data), separator
    if separator == BLANKS or len(separator) > 1:
        text, delimiter = _with_units(text, separator), UNIT
    elif not separator:
        delimiter = "\t" if name.lower().endswith(".tsv") else _delimiter(text[:SAMPLE])
    try:
        return _parse(text, delimiter, check)
    except csv.Error as error:
        raise Refusal(f"{name} is no readable CSV: {error}") from error


def _with_units(text: str, separator: str) -> str:
    """Return the text with one character between the fields of a line."""
    return "\n".join(UNIT.join(split_fields(line, separator)) for line in text.splitlines())


def _decode(data: bytes) -> str:
    """Return the text of UTF-8, or of Windows-1252 if all that is not ASCII is invalid as UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("utf-8-sig", "replace")
        return data.decode("cp1252", "replace") if text.replace("\ufffd", "").isascii() else text


def _parse(text: str, delimiter: str, check: Callable[[], None]) -> Delimited:
    sample = [*islice(_records(text, delimiter), 100)]
    has_header = bool(sample) and _is_header(sample[0], sample[1:])
    types: list[str] = []
    filled: set[int] = set()
    count = 0
    records = islice(_records(text, delimiter), int(has_header), None)
    while chunk := [*islice(records, CHUNK)]:
        check()
        count += len(chunk)
        for index, cells in enumerate(zip_longest(*chunk, fillvalue="")):
            joined = "\0".join(cells) + "\0"
            types += ["INTEGER"] * (index == len(types))
            wider = KINDS[KINDS.index(types[index]) :]
            types[index] = next(kind for kind in wider if _fits(kind, joined))
            filled |= {index} if joined.strip("\0") else set()
    header = sample[0] if has_header else []
    width = max(len(types), len(header))
    if width > MAX_COLUMNS:
        raise Refusal(f"it has {width} columns, at most {MAX_COLUMNS} are read")
    kinds = tuple(kind if index in filled else "TEXT" for index, kind in enumerate([*types, *["TEXT"] * width][:width]))
    return Delimited(text, delimiter, has_header, _unique_names(header, width), kinds, count)


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    return (row for row in reader if row)


def _delimiter(sample: str) -> str:
    """Return the delimiter that gives most rows the same number of cells; of several, the one that gives more cells."""
    return max(",;\t|", key=lambda delimiter: _evenness(sample, delimiter))


def _evenness(sample: str, delimiter: str) -> tuple[int, int]:
    try:
        widths = Counter(len(row) for row in islice(_records(sample, delimiter), 50))
    except csv.Error:
        return 0, 0
    return max(((count, width) for width, count in widths.items() if width > 1), default=(0, 0))


def _is_header(first: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Return whether the cells are words, or words and years, and none stands again in its column."""
    words = [cell.strip() for cell in first if cell.strip()]
    numbers = [word for word in words if NUMBER.fullmatch(word)]
    if len(numbers) == len(words) or (numbers and not _heads_years(first, others)):
        return False
    below = {(index, cell.strip()) for row in others for index, cell in enumerate(row)}
    return not any((index, cell.strip()) in below for index, cell in enumerate(first) if cell.strip())


def _heads_years(first: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Return whether the numbers are two or more years in order, with other values below: a column for each year."""
    years = {index: cell.strip() for index, cell in enumerate(first) if NUMBER.fullmatch(cell.strip())}
    in_row = [*years.values()]
    below = [cell.strip() for row in others for index, cell in enumerate(row) if index in years]
    in_order = len(in_row) > 1 and sorted({*in_row}) in (in_row, in_row[::-1])
    return in_order and all(map(YEAR.fullmatch, in_row)) and not all(map(YEAR.fullmatch, below))


def _unique_names(header: Sequence[str], width: int) -> tuple[str, ...]:
    names: list[str] = []
    for index in range(width):
        wanted = " ".join(clean(header[index]).split()) if index < len(header) else ""
        name = wanted = wanted or f"c{index + 1}"
        number = 2
        while name.lower() in {taken.lower() for taken in names}:
            name, number = f"{wanted}_{number}", number + 1
        names.append(name)
    return tuple(names)


def _fits(kind: str, joined: str) -> bool:
    return kind == "TEXT" or PATTERNS[kind].fullmatch(joined) is not None
