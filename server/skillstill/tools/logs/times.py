"""Times of logs: how they are parsed, compared and shown.

A time is first parsed as it is written, with its zone if it has one. `TimeScale` then puts the times of several files
on one scale. A date that a log leaves out is taken from the other logs, else marked by a year that no log is from. If a
log without years runs over New Year's Eve, the months that it begins with are of the year before.
"""

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo

from skillstill.types import Context, Rules

NO_YEAR, NO_DATE = 1904, 1908  # leap years, so that 29 February stands
HALF = 6  # months
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTHS = {name: number for number, name in enumerate(_MONTHS, 1)}
_MONTH = "|".join(MONTHS)
_CLOCK = r"[0-2]\d:[0-5]\d(?::[0-6]\d(?:[.,]\d{1,9})?)?"
_ZONE = r"Z| ?[+-]\d\d:?\d\d| UTC\b"
_STAMP = re.compile(
    r"(?P<date>(?:\d\d)?\d\d[-/]\d\d[-/]\d\d)"
    rf"(?:[T ](?P<clock>{_CLOCK})(?P<half> ?[AaPp][Mm]\b)?(?P<zone>{_ZONE})?|$)"
    rf"|(?:[A-Z][a-z]{{2}} )?(?P<month>{_MONTH}) +(?P<day>\d\d?) (?P<of>{_CLOCK})(?: (?P<year>\d{{4}})\b)?"
    rf"|(?P<web>\d\d/(?:{_MONTH})/\d{{4}}:\d\d:\d\d:\d\d(?: [+-]\d{{4}})?)"
    rf"|(?P<dotted>\d\d\.\d\d\.\d{{4}}|\d\d[- ](?:{_MONTH})[- ]\d{{4}}) (?P<then>{_CLOCK})"
    rf"|(?P<short>\d\d-\d\d) (?P<at>{_CLOCK})"
    rf"|(?P<only>{_CLOCK})(?![\w:])"
)
_SAID = re.compile(r"(?:\d{4}-\d\d-\d\d[T ])?(?<!\d)\d?\d:[0-5]\d(?::[0-6]\d)?(?!\d)")  # in a question or a result


def said_times(context: Context) -> Rules:
    """Return the terminal of a Lark grammar for the times in the context; empty if there is none."""
    return {"TIME": " | ".join(json.dumps(time) for time in sorted({*_SAID.findall(context.text)}))}


def parse_time(text: str, start: int = 0) -> tuple[datetime, int] | None:
    """Return the time at that place and where it ends, or None if there is none."""
    match = _STAMP.match(text, start)
    with suppress(ValueError):  # the 31st of June, or 25:00
        return (_moment(match), match.end()) if match else None
    return None


def _moment(match: re.Match[str]) -> datetime:
    if date := match["date"]:
        zone = (match["zone"] or "").strip().replace("UTC", "Z")
        moment = datetime.fromisoformat(f"{_year_first(date)} {match['clock'] or '00:00'}{zone}")
        after_noon = (match["half"] or "").strip().upper() == "PM"
        return moment.replace(hour=moment.hour % 12 + 12 * after_noon) if match["half"] else moment
    if match["month"]:
        year, month, day = int(match["year"] or NO_YEAR), MONTHS[match["month"]], int(match["day"])
        return datetime.fromisoformat(f"{year}-{month:02}-{day:02} {match['of']}")
    if web := match["web"]:
        return datetime.fromisoformat(f"{web[7:11]}-{MONTHS[web[3:6]]:02}-{web[:2]} {web[12:].replace(' ', '')}")
    if dotted := match["dotted"]:
        month = MONTHS.get(dotted[3:-5]) or int(dotted[3:5])
        return datetime.fromisoformat(f"{dotted[-4:]}-{month:02}-{dotted[:2]} {match['then']}")
    if match["short"]:
        return datetime.fromisoformat(f"{NO_YEAR}-{match['short']} {match['at']}")
    return datetime.fromisoformat(f"{NO_DATE}-01-01 {match['only']}")


def _year_first(date: str) -> str:
    """Return `2024-03-01`, also for the American `03/01/24`: no log is from 2003."""
    first, second, third = re.split("[-/]", date)
    if date[2] == "/" and first <= "12" < third:
        return f"20{third}-{first}-{second}"
    return f"{'' if len(first) > 2 else '20'}{first}-{second}-{third}"


