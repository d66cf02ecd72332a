"""Dates and times as people write them, as ISO text. A whole column tells whether day or month comes first."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

PIVOT = 69  # from here on two digits are a year of the last century, as to POSIX
_TIME = (
    r"(?:(?:T|,? +)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?P<part>[.,]\d+)?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?(?P<zone> ?(?:Z|UTC|GMT|[-+]\d\d:?\d\d))?)?"
)
_YEAR = r"(?P<year>\d{4}|\d\d)"
_MONTH_NAME = r"(?P<name>[^\W\d_]{3,10})\.?"
_WEEKDAY = r"(?:[^\W\d_]{2,10}\.?,? +)?"
# The order of the parts, with their words for a finding.
ORDERS: Mapping[str, str] = {
    "ymd": rf"(?P<year>\d{{4}})([-/.])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}}){_TIME}",
    "compact": r"(?P<year>1[89]\d\d|20\d\d)(?P<month>\d\d)(?P<day>\d\d)",
    "dmy": rf"(?P<day>\d{{1,2}})([-/.])(?P<month>\d{{1,2}})\2{_YEAR}{_TIME}",
    "mdy": rf"(?P<month>\d{{1,2}})([-/.])(?P<day>\d{{1,2}})\2{_YEAR}{_TIME}",
    "named": (rf"{_WEEKDAY}(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)?[-/ ]*{_MONTH_NAME}[-/, ]+{_YEAR}{_TIME})"),
    "named first": rf"{_WEEKDAY}{_MONTH_NAME}[- ]+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?[- ]+(?P<year>\d{{4}}){_TIME}",
}
WORDS: Mapping[str, str] = {
    "dmy": "dates read as day/month/year",
    "mdy": "dates read as month/day/year",
    "compact": "dates read as yyyymmdd",
}
PATTERNS = {order: re.compile(pattern, re.ASCII) for order, pattern in ORDERS.items() if "named" not in order}
PATTERNS |= {order: re.compile(pattern) for order, pattern in ORDERS.items() if "named" in order}
_ISO = r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_CLOCK = r"[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[-+]\d\d:?\d\d)?"
# The first letters of month names in some languages. What begins several months is longer.
MONTHS: Mapping[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "jan ene gen",
            "feb fév fev",
            "mar mär mrz mrt maa",
            "apr avr abr",
            "may mai maj mei mag",
            "jun juin giu",
            "jul juil lug",
            "aug aoû aou ago",
            "sep set",
            "oct okt ott out",
            "nov",
            "dec dez déc dic",
        ),
        start=1,
    )
    for name in names.split()
}
LONG = 4  # letters that tell `juin` from `juil`
HOURS = 12
MIDNIGHT = {"00:00", "00:00:00"}


@dataclass(frozen=True)
class DateForm:
    """How a column writes dates. `has_time` if some of them have a time other than midnight."""

    order: str
    has_time: bool
    unit: str = ""
    is_plain: bool = True

    @property
    def kind(self) -> str:
        return "DATETIME" if self.has_time else "DATE"

    @property
    def findings(self) -> tuple[str, ...]:
        return (WORDS[self.order],) if self.order in WORDS else ()

    @cached_property
    def batch(self) -> re.Pattern[str]:
        """Match many dates that are ISO already, or nothings, each followed by NUL."""
        clock = f"(?:{_CLOCK})?" if self.has_time else ""
        return re.compile(rf"(?:(?:{_ISO}{clock})?\0)*+" if self.order == "ymd" else r"(?!)", re.ASCII)

    def value(self, text: str) -> str | None:
        """Return the ISO text, None if the text is no date of this form."""
        match = PATTERNS[self.order].fullmatch(text)
        if match is None or not (date := _date(match)):
            return None
        clock = _clock(match)
        if clock is None or (clock not in (*MIDNIGHT, "") and not self.has_time):
            return None
        between = "T" if self.order == "ymd" and "T" in text else " "
        return f"{date}{between}{clock}" if clock and self.has_time else date


def infer_date(bag: Mapping[str, float], file_order: str = "") -> tuple[DateForm | None, bool]:
    """Return the form of most dates in the bag, and whether it is unclear if the day comes first.

    `file_order` is the order of other columns: it settles what this one leaves open.
    """
    fits = {order: _fitting(bag, order) for order in ORDERS}
    best = max(fits, key=lambda order: sum(bag[text] for text in fits[order]))
    if not fits[best]:
        return None, False
    unclear = False
    if best in ("dmy", "mdy") and len(fits["dmy"]) == len(fits["mdy"]) and {*fits["dmy"]} == {*fits["mdy"]}:
        pointed = sum("." in text.split()[0] for text in fits["dmy"]) * 2 > len(fits["dmy"])
        best = "dmy" if pointed else file_order or best
        unclear = not pointed and not file_order
    return DateForm(best, _has_time(fits[best], best)), unclear


def is_open(text: str) -> bool:
    """Return whether the text is a date of which day or month may come first."""
    return all(DateForm(order, has_time=True).value(text) is not None for order in ("dmy", "mdy"))


def _fitting(bag: Mapping[str, float], order: str) -> list[str]:
    form = DateForm(order, has_time=True)
    return [text for text in bag if form.value(text) is not None]


def _has_time(texts: list[str], order: str) -> bool:
    form = DateForm(order, has_time=True)
    return any(clock not in MIDNIGHT for text in texts for clock in re.split("[ T]", form.value(text) or "")[1:])


def _date(match: re.Match[str]) -> str:
    """Return the day, month and year of a match as ISO text; nothing if there is no such day."""
    parts = match.groupdict()
    name = parts.get("name")
    month = _month(name) if name else int(parts["month"])
    day, year = int(parts["day"]), int(parts["year"])
    if len(parts["year"]) == 2:
        year += 1900 if year >= PIVOT else 2000
    return f"{year:04}-{month:02}-{day:02}" if 1 <= month <= len("JFMAMJJASOND") and 1 <= day <= 31 and year else ""


def _month(name: str) -> int:
    low = name.lower()
    return MONTHS.get(low[:LONG]) or MONTHS.get(low[:3]) or 0


def _clock(match: re.Match[str]) -> str | None:
    """Return the time of a match as ISO text, nothing if there is none, None if there is no such time."""
    parts = match.groupdict()
    if not parts.get("hour"):
        return ""
    hour, minute, second = (int(parts[part] or 0) for part in ("hour", "minute", "second"))
    if half := parts["half"]:
        if not 1 <= hour <= HOURS:
            return None
        hour = hour % HOURS + HOURS * (half in "Pp")
    if hour > 23 or minute > 59 or second > 60:
        return None
    fraction = (parts["part"] or "").replace(",", ".")
    return (
        f"{hour:02}:{minute:02}"
        + (f":{second:02}{fraction}" if parts["second"] else "")
        + (parts["zone"] or "").strip()
    )
