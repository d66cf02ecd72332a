"""Rows of texts as a sheet: the header is found, and what stands before it and behind the rows is left out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from statistics import median

from skillstill.facts.reader import Gap, Unreadable
from skillstill.facts.readers.data.layout import MOST_NOTES, TAIL, Layout, count_footer, find_layout
from skillstill.facts.readers.data.sheet import SURPLUS, Batch, Notes, Sheet

LAYOUT_ROWS = 300
MAX_COLUMNS = 1_998  # as many as SQLite takes, less one for the lines and one for surplus cells
SAMPLE_CELLS = 100_000
LEAST_SAMPLE = 100  # rows, however wide
BATCH_CELLS = 100_000
Row = list[str]
Chunk = tuple[Sequence[int], list[Row]]


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of a sheet, each with its place: the line where it begins, or its row number.

    chunks   yields them all, from the beginning each time, at least LAYOUT_ROWS in the first chunk if there are so many
    glue     what surplus cells are joined by
    """

    name: str
    chunks: Callable[[], Iterator[Chunk]]
    position: str
    glue: str = ","
    sheet: str = ""
    findings: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


def sheet_of(grid: Grid) -> Sheet:
    """Return the sheet of the rows. Raise Unreadable if there are none, or too many columns."""
    places, head = next(grid.chunks(), ([], []))
    head = head[:LAYOUT_ROWS]
    if not any(map(_has_text, head)):
        raise Unreadable("empty")
    layout = find_layout(head)
    if len(layout.titles) > MAX_COLUMNS:
        raise Unreadable(f"more than {MAX_COLUMNS:,} columns")
    least = _least(head, layout)

    def read(notes: Notes) -> Iterator[Batch]:
        return _batches(grid, layout, least, notes)

    titles = [*layout.titles, SURPLUS]
    line = places[layout.before] if layout.headers else 0
    place = grid.sheet or (f"line {line}" if line else "")
    sample = _sample(read(Notes()), len(titles))
    findings = (*grid.findings, *layout.findings)
    line = 0 if grid.sheet else line
    return Sheet(grid.name, place, grid.position, titles, sample, read, line, findings, grid.gaps)


def _least(head: Sequence[Row], layout: Layout) -> int:
    """Return how many cells are filled in the emptiest rows. What is emptier, behind the rows, is none of them."""
    filled = sorted(count for row in head[layout.start :] if (count := sum(bool(cell.strip()) for cell in row)))
    notes = max(len(filled) // 20, min(len(filled) // 3, MOST_NOTES))  # so many may be among them
    body = filled[notes:]
    return min(body[0], int(median(body))) if len(body) > 1 else 1


def _sample(batches: Iterator[Batch], width: int) -> list[list[str]]:
    """Return the texts of the first rows by column."""
    parts: list[list[str]] = [[] for _ in range(width)]
    wanted = max(SAMPLE_CELLS // width, LEAST_SAMPLE)
    for batch in batches:
        for part, texts in zip(parts, batch.columns, strict=True):
            part.extend(texts[:wanted])
        if len(parts[0]) >= wanted:
            break
    return parts


def _batches(grid: Grid, layout: Layout, least: int, notes: Notes) -> Iterator[Batch]:
    """Yield the rows between header and footer, each as wide as the titles and one cell for what is too much."""
    held_places: list[int] = []  # the last rows may be a footer
    held: list[Row] = []
    for places, rows in _body(grid, layout, notes):
        held_places += places
        held += rows
        if len(held) > TAIL:
            yield _batch(held_places[:-TAIL], held[:-TAIL], len(layout.titles), grid.glue, notes)
            held_places, held = held_places[-TAIL:], held[-TAIL:]
    end = len(held) - _count_footer(held, layout, least, notes)
    yield _batch(held_places[:end], held[:end], len(layout.titles), grid.glue, notes)


def _body(grid: Grid, layout: Layout, notes: Notes) -> Iterator[Chunk]:
    """Yield the rows behind the header that are not empty, and no header again."""
    header: Row | None = None
    start = layout.start
    for places, rows in grid.chunks():
        if start:
            header = rows[start - 1] if layout.headers else None
            places, rows, start = places[start:], rows[start:], 0

        kept = [bool(row) and bool(row[0].strip() or _has_text(row)) and row != header for row in rows]
        if not all(kept):
            notes.counts["repeated header lines left out"] += sum(row == header for row in rows)
            places, rows = [*compress(places, kept)], [*compress(rows, kept)]
        yield places, rows


def _has_text(row: Row) -> bool:
    return bool("".join(row).strip())


def _batch(places: Sequence[int], rows: Sequence[Row], width: int, glue: str, notes: Notes) -> Batch:
    if not rows:
        return Batch((), [()] * (width + 1))
    if set(map(len, rows)) == {width}:
        return Batch(places, [*zip(*rows, strict=True), [""] * len(rows)])
    return Batch(places, [*zip(*(_fit(row, width, glue, notes) for row in rows), strict=True)])


def _fit(row: Row, width: int, glue: str, notes: Notes) -> Row:
    """Return the row as wide as the titles, and what is too much in one cell more."""
    if len(row) < width:
        notes.counts["rows with fewer cells than titles"] += 1
        return [*row, *[""] * (width + 1 - len(row))]
    surplus = [*row[width:]]
    while surplus and not surplus[-1].strip():
        surplus.pop()
    if surplus:
        notes.counts["rows with more cells than titles"] += 1
    return [*row[:width], glue.join(surplus)]


def _count_footer(rows: Sequence[Row], layout: Layout, least: int, notes: Notes) -> int:
    totals, remarks = count_footer(rows, layout, least)
    notes.counts["totals behind the rows left out"] += totals
    notes.counts["notes behind the rows left out"] += remarks
    return totals + remarks