@dataclass(slots=True)
class TimeScale:
    """One scale for all the logs of a call: the zone and the day of the first times that have one.

    If a log without years runs over New Year's Eve (`is_over_new_year`), its second half of the year is the one before.
    """

    zone: tzinfo | None = None
    day: datetime | None = None
    example: datetime | None = None
    is_over_new_year: bool = False

    def observe(self, moments: Iterable[datetime]) -> None:
        """Take the zone and the day from these times if they are not known yet."""
        for moment in moments:
            self.zone = self.zone or moment.tzinfo
            self.day = self.day or (moment if moment.year not in (NO_YEAR, NO_DATE) else None)
            self.example = self.example or moment

    def observe_ends(self, first: datetime, last: datetime) -> None:
        """Take from the first and the last time of a log whether a year ends between them, as from October to January.

        Then the second half of the year is the one before, for older logs, too. A log that is written newest first, or
        runs over half a year, is not told from others.
        """
        if first.year == last.year == NO_YEAR and first.month - last.month > HALF:
            self.is_over_new_year = True

    def normalise(self, moment: datetime) -> datetime:
        """Return the time without its zone, as a clock in `zone` shows it. The zone of this machine plays no part."""
        if moment.tzinfo is not None:
            self.zone = self.zone or moment.tzinfo
            return moment.astimezone(self.zone).replace(tzinfo=None)
        with suppress(ValueError):  # 29 February in a year without one
            if moment.year == NO_YEAR:
                return moment.replace(year=self._year_of(moment))
            if moment.year == NO_DATE and self.day:
                return moment.replace(year=self.day.year, month=self.day.month, day=self.day.day)
        return moment

    def _year_of(self, moment: datetime) -> int:
        """Return the year of a time without one: that in which it is nearest to the day of the other logs."""
        if self.day is None:
            return NO_YEAR - (self.is_over_new_year and moment.month > HALF)
        months = moment.month - self.day.month
        return self.day.year - (months > HALF) + (months < -HALF)


@dataclass(frozen=True, slots=True)
class TimeBound:
    """One end of a window: a date and time, or a time on any day. It lasts as long as its smallest named unit."""

    first: datetime
    lasts: timedelta
    daily: bool

    @classmethod
    def of(cls, text: str, clock: TimeScale) -> "TimeBound | None":
        """Return the bound that a text names, or None if it is no time."""
        text = text.strip()
        read = parse_time(text)
        if read is None or text[read[1] :].strip():
            return None
        colons = re.sub(r"[+-]\d\d:?\d\d$|^\d\d/\w{3}/\d{4}:", "", text).count(":")
        lasts = [timedelta(days=1), timedelta(minutes=1), timedelta(seconds=1)][min(colons, 2)]
        if read[0].year == NO_DATE:
            return cls(read[0], lasts, daily=True)
        return cls(clock.normalise(read[0]), lasts, daily=False)

    @classmethod
    def at(cls, moment: datetime) -> "TimeBound":
        return cls(moment, timedelta.resolution, daily=False)

    def has_begun(self, moment: datetime) -> bool:
        return (moment.time() >= self.first.time()) if self.daily else moment >= self.first

    def is_over(self, moment: datetime) -> bool:
        end = self.first + self.lasts
        if self.daily:  # at midnight a day is over, and so is its last minute
            return end.date() == self.first.date() and moment.time() >= end.time()
        return moment >= end


def from_epoch(seconds: float) -> datetime:
    """Return the time of seconds, or of milli-, micro- or nanoseconds if the number is that large.

    Raise ValueError or OverflowError if it is too large for any.
    """
    scale = next((scale for scale in (1, 1e3, 1e6, 1e9) if abs(seconds) < 1e11 * scale), 1)
    return datetime.fromtimestamp(seconds / scale, UTC)


def format_time(moment: datetime) -> str:
    """Return the time to the second, without what the log leaves out."""
    year = "" if moment.year in (NO_YEAR, NO_YEAR - 1) else "%Y-"
    return moment.strftime("%H:%M:%S" if moment.year == NO_DATE else f"{year}%m-%d %H:%M:%S")


def format_range(first: datetime, last: datetime) -> str:
    """Return `2026-03-01 10:00:02 to 10:41:10`."""
    if format_time(first) == format_time(last):
        return format_time(first)
    end = last.time().isoformat("seconds") if first.date() == last.date() else format_time(last)
    return f"{format_time(first)} to {end}"


def format_group_time(moment: datetime, form: str, days: set[datetime]) -> str:
    """Return the time of a group, with its day only if there are several days."""
    whole = len(days) > 1 and moment.year != NO_DATE
    return moment.strftime(f"%m-%d {form}" if whole else form)


def midnight(moment: datetime) -> datetime:
    return datetime.combine(moment.date(), time())
