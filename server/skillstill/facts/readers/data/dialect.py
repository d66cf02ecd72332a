"""How a delimited text is written: the delimiter, the quote and the escape that read it most like a table.

Each candidate reads the same sample. It scores by how alike its rows are in width, how many cells they have, and how
many cells are something plain: a number, a date, a name, nothing.
"""

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import _csv

SAMPLE_ROWS = 200
MAX_CELL = 2_000_000  # characters of one line or cell
WIDTHS = 20  # rows of more different widths than that are no table
USUAL = 1.0  # the prior of delimiters that need not stand in most rows
MOST = 0.6  # of the rows
# How likely each delimiter is before the text is seen: what stands in ordinary texts, too, needs more evidence.
PRIORS = {
    ",": 1.0,
    ";": 1.0,
    "\t": 1.0,
    "|": 1.0,
    "\x1f": 1.0,
    "\x01": 1.0,
    "~": 0.8,
    "^": 0.8,
    "#": 0.8,
    "¦": 0.8,
    "§": 0.8,
    "*": 0.7,
    "!": 0.6,
    "&": 0.6,
    ":": 0.4,
    " ": 0.4,
}
_NUMBER = r"[-+(]?[^\w\s,;|(\"'.-]?\s?[-+]?(?:\d[\d,.' \u00a0\u202f]*|\.\d+)(?:[eE][-+]?\d+)?\s?[%)\w€$£¥°/³²µ]{0,6}"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?"
_DATE = rf"\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}(?:[T ]+\d{{1,2}}:\d{{2}}.{{0,20}})?|{_TIME}"
_WORDS = r"[^\W\d_](?:[^;\t|,\"]|[,;] )*"
_OTHER = r"(?:https?|ftp)://\S+|[\w.+-]+@[\w-]+\.[\w.]+|[-–—?.]+|[\w./:+#-]+"
PLAIN = re.compile(rf"\s*(?:{_NUMBER}|{_DATE}|{_WORDS}|{_OTHER})?\s*")
ESCAPED_QUOTE = re.compile(r'\\["\'](?![,;\t|]?\r?\n)')


@dataclass(frozen=True, slots=True)
class Dialect:
    """How cells are set apart. `quote` and `escape` are empty if there is none."""

    delimiter: str
    quote: str = '"'
    escape: str = ""

    def rows(self, lines: Iterator[str]) -> "_csv.Reader":
        """Return a reader of the rows of these lines."""
        csv.field_size_limit(MAX_CELL)  # of the whole process; the default stops at 131,072
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quote or None,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            escapechar=self.escape or None,
            skipinitialspace=self.delimiter != "\t",
        )


def infer_dialect(lines: Sequence[str]) -> Dialect:
    """Return the dialect that reads the lines best; commas and double quotes if none reads more than one column."""
    lines = [line for line in lines if line[0] != "#"] or lines  # comments, as some programs write them
    text = "".join(lines)
    escape = "\\" if ESCAPED_QUOTE.search(text) else ""
    best, score = Dialect(","), 0.0
    for delimiter, prior in PRIORS.items():
        if delimiter not in text:
            continue
        for quote in _quotes(text, delimiter):
            dialect = Dialect(delimiter, quote, escape)
            reached = prior * _score(dialect, lines, MOST if prior < USUAL else 0)
            if reached > score * 1.000001:
                best, score = dialect, reached
    return best


def _quotes(text: str, delimiter: str) -> Iterator[str]:
    """Yield the quotes that open or close cells. The double quote is tried always, as it harms nothing."""
    yield '"'
    border = re.escape(delimiter)
    opened = len(re.findall(rf"(?:^|{border})\s?'", text, re.MULTILINE))
    closed = len(re.findall(rf"'(?:{border}|\r?$)", text, re.MULTILINE))
    if min(opened, closed) > 1:
        yield "'"


def _score(dialect: Dialect, lines: Sequence[str], most: float) -> float:
    """Return how much like a table the lines look; 0 if less than `most` of the rows have several cells."""
    try:
        rows = _without_ends([row for row in islice(dialect.rows(iter(lines)), SAMPLE_ROWS) if row])
    except csv.Error:
        return 0.0
    if not rows or sum(len(row) > 1 for row in rows) < max(most * len(rows), 2 * bool(most)):
        return 0.0
    return _evenness(rows) * _plainness(rows)


def _without_ends(rows: list[list[str]]) -> list[list[str]]:
    """Return the rows without their last cells, if those are empty as a delimiter ends each line."""
    if all(len(row) == 1 or not row[-1].strip() for row in rows):
        return [row[:-1] if len(row) > 1 else row for row in rows]
    return rows


def _evenness(rows: Sequence[Sequence[str]]) -> float:
    """Return how alike in width the rows are, and how wide: 0 for one column, near 1 for many alike."""
    widths = Counter(len(row) for row in rows)
    if len(widths) > WIDTHS:
        return 0.01 / len(widths)
    total = sum(count * (width - 1) / width for width, count in widths.items())
    return total / len(rows) / math.sqrt(len(widths))


def _plainness(rows: Sequence[Sequence[str]]) -> float:
    """Return the share of cells that are something plain."""
    cells = [cell for row in rows for cell in row]
    return sum(PLAIN.fullmatch(cell[:200]) is not None for cell in cells) / len(cells)
