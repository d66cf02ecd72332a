"""The days and times of day that a text names, and which entries of a log are of them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_NTH = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATES = (
    re.compile(rf"\b{_MONTH}\.? {_NTH}\b(?!:)"),
    re.compile(rf"\b{_NTH}(?: of)? {_MONTH}\b"),
    re.compile(r"\b\d{4}-(?P<month>\d\d)-(?P<day>\d\d)\b"),
)
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b")
_CLOCK = re.compile(r"\b(?P<hour>\d{1,2}):(?P<rest>\d\d(?::\d\d)?)(?:[.,]\d+)? ?(?P<half>am|pm)?\b")
_HOUR = re.compile(r"\b(?P<hour>\d{1,2}) ?(?P<half>am|pm)\b")
DAY, CLOCK = 1.0, 2.0  # what each counts of the share of a moment that an entry is of


@dataclass(frozen=True, slots=True)
class Moments:
    """Beginnings of times of day, and parts of dates, as the stamps of entries have them: `02-14`, `-17 `, `04:47`."""

    days: Sequence[str]
    clocks: Sequence[str]

    @classmethod
    def of(cls, text: str) -> "Moments":
        lowered = text.lower()
        dates = [
            f"{_month(found['month'])}-{int(found['day']):02}" for form in _DATES for found in form.finditer(lowered)
        ]
        days = dates or [f"-{int(day):02} " for day in _DAY.findall(lowered)]
        return cls([*dict.fromkeys(days)], [*dict.fromkeys(_clocks(lowered))])

    def share(self, stamp: str) -> float:
        """Return how much of what is named a stamp such as `2024-02-14 04:47:12.3` has, from 0 to 1."""
        whole = (DAY if self.days else 0.0) + (CLOCK if self.clocks else 0.0)
        day, _, clock = stamp.rpartition(" ")
        found = DAY * any(part in f"{day} " for part in self.days)
        found += CLOCK * any(clock.startswith(part) for part in self.clocks)
        return found / whole if whole else 0.0


def _month(name: str) -> str:
    return name if name.isdigit() else f"{_NAMES.index(name[:3]) + 1:02}"


def _clocks(text: str) -> Iterator[str]:
    for found in _CLOCK.finditer(text):
        yield f"{_hour(found['hour'], found['half']):02}:{found['rest']}"
    for found in _HOUR.finditer(text):
        yield f"{_hour(found['hour'], found['half']):02}:"


def _hour(hour: str, half: str | None) -> int:
    return int(hour) % 12 + 12 * (half == "pm") if half else int(hour)
