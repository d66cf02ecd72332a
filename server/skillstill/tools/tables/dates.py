"""The SQL functions `year(x)`, `month(x)` and `day(x)`, for dates in any notation; NULL if the part is unclear."""

import re
import sqlite3
from collections.abc import Callable
from typing import Any

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


def add_dates(connection: sqlite3.Connection) -> None:
    """Let queries of this connection call the functions."""
    for place, name in enumerate(("year", "month", "day")):
        connection.create_function(name, 1, _part(place), deterministic=True)


def date_of(text: str) -> Date:
    """Return year, month and day. Of `03/04/2024`, which is March to some and April to others, return only the year."""
    if match := YEAR_FIRST.match(text):
        return _valid_date(match[1], match[3], match[4])
    if match := NAMED.match(text):
        return _valid_date(match[4], _month(match[2]), match[1] or match[3])
    if match := SHORT.match(text):
        century = "19" if int(match[3]) >= PIVOT else "20"
        return _valid_date(century + match[3], _month(match[2]), match[1])
    if match := COMPACT.fullmatch(text):
        return _valid_date(match[1], match[2] or match[3], match[4])
    if not (match := YEAR_LAST.match(text)):
        return UNKNOWN
    first, second, year = match[1], match[3], match[4]
    if match[2] == "." or int(first) > len(MONTHS) or int(first) == int(second):
        return _valid_date(year, second, first)
    return _valid_date(year, first, second) if int(second) > len(MONTHS) else (int(year), None, None)


def _month(name: str) -> str:
    return str(MONTHS.get(name.capitalize(), 0))


def _valid_date(year: str, month: str | None, day: str | None) -> Date:
    """Return the date as far as it is known, UNKNOWN if month or day cannot be."""
    date = int(year), int(month) if month else None, int(day) if day else None
    return date if date[1] in (None, *MONTHS.values()) and date[2] in (None, *range(1, 32)) else UNKNOWN


def _part(place: int) -> Callable[[Any], int | None]:
    return lambda value: date_of(str(value))[place] if isinstance(value, str | int) else None
