"""Where the rows of a sheet begin and end: lines before the header, header lines, totals and notes behind the rows."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from skillstill.facts.readers.data.forms import NO_VALUE

TAIL = 40  # rows at the end among which totals and notes are looked for
DEEPEST = 60  # rows before a header
NEAR = 10  # rows among which titles behind numbers are looked for
TITLED = 0.8  # of the columns have a title in them
MANY = 3  # columns or rows that show a habit
MOST_NOTES = 6  # behind the rows: more of them are rows
HEADERS = 3  # lines of one header
TYPED = 0.7  # of the cells of a column are numbers or dates
USED = 0.2  # of the rows have a cell in a column by whose kind values are told from titles
FULL = 0.7  # of the cells of full rows are filled in a header
NUMBER = re.compile(
    r"[-+(]?[^\w\s]{0,2} ?[-+]?(?:\d[\d.,'’ \u00a0\u202f]*|[.,]\d+)(?:[eE][-+]?\d+)?(?: ?[%°]?\w{0,4})\)?"
)
YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[T ].{0,20})?|\d{1,2}:\d\d(?::\d\d)?.{0,6}")
TOTAL = re.compile(
    r"(?:grand |sub ?|over)?(?:total|sum|summe|gesamt|insgesamt|totaal|totale|totales|suma|summa|somme|razem|celkem|"
    r"toplam|итого|всего|合計|总计|合计)\w*\b.{0,40}",
    re.IGNORECASE,
)
Cells = Sequence[str]


@dataclass(frozen=True, slots=True)
class Layout:
    """How many rows stand before the header, how many make it, the titles, and how wide the rows are."""

    before: int
    headers: int
    titles: tuple[str, ...]
    kinds: tuple[str, ...]  # n, d or t by column, by which a total is told from a row

    @property
    def start(self) -> int:
        """Return the number of rows before the first that holds values."""
        return self.before + self.headers

    @property
    def findings(self) -> tuple[str, ...]:
        found = [f"{_counted(self.before, 'line')} before the header left out"] if self.before else []
        if not self.headers:
            found.append("no header")
        elif self.headers > 1:
            found.append(f"header of {self.headers} lines")
        return tuple(found)


def find_layout(rows: Sequence[Cells]) -> Layout:
    """Return the layout of a sheet by its first rows, empty ones included."""
    filled = [_filled(row) for row in rows]
    width = _width(rows)
    kinds = _kinds(rows, width)
    typical = median([count for count in filled[len(filled) // 3 :] if count] or [1])
    first, last_title = _first_values(rows, filled, kinds, typical)
    headers = _header_rows(rows, filled, first, typical)
    if not headers and last_title is not None:  # lines between header and values, such as a note: they are rows
        first = last_title + 1
        headers = _header_rows(rows, filled, first, typical)
    before = headers[0] if headers else first
    if sum(count >= max(typical / 2, 2) for count in filled[:before]) > HEADERS:  # too many to be no rows
        before = next(index for index, count in enumerate(filled) if count >= typical / 2)
        headers, first = [before], before + 1
    titles = _titles([rows[index] for index in headers], width)
    kinds += ("t",) * (len(titles) - width)
    return Layout(before, first - before, titles, kinds)


def count_footer(rows: Sequence[Cells], layout: Layout, least: int) -> tuple[int, int]:
    """Return how many of the last rows are totals, and how many are notes. `least` cells are filled in other rows."""
    totals = notes = 0
    for row in reversed(rows):
        if not _filled(row):
            continue
        if _is_total(row, layout.kinds):
            totals += 1
        elif _is_note(row, layout, least):
            notes += 1
        else:
            break
    return totals, notes if notes <= MOST_NOTES else 0


def cell_kind(cell: str) -> str:
    """Return n for a number, d for a date or time, t for a text, nothing for no value."""
    bare = cell.strip()
    if bare in NO_VALUE:
        return ""
    if DATE.fullmatch(bare):
        return "d"
    return "n" if NUMBER.fullmatch(bare) else "t"


def _filled(row: Cells) -> int:
    return sum(bool(cell and not cell.isspace()) for cell in row)


def _width(rows: Sequence[Cells]) -> int:
    """Return the width of most rows, without cells at the right end that are empty in nearly all."""
    begin = rows[:DEEPEST]
    widths = Counter(len(row) for row in begin[len(begin) // 3 :] if _filled(row))
    return max(widths, key=lambda width: (widths[width], width)) if widths else max(map(len, rows), default=0)


def _kinds(rows: Sequence[Cells], width: int) -> tuple[str, ...]:
    body = [row for row in rows[min(len(rows) // 3, DEEPEST) :] if _filled(row) > 1 or width == 1]
    if len(body) > 1 and len(rows) < 2 * DEEPEST:
        body = body[-max(len(body) // 2, 1) :] if len(body) > HEADERS else body[1:]
    return tuple(_kind([row[index] for row in body if index < len(row)]) for index in range(width))


def _kind(cells: Cells) -> str:
    counts = Counter(kind for cell in cells if (kind := cell_kind(cell)))
    total = sum(counts.values())
    if not total:
        return "t"
    kind, count = counts.most_common(1)[0]
    return kind if count >= TYPED * total and total >= USED * len(cells) else "t"


def _first_values(
    rows: Sequence[Cells], filled: Sequence[int], kinds: Sequence[str], typical: float
) -> tuple[int, int | None]:
    """Return the number of the first row that holds values of the columns' kinds, and of the last that holds titles."""
    if not any(kind != "t" for kind in kinds):
        return _first_of_texts(rows, filled), None
    if (late := _titles_behind_numbers(rows, filled, kinds)) is not None:
        return late + 1, late
    title = None
    for index, row in enumerate(rows[:DEEPEST]):
        if filled[index] < max(typical / 2, 1):
            continue
        right, wrong = _fitting(row, kinds)
        is_value = right > 0 and (not wrong or (title is not None and wrong < right))
        is_title = _counts_up(rows, index, kinds) and (title is None or not _is_all_numbers(row))
        if is_value and not is_title:
            return index, title
        if not right and not wrong and title is not None and _has_no_value(row):
            return index, title
        title = index if wrong else title
    return (0 if title is None else title + 1), title


