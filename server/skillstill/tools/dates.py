"""Parts of a date for SQL, however the date is written: `year(x)`, `month(x)`, `day(x)`, NULL where nobody can tell."""

import re
import sqlite3
from collections.abc import Callable
from typing import Any

from skillstill.tools.log_times import MONTHS

YEAR_FIRST = re.compile(r"\s*(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
YEAR_LAST = re.compile(r"\s*(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)")
NAMED = re.compile(r"\s*(?:(\d{1,2})[. -]+)?([A-Za-z]{3})[a-z]*[. -]+(?:(\d{1,2})(?:st|nd|rd|th)?,? +)?(\d{4})(?!\d)")
Date = tuple[int | None, int | None, int | None]
UNKNOWN: Date = (None, None, None)


def add_dates(connection: sqlite3.Connection) -> None:
    """Let queries of this connection call them."""
    for place, name in enumerate(("year", "month", "day")):
        connection.create_function(name, 1, _part(place), deterministic=True)


def date_of(text: str) -> Date:
    """Year, month and day. `03/04/2024` is March to some and April to others: then only the year is told."""
    if found := YEAR_FIRST.match(text):
        return _checked(int(found[1]), int(found[3]), int(found[4]))
    if found := NAMED.match(text):
        told = _checked(int(found[4]), MONTHS.get(found[2].capitalize(), 0), int(found[1] or found[3] or 1))
        return told if found[1] or found[3] else (told[0], told[1], None)
    if not (found := YEAR_LAST.match(text)):
        return UNKNOWN
    first, second, year = int(found[1]), int(found[3]), int(found[4])
    if found[2] == "." or first > len(MONTHS) or first == second:
        return _checked(year, second, first)
    return _checked(year, first, second) if second > len(MONTHS) else (year, None, None)


def _checked(year: int, month: int, day: int) -> Date:
    return (year, month, day) if 1 <= month <= len(MONTHS) and 1 <= day <= 31 else UNKNOWN


def _part(place: int) -> Callable[[Any], int | None]:
    return lambda value: date_of(value)[place] if isinstance(value, str) else None
