"""Rows of texts as a sheet: the header is found, and what stands before it and behind the rows is left out."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import median

from skillstill.facts.reader import Gap, Unreadable
from skillstill.facts.readers.data.layout import TAIL, Layout, count_footer, find_layout
from skillstill.facts.readers.data.sheet import SURPLUS, Batch, Notes, Sheet

LAYOUT_ROWS = 300
MAX_COLUMNS = 1_998  # as many as SQLite takes, less one for the lines and one for surplus cells
SAMPLE_CELLS = 100_000
LEAST_SAMPLE = 100  # rows, however wide
BATCH_CELLS = 100_000
Row = list[str]


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of a sheet, each with its place: the line where it begins, or its row number.

    rows   yields them all, from the beginning each time
    glue   what surplus cells are joined by
    """

    name: str
    rows: Callable[[], Iterator[tuple[int, Row]]]
    position: str
    glue: str = ","
    sheet: str = ""
    findings: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


def sheet_of(grid: Grid) -> Sheet:
    """Return the sheet of the rows. Raise Unreadable if there are none, or too many columns."""
    head = list(islice(grid.rows(), LAYOUT_ROWS))
    if not any(any(cell.strip() for cell in row) for _, row in head):
        raise Unreadable("empty")
    layout = find_layout([row for _, row in head])
    if len(layout.titles) > MAX_COLUMNS:
        raise Unreadable(f"more than {MAX_COLUMNS:,} columns")
    least = _least(head, layout)

    def read(notes: Notes) -> Iterator[Batch]:
        return _batches(grid, layout, least, notes)

    titles = [*layout.titles, SURPLUS]
    line = head[layout.before][0] if layout.headers else 0
    place = grid.sheet or (f"line {line}" if line else "")
    sample = _sample(read(Notes()), len(titles))
    findings = (*grid.findings, *layout.findings)
    line = 0 if grid.sheet else line
    return Sheet(grid.name, place, grid.position, titles, sample, read, line, findings, grid.gaps)


def _least(head: Sequence[tuple[int, Row]], layout: Layout) -> int:
    """Return how many cells are filled in the emptiest rows. What is emptier, behind the rows, is none of them."""
    filled = sorted(count for _, row in head[layout.start :] if (count := sum(bool(cell.strip()) for cell in row)))
    notes = max(len(filled) // 20, min(len(filled) // 3, 3))  # so many may be among them
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
    width = len(layout.titles)
    size = max(min(BATCH_CELLS // width, 5_000), 20)
    places: list[int] = []
    rows: list[Row] = []
    tail: deque[tuple[int, Row]] = deque()
    for place, row in _body(grid, layout, notes):
        tail.append((place, row))
        if len(tail) <= TAIL:
            continue
        old, row = tail.popleft()
        places.append(old)
        rows.append(_fit(row, width, grid.glue, notes))
        if len(rows) == size:
            yield Batch(places, [*zip(*rows, strict=True)])
            places, rows = [], []
    rest = _without_footer([*tail], layout, least, notes)
    places += [place for place, _ in rest]
    rows += [_fit(row, width, grid.glue, notes) for _, row in rest]
    yield Batch(places, [*zip(*rows, strict=True)] if rows else [()] * (width + 1))


def _body(grid: Grid, layout: Layout, notes: Notes) -> Iterator[tuple[int, Row]]:
    """Yield the rows behind the header that are not empty, and no header again."""
    rows = grid.rows()
    before = [row for _, row in islice(rows, layout.start)]
    header = before[-1] if layout.headers else None
    for place, row in rows:
        if not any(row) or not any(cell.strip() for cell in row):
            continue
        if row == header:
            notes.counts["repeated header lines left out"] += 1
            continue
        yield place, row


def _fit(row: Row, width: int, delimiter: str, notes: Notes) -> Row:
    """Return the row as wide as the titles, and what is too much in one cell more."""
    if len(row) == width:
        row.append("")
        return row
    if len(row) < width:
        notes.counts["rows with fewer cells than titles"] += 1
        return [*row, *[""] * (width + 1 - len(row))]
    surplus = [*row[width:]]
    while surplus and not surplus[-1].strip():
        surplus.pop()
    if surplus:
        notes.counts["rows with more cells than titles"] += 1
    return [*row[:width], delimiter.join(surplus)]


def _without_footer(rows: list[tuple[int, Row]], layout: Layout, least: int, notes: Notes) -> list[tuple[int, Row]]:
    totals, remarks = count_footer([row for _, row in rows], layout, least)
    notes.counts["totals behind the rows left out"] += totals
    notes.counts["notes behind the rows left out"] += remarks
    return rows[: len(rows) - totals - remarks]