def _titles_behind_numbers(rows: Sequence[Cells], filled: Sequence[int], kinds: Sequence[str]) -> int | None:
    """Return the number of the row that titles nearly all columns of numbers behind rows of numbers, such as sums."""
    for index, row in enumerate(rows[1:NEAR], start=1):
        wrong = _fitting(row, kinds)[1]
        is_title = (
            wrong >= MANY
            and wrong > TITLED * (len(kinds) - kinds.count("t"))
            and filled[index] == max(filled[: index + 1])
        )
        if (
            is_title
            and len({*row}) > TITLED * len(row)
            and not any(_fitting(other, kinds)[1] for other in rows[:index])
        ):
            return index
    return None


def _fitting(row: Cells, kinds: Sequence[str]) -> tuple[int, int]:
    """Return in how many columns of numbers and dates the row has some, and in how many a text."""
    found = [cell_kind(cell) for kind, cell in zip(kinds, row, strict=False) if kind != "t"]
    wrong = found.count("t")
    return len(found) - wrong - found.count(""), wrong


def _has_no_value(row: Cells) -> bool:
    return any(cell.strip() in NO_VALUE for cell in row)


def _first_of_texts(rows: Sequence[Cells], filled: Sequence[int]) -> int:
    """Return the number of the row behind the first full one, if that one looks like a header, else its own."""
    full = sorted(filled)[len(filled) * 9 // 10]
    first = next(index for index, count in enumerate(filled) if count >= FULL * full)
    below = rows[first + 1 :]
    return first if _stands_below(rows[first], below) or _has_shape_of(rows[first], below) else first + 1


def _stands_below(row: Cells, below: Sequence[Cells]) -> bool:
    """Return whether a cell of the row stands in its column again: then it is a value and no title."""
    places = {(index, cell.strip()) for other in below for index, cell in enumerate(other)}
    return any((index, cell.strip()) in places for index, cell in enumerate(row) if cell.strip())


def _has_shape_of(row: Cells, below: Sequence[Cells]) -> bool:
    """Return whether the row is written like those below, in columns whose cells are all alike: `ARS`, `AUD`."""
    if len(below) < MANY:
        return False
    alike = [
        (own, shapes.pop())
        for own, *others in zip(row, *below, strict=False)
        if len(shapes := {*map(_shape, others)}) == 1
    ]
    told = [(own, shape) for own, shape in alike if len(shape) > 1]
    return bool(told) and all(_shape(own) == shape for own, shape in told)


def _shape(cell: str) -> str:
    """Return the cell with one letter for all letters of a case, and one digit for all."""
    return re.sub(r"\d", "9", re.sub(r"[^\W\d_a-z]", "A", re.sub(r"[a-z]", "a", cell.strip())))


def _counts_up(rows: Sequence[Cells], index: int, kinds: Sequence[str]) -> bool:
    """Return whether the row's numbers are titles: years, or in even steps, unlike those of the next row."""
    numbers = _numbers(rows[index], kinds)
    below = _numbers(next((row for row in rows[index + 1 :] if _filled(row)), []), kinds)
    are_years = len({*numbers}) > 1 and all(map(YEAR.fullmatch, numbers)) and not all(map(YEAR.fullmatch, below))
    if are_years and not _is_all_numbers(rows[index]):
        return True
    steps = _steps(numbers)
    return len(steps) == 1 and 0 not in steps and len(_steps(below)) != 1


def _is_all_numbers(row: Cells) -> bool:
    return all(cell_kind(cell) == "n" for cell in row)


def _numbers(row: Cells, kinds: Sequence[str]) -> Sequence[str]:
    return [cell.strip() for cell, kind in zip(row, kinds, strict=False) if kind == "n"]


def _steps(numbers: Sequence[str]) -> set[int]:
    if len(numbers) < 3 or not all(number.isdigit() and len(number) < 5 for number in numbers):
        return set()
    return {int(after) - int(before) for before, after in pairwise(numbers)}


def _header_rows(rows: Sequence[Cells], filled: Sequence[int], first: int, typical: float) -> list[int]:
    """Return the numbers of the rows that make the header: those before the values, if they are full enough."""
    headers: list[int] = []
    for index in range(first - 1, -1, -1):
        if not filled[index]:
            if headers:
                break
            continue
        is_full = filled[index] >= max(typical / 2, 1) or (headers and _completes(rows[headers[0]], rows[index]))
        if not is_full or len(headers) == HEADERS:
            break
        if headers and not _lacks_titles(rows[headers[0]], rows[index]):
            break
        headers.insert(0, index)
    return headers


def _completes(lower: Cells, upper: Cells) -> bool:
    """Return whether the upper line has titles, several in all, where the lower one has none."""
    return _filled(upper) > 1 and any(up.strip() and not low.strip() for low, up in zip(lower, upper, strict=False))


def _lacks_titles(lower: Cells, upper: Cells) -> bool:
    """Return whether the lower line needs the upper one: some of its titles are missing, equal, or units."""
    titles = [cell.strip() for cell in lower]
    named = [title for title in titles if title]
    units = sum(title[:1] in "([%°" or title.islower() for title in named)
    filled = [cell for cell in upper if cell.strip()]
    return len(filled) > 1 and (len(set(named)) < len(titles) or (bool(named) and units * 2 > len(named)))


def _titles(headers: Sequence[Cells], width: int) -> tuple[str, ...]:
    """Return the titles as written, lines joined. An upper line also heads the empty cells right of its own."""
    width = max([width, *(len(_without_end(header)) for header in headers)])
    lines = []
    for number, header in enumerate(headers):
        cells = [" ".join(cell.split()) for cell in header[:width]] + [""] * (width - len(header))
        lines.append(cells if number == len(headers) - 1 or all(cells) else _spread(cells))
    titles = (" ".join(dict.fromkeys(line[index] for line in lines if line[index])) for index in range(width))
    return tuple(title.removeprefix("\ufeff") for title in titles)


def _without_end(row: Cells) -> Cells:
    """Return the row without the empty cells at its end."""
    filled = [index for index, cell in enumerate(row) if cell.strip()]
    return row[: filled[-1] + 1] if filled else row[:0]


def _spread(cells: Sequence[str]) -> list[str]:
    spread: list[str] = []
    for cell in cells:
        spread.append(cell or (spread[-1] if spread else ""))
    return spread


def _is_total(row: Cells, kinds: Sequence[str]) -> bool:
    label = next((cell.strip() for cell in row if cell.strip()), "")
    numbers = sum(kind == "n" and cell_kind(cell) == "n" for kind, cell in zip(kinds, row, strict=False))
    return numbers > 0 and TOTAL.fullmatch(label) is not None


def _is_note(row: Cells, layout: Layout, least: int) -> bool:
    """Return whether few cells are filled, and none with a number or date where the column has them."""
    if len(layout.kinds) < 3 or _filled(row) > min(2, least - 1):
        return False
    return not any(
        kind != "t" and cell_kind(cell) not in ("", "t") for kind, cell in zip(layout.kinds, row, strict=False)
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
