"""Spreadsheets as sheets: Excel of all ages and OpenDocument.

Calamine holds a sheet as one block, as wide and high as its outermost cells. So what the parts of a zip file would
unpack to, and how far their cells reach, is looked at before. Old `.xls` files cannot reach far; a hostile `.xlsb` can,
and ends the process that reads it if that has no memory left.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import Any

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from skillstill.facts.reader import Gap, Source, Unreadable
from skillstill.facts.readers.data.grid import Chunk, Grid, sheet_of
from skillstill.facts.readers.data.naming import identifier
from skillstill.facts.readers.data.sheet import Sheet

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
MAX_FILE = 100_000_000
MAX_UNPACKED = 500_000_000  # bytes of all parts of a zip file
MAX_PARTS = 5_000
MAX_CELLS = 10_000_000  # of the block that a sheet takes
CHUNK = 1 << 18
CHUNK_ROWS = 1_000
OVERLAP = 64  # bytes of a chunk that are looked at again, as an address may be cut
ADDRESS = re.compile(rb'\br="([A-Z]{1,4})(\d{1,9})"')
REPEATED = re.compile(rb'table:number-(columns|rows)-repeated="(\d+)"')
WIDEST = 16_384  # columns of a sheet, and what empty cells at the end of a row of OpenDocument repeat
DAY = 86_400


def read_workbook(source: Source, name: str) -> Iterator[Sheet | Gap]:
    """Yield the sheets of a workbook that hold something, and gaps for those that cannot be read. Raise Unreadable."""
    if source.size > MAX_FILE:
        raise Unreadable(f"larger than {MAX_FILE // 1_000_000} MB")
    if source.stream.read(2) == b"PK":
        _check_zip(source)
    source.stream.seek(0)
    try:
        yield from _sheets(CalamineWorkbook.from_filelike(source.stream), name)
    except (CalamineError, OSError, ValueError) as error:
        raise Unreadable("no readable workbook") from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # Rust's, no Exception to Python
            raise Unreadable("no readable workbook") from None
        raise


def _sheets(workbook: CalamineWorkbook, name: str) -> Iterator[Sheet | Gap]:
    shown = [metadata for metadata in workbook.sheets_metadata if metadata.typ == SheetTypeEnum.WorkSheet]
    for metadata in shown:
        own = name if len(shown) == 1 else identifier(f"{name}_{metadata.name}", name)
        hidden = () if metadata.visible == SheetVisibleEnum.Visible else ("hidden sheet",)
        try:
            sheet = workbook.get_sheet_by_name(metadata.name)
            if sheet.height:
                yield _sheet(sheet, own, hidden)
        except (Unreadable, CalamineError) as error:
            reason = str(error) if isinstance(error, Unreadable) else "a sheet that cannot be read"
            yield Gap(reason)


def _sheet(sheet: CalamineSheet, name: str, findings: tuple[str, ...]) -> Sheet:
    first = sheet.start[0] + 1 if sheet.start else 1

    def chunks() -> Iterator[Chunk]:
        rows = islice(sheet.iter_rows(), first - 1, None)  # it begins at the first row of the sheet
        place = first
        while some := [[_text(value) for value in row] for row in islice(rows, CHUNK_ROWS)]:
            yield range(place, place + len(some)), some
            place += len(some)

    return sheet_of(Grid(name, chunks, "_row", " ", f"sheet {sheet.name}", findings))


def _text(value: Any) -> str:
    """Return a cell as it would stand in a CSV file."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return value.isoformat(" ", "seconds") if value.time() != time() else value.date().isoformat()
    if isinstance(value, timedelta):
        return _clock(value)
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _clock(value: timedelta) -> str:
    seconds = value.days * DAY + value.seconds
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _check_zip(source: Source) -> None:
    """Raise Unreadable if the parts unpack to too much, or their cells reach too far."""
    try:
        with zipfile.ZipFile(source.stream) as archive:
            parts = archive.infolist()
            if len(parts) > MAX_PARTS:
                raise Unreadable("a zip file of too many parts")
            left = MAX_UNPACKED
            for part in parts:
                left = _check_part(archive, part, left)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        raise Unreadable("no readable workbook") from error


def _check_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo, left: int) -> int:
    """Return what is left of the allowed bytes. What a part says of its size is not believed."""
    rows = columns = 0
    with archive.open(part) as stream:
        part_end = b""
        for chunk in iter(lambda: stream.read(CHUNK), b""):
            left -= len(chunk)
            if left < 0:
                raise Unreadable(f"unpacks to more than {MAX_UNPACKED // 1_000_000} MB")
            if part.filename.endswith(".xml"):
                rows, columns = _reach(part_end + chunk, rows, columns, part.filename)
                part_end = chunk[-OVERLAP:]
    if rows * columns > MAX_CELLS:
        raise Unreadable(f"a sheet reaches over more than {MAX_CELLS:,} cells")
    return left


def _reach(data: bytes, rows: int, columns: int, part: str) -> tuple[int, int]:
    """Return how many rows and columns the cells of a part reach over so far."""
    if part == "content.xml":
        repeats = [
            int(number) for kind, number in REPEATED.findall(data) if kind == b"columns" and int(number) > WIDEST
        ]
        return (MAX_CELLS, max(repeats)) if repeats else (rows, columns)
    if "worksheets/" not in part:
        return rows, columns
    for letters, number in ADDRESS.findall(data):
        rows, columns = max(rows, int(number)), max(columns, _column(letters))
    return rows, columns


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number
