"""The SQL functions `year(x)`, `month(x)` and `day(x)`, for dates in any notation; NULL if the part is unclear.

Which of `2/3/2019` is the month, the text itself does not say. Another text of the same column may: `2/25/2019`. So the
functions note that they met such a text, `order_of` tells what a text says, and `notation.py` asks whole columns.
"""

import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from skillstill.tools.logs.times import MONTHS

YEAR_FIRST = re.compile(r"\s*(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
YEAR_LAST = re.compile(r"\s*(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)")
NAMED = re.compile(
    r"\s*(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*[., ]+)?"
    r"(?:(\d{1,2})(?:st|nd|rd|th)?(?: of)?[. -]+)?([A-Za-z]{3})[a-z]*[., -]+"
    r"(?:(\d{1,2})(?:st|nd|rd|th)?,? +)?(\d{4})(?!\d)"
)
SHORT = re.compile(r"\s*(\d{1,2})-([A-Za-z]{3})-(\d\d)(?!\d)")
# A number too: `2024`, `20240305`; one of other lengths may be anything.
COMPACT = re.compile(r"\s*((?:1[5-9]|20)\d\d)(?:-(\d\d)|(\d\d)(\d\d))?\s*")
PIVOT = 69  # from here on two digits are a year of the last century, as to POSIX
Date = tuple[int | None, int | None, int | None]
UNKNOWN: Date = (None, None, None)
Order = Literal["month/day/year", "day/month/year", "open"]
MONTH_FIRST: Order = "month/day/year"
DAY_FIRST: Order = "day/month/year"
OPEN: Order = "open"
ORDER = "date_order"  # the function by which the notation of a column is asked


@dataclass(slots=True)
class DateNotation:
    """How the functions of a connection read `2/3/2019`, and what they met.

    order     by which they read it; if it is open, month and day are NULL
    unclear   a date of which they gave NULL therefore
    remark    what a result must say about it
    """

    order: Order = OPEN
    unclear: str = ""
    remark: str = ""


def add_dates(connection: sqlite3.Connection) -> DateNotation:
    """Let queries of this connection call the functions. Return what they go by."""
    notation = DateNotation()
    for place, name in enumerate(("year", "month", "day")):
        connection.create_function(name, 1, _part(place, notation), deterministic=True)
    connection.create_function(ORDER, 1, _order_of_value, deterministic=True)
    return notation


def date_of(text: str, order: Order = OPEN) -> Date:
    """Return year, month and day. Of `03/04/2024`, which is March to some and April to others, the order decides."""
    if match := YEAR_FIRST.match(text):
        return _valid_date(match[1], match[3], match[4])
    if match := NAMED.match(text):
        return _valid_date(match[4], _month(match[2]), match[1] or match[3])
    if match := SHORT.match(text):
        century = "19" if int(match[3]) >= PIVOT else "20"
        return _valid_date(century + match[3], _month(match[2]), match[1])
    if match := COMPACT.fullmatch(text):
        return _valid_date(match[1], match[2] or match[3], match[4])
    return _of_year_last(match, order) if (match := YEAR_LAST.match(text)) else UNKNOWN


def order_of(text: str) -> Order | None:
    """Return which part of a date comes first, if its year is last; None if it is no such date, or both are alike."""
    match = YEAR_LAST.match(text)
    if not match or match[2] == "." or int(match[1]) == int(match[3]) or date_of(text) == UNKNOWN:
        return None
    if int(match[1]) > len(MONTHS):
        return DAY_FIRST
    return MONTH_FIRST if int(match[3]) > len(MONTHS) else OPEN


def _of_year_last(match: re.Match[str], order: Order) -> Date:
    first, second, year = match[1], match[3], match[4]
    if match[2] == "." or int(first) > len(MONTHS) or int(first) == int(second):
        return _valid_date(year, second, first)
    if int(second) > len(MONTHS) or order == MONTH_FIRST:
        return _valid_date(year, first, second)
    return _valid_date(year, second, first) if order == DAY_FIRST else (int(year), None, None)


def _month(name: str) -> str:
    return str(MONTHS.get(name.capitalize(), 0))


def _valid_date(year: str, month: str | None, day: str | None) -> Date:
    """Return the date as far as it is known, UNKNOWN if month or day cannot be."""
    date = int(year), int(month) if month else None, int(day) if day else None
    return date if date[1] in (None, *MONTHS.values()) and date[2] in (None, *range(1, 32)) else UNKNOWN


def _part(place: int, notation: DateNotation) -> Callable[[Any], int | None]:
    def part(value: Any) -> int | None:
        if not isinstance(value, str | int):
            return None
        date = date_of(str(value), notation.order)
        if place and date[0] and not date[place] and YEAR_LAST.match(str(value)):
            notation.unclear = str(value)
        return date[place]

    return part


def _order_of_value(value: Any) -> Order | None:
    return order_of(value) if isinstance(value, str) else None
