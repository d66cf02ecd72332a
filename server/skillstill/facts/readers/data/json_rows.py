"""JSON as sheets: a line for each object, or one array of objects. Nested values stay JSON text."""

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from skillstill.facts.reader import Gap, Source, Unreadable
from skillstill.facts.readers.data.delimited import CHUNK_SIZE, DAMAGED, open_lines
from skillstill.facts.readers.data.dialect import MAX_CELL
from skillstill.facts.readers.data.encoding import TextScan, scan_text
from skillstill.facts.readers.data.grid import BATCH_CELLS, LEAST_SAMPLE, MAX_COLUMNS, SAMPLE_CELLS
from skillstill.facts.readers.data.sheet import Batch, Notes, Sheet

CHUNK = 1 << 20
SPACE = " \t\r\n"
NOT_READ = "lines that are no JSON object left out"
Record = Mapping[str, Any]


def read_json(source: Source, name: str) -> Sheet:
    """Return the sheet of the objects in a file. Raise Unreadable if there are none."""
    scan = scan_text(source.stream)
    source.stream.seek(0)
    records = _of_array if source.stream.read(CHUNK).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"[" else _of_lines
    titles: dict[str, None] = {}
    notes = Notes()
    for _, record in records(source, scan, notes):
        titles.update(dict.fromkeys(record))
        if len(titles) > MAX_COLUMNS:
            raise Unreadable(f"more than {MAX_COLUMNS:,} columns")
    if not titles:
        raise Unreadable("no JSON objects")

    def read(notes: Notes) -> Iterator[Batch]:
        return _batches(records(source, scan, notes), list(titles))

    gaps = [DAMAGED] if scan.is_damaged else []
    gaps += [Gap(NOT_READ)] if notes.counts[NOT_READ] else []
    return Sheet(name, "", "_line", list(titles), _sample(read(Notes()), len(titles)), read, gaps=tuple(gaps))


def _of_lines(source: Source, scan: TextScan, notes: Notes) -> Iterator[tuple[int, Record]]:
    """Yield the objects with their lines."""
    with open_lines(source.stream, scan) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            record = _loaded(line)
            if record is None:
                notes.counts[NOT_READ] += 1
            else:
                yield number, record


def _loaded(line: str) -> Record | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _of_array(source: Source, scan: TextScan, notes: Notes) -> Iterator[tuple[int, Record]]:
    """Yield the objects of an array with the lines where they begin."""
    source.stream.seek(0)
    text = io.TextIOWrapper(source.stream, scan.encoding, "replace", newline="\n")
    decoder = json.JSONDecoder()
    try:
        buffer, at, line = text.read(CHUNK), 0, 1
        while True:
            begin = _skip(buffer, at)
            line += buffer.count("\n", at, begin)
            at = begin
            try:
                value, end = decoder.raw_decode(buffer, at)
                if end == len(buffer):  # a number may go on
                    raise ValueError("cut")
            except RecursionError as error:
                raise Unreadable("JSON nested too deeply") from error
            except ValueError as error:
                more = text.read(CHUNK) if len(buffer) - at <= MAX_CELL else ""
                if not more:
                    if buffer[at:].strip(SPACE) != "]":
                        raise Unreadable("no readable JSON") from error
                    return
                buffer, at = buffer[at:] + more, 0
                continue
            if isinstance(value, dict):
                yield line, value
            else:
                notes.counts[NOT_READ] += 1
            line += buffer.count("\n", at, end)
            at = end
    finally:
        text.detach()


def _skip(buffer: str, at: int) -> int:
    """Return where the next value begins, behind blanks, the first bracket and commas."""
    while at < len(buffer) and buffer[at] in " \t\r\n,[\ufeff":
        at += 1
    return at


def _batches(records: Iterator[tuple[int, Record]], titles: list[str]) -> Iterator[Batch]:
    size = max(min(BATCH_CELLS // len(titles), 5_000), 20)
    room = 0
    places: list[int] = []
    rows: list[list[str]] = []
    for place, record in records:
        places.append(place)
        rows.append([_text(record.get(title)) for title in titles])
        room += sum(map(len, rows[-1]))
        if len(rows) == size or room > CHUNK_SIZE:
            yield Batch(places, [*zip(*rows, strict=True)])
            places, rows, room = [], [], 0
    if rows:
        yield Batch(places, [*zip(*rows, strict=True)])


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _sample(batches: Iterator[Batch], width: int) -> list[list[str]]:
    parts: list[list[str]] = [[] for _ in range(width)]
    wanted = max(SAMPLE_CELLS // width, LEAST_SAMPLE)
    for batch in batches:
        for part, texts in zip(parts, batch.columns, strict=True):
            part.extend(texts[:wanted])
        if len(parts[0]) >= wanted:
            break
    return parts
