"""Times of logs: their shapes as data, and how a time as written becomes `YYYY-MM-DD HH:MM:SS`.

A time stays on the clock of its log: nothing is converted, and the zone goes into a column of its own. Epochs are UTC.
What a shape leaves out is left out: `06-14 15:16:01` has no year, `15:16:01` no day. A year or a day that the file
shows elsewhere (in its name, or in a line that tells the same time again) is put in.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTHS = {name: f"{number:02}" for number, name in enumerate(_MONTHS, 1)}
_DIRECTIVES = {  # of strptime, and: %n %e month and day of two digits, %f a fraction, %s an epoch
    "Y": r"(?P<Y>(?:19|20)\d\d)",
    "y": r"(?P<y>\d\d)",
    "m": r"(?P<m>0?[1-9]|1[0-2])",
    "d": r"(?P<d>[ 0]?[1-9]|[12]\d|3[01])",
    "b": rf"(?P<b>{'|'.join(_MONTHS)})",
    "a": r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)",
    "H": r"(?P<H>[ 01]?\d|2[0-3])",
    "M": r"(?P<M>[0-5]?\d)",
    "S": r"(?P<S>[0-5]?\d|60)",
    "p": r"(?P<p>[AaPp]\.?[Mm]\.?)",
    "n": r"(?P<m>0[1-9]|1[0-2])",
    "e": r"(?P<d>0[1-9]|[12]\d|3[01])",
    "f": r"(?P<f>\d{1,9})",
    "s": r"(?P<s>1\d{9}(?:\d{3}|\d{6}|\d{9})?(?:\.\d{1,9})?(?!\d))",
}
SHAPES = {
    "iso": r"%Y-%m-%d(?:[T_ \t]|\" \")%H:%M:%S",
    "slashes": r"%Y/%m/%d[ T-]%H:%M:%S",
    "dots": r"%Y\.%m\.%d[ T-]%H:%M:%S",
    "dashes": r"%Y-%m-%d-%H\.%M\.%S",
    "compact": r"%Y%n%e[T -]?%H:%M:%S",
    "digits": r"%y%n%e %H(?=\d{4}\b)%M(?=\d\d\b)%S",
    "short": r"%y%n%e +%H:%M:%S",
    "slashes_short": r"%y/%m/%d %H:%M:%S",
    "clf": r"%d/%b/%Y[: ]%H:%M:%S",
    "clf_fraction": r"%d/%b/%Y:%H:%M:%S\.%f",
    "day_month": r"%d[- ]%b[- ]%Y,? %H:%M:%S",
    "mail": r"(?:%a, )?%d %b %Y %H:%M:%S",
    "ctime": r"(?:%a )?%b +%d %H:%M:%S(?:\.%f)? %Y",
    "syslog_year": r"%b +%d %Y %H:%M:%S",
    "year_syslog": r"%Y %b +%d %H:%M:%S",
    "java": r"%b %d, %Y,? %H:%M:%S %p",
    "american": r"%m/%d/%Y,? %H:%M:%S(?: ?%p)?",
    "american_short": r"%m/%d/%y,? %H:%M:%S(?: ?%p)?",
    "european": r"%d[./-]%m[./-]%Y,? %H:%M:%S",
    "thunderbird": r"%Y\.\d\d\.\d\d \S+ %b +%d %H:%M:%S",
    "syslog": r"(?:%a )?%b +%d %H:%M:%S",
    "klog": r"%n%e %H:%M:%S",
    "month_day": r"%m-%d %H:%M:%S",
    "month_dot_day": r"%m\.%d %H:%M:%S",
    "epoch": r"%s",
    "clock": r"%H:%M:%S",
}
# After every shape a fraction and a zone may follow. HealthApp puts a colon before the fraction.
_ZONE = r" ?(?:Z|UTC|GMT|[ECMP][SD]T|CES?T|EES?T|[BIJMH]ST|MSK|AES?T|[+-]\d\d:?(?:\d\d)?)(?![\w:])"
REST = rf"(?:[.,:](?P<frac>\d{{1,9}}))?(?P<zone>{_ZONE})?"
REST_OF_EPOCH = r"(?P<frac>)(?P<zone>)"
_NAMED = re.compile(r"\(\?P<\w>")
_DAY_IN_NAME = re.compile(
    r"(?<!\d)(?P<Y>20\d\d)(?P<s>[-_.]?)(?P<m>0[1-9]|1[0-2])(?P=s)(?P<d>0[1-9]|[12]\d|3[01])(?!\d)"
)
_YEAR_IN_NAME = re.compile(r"(?<![\w.])(20\d\d)(?![\w])")
_DAY_IN_LINE = re.compile(
    r"\b(?P<Y>(?:19|20)\d\d)-(?P<m>\d\d)-(?P<d>\d\d)\b"
    r"|\b(?P<b>[A-Z][a-z]{2}) +(?P<e>\d\d?) [\d:]{8} (?P<z>(?:19|20)\d\d)\b"
)
_CACHED = 20_000  # minutes: two weeks


def _expand(shape: str) -> str:
    return re.sub(r"%(\w)", lambda match: _DIRECTIVES[match[1]], shape)


_PARSERS = {name: re.compile(_expand(shape), re.ASCII) for name, shape in SHAPES.items()}


def pattern(shape: str) -> str:
    """Return the groups `time`, `frac` and `zone` of a shape, as a part of a regular expression."""
    bare = _NAMED.sub("(?:", _expand(SHAPES[shape]))
    return f"(?P<time>{bare})" + (REST_OF_EPOCH if shape == "epoch" else REST)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a file shows of the dates that its times leave out.

    year    with the month and day where it was seen; the year of other lines is told from there
    """

    year: int | None = None
    seen: str = ""
    day: str = ""


@dataclass(slots=True)
class Clock:
    """Turns the times of one shape, as written, into text of one form. It remembers the last year and month.

    Most shapes end with two digits of a second: the times of a minute are read once.
    """

    shape: str
    evidence: Evidence = field(default_factory=Evidence)
    _minutes: dict[str, str | None] = field(default_factory=dict)
    _year: int | None = None
    _month: str = ""

    def read(self, text: str) -> str | None:
        """Return the time, without its fraction, or None if there is no such time."""
        if not (second := text[-2:]).isdecimal() or not SHAPES[self.shape].endswith("%S"):
            return self._convert(text)
        minute = self._minutes.get(text[:-2], "")
        if minute == "":
            minute = self._convert(f"{text[:-2]}00")
            if len(self._minutes) >= _CACHED:
                self._minutes.clear()
            self._minutes[text[:-2]] = minute
        return minute and minute[:-2] + second

    @property
    def lacks(self) -> str:
        """Return what the shape leaves out and the file does not show: "year", "day" or nothing."""
        wanted = SHAPES[self.shape]
        if "%s" in wanted or "%Y" in wanted or "%y" in wanted:
            return ""
        if "%d" not in wanted and "%e" not in wanted:
            return "" if self.evidence.day else "day"
        return "" if self.evidence.year else "year"

    def _convert(self, text: str) -> str | None:
        match = _PARSERS[self.shape].match(text)
        if match is None:
            return None
        parts = {key: value for key, value in match.groupdict().items() if value}
        return from_epoch(parts["s"]) if "s" in parts else self._compose(parts)

    def _compose(self, parts: dict[str, str]) -> str | None:
        hour = int(parts["H"])
        if half := parts.get("p"):
            hour = hour % 12 + 12 * (half[0] in "Pp")
        clock = f"{hour:02}:{int(parts['M']):02}:{int(parts['S']):02}"
        clock += f".{parts['f'][:6]}" if "f" in parts else ""
        if "d" not in parts:
            return f"{self.evidence.day} {clock}".lstrip()
        month = MONTHS[parts["b"]] if "b" in parts else parts["m"].zfill(2)
        day = f"{month}-{int(parts['d']):02}"
        year = parts.get("Y") or (f"20{parts['y']}" if "y" in parts else self._year_of(day))
        return f"{year}-{day} {clock}" if year else f"{day} {clock}"

    def _year_of(self, day: str) -> str:
        """Return the year of a line whose time has none; it steps when December turns to January."""
        if self.evidence.year is None:
            return ""
        if self._year is None:  # less than a year lies between the first line and the one that shows the year
            self._year = self.evidence.year - (bool(self.evidence.seen) and day > self.evidence.seen)
        if self._month == "12" and day[:2] == "01":
            self._year += 1
            self._minutes.clear()
        self._month = day[:2]
        return str(self._year)


def from_epoch(text: str) -> str | None:
    """Return the time of seconds since 1970, or of milli-, micro- or nanoseconds, by the number of digits."""
    whole, _, fraction = text.partition(".")
    if not whole.isdecimal() or not 9 <= len(whole) <= 19:
        return None
    seconds, rest = (whole, fraction) if len(whole) < 12 else (whole[:10], whole[10:])
    minute, second = divmod(int(seconds), 60)
    moment = f"{_minute_of(minute)}{second:02}"
    return f"{moment}.{rest[:6]}" if rest.strip("0") else moment


@lru_cache(_CACHED)
def _minute_of(minute: int) -> str:
    return datetime.fromtimestamp(60 * minute, UTC).strftime("%Y-%m-%d %H:%M:")


def normal_zone(text: str) -> str | None:
    """Return `+01:00` for `+0100`, `+00:00` for `Z`; other names as they are."""
    bare = text.strip()
    if bare in ("Z", "UTC", "GMT"):
        return "+00:00"
    if bare[:1] in "+-" and bare:
        digits = bare[1:].replace(":", "").ljust(4, "0")
        return f"{bare[0]}{digits[:2]}:{digits[2:]}"
    return bare or None


_ANY_ISO = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?(Z| ?[+-]\d\d:?\d\d)?")


def from_value(value: object) -> tuple[str | None, str | None]:
    """Return the time and the zone of what stands under a key: a number, an ISO time or any known shape."""
    text = str(value)
    if match := _ANY_ISO.match(text):
        day, clock, fraction, zone = match.groups()
        return f"{day} {clock}{'.' + fraction[:6] if fraction else ''}", normal_zone(zone or "")
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = f"{value:.6f}" if isinstance(value, float) else text
    if time := from_epoch(text):
        return time, "+00:00"
    return _from_any(text)


def _from_any(text: str) -> tuple[str | None, str | None]:
    for name, parser in _PARSERS.items():
        match = parser.match(text)
        if match and name not in ("epoch", "clock"):
            after = re.match(REST, text[match.end() :])
            return Clock(name).read(match[0]), normal_zone(after["zone"] or "") if after else None
    return None, None


def gather_evidence(name: str, lines: Iterable[str], own: "re.Pattern[str] | None") -> Evidence:
    """Return what the name of the file, and lines that tell their own time twice, show of year and day."""
    if match := _DAY_IN_NAME.search(name):
        month_day = f"{match['m']}-{match['d']}"
        return Evidence(int(match["Y"]), month_day, f"{match['Y']}-{month_day}")
    if match := _YEAR_IN_NAME.search(name):
        return Evidence(int(match[1]))
    return next(filter(None, (_told_twice(line, own) for line in lines)), Evidence()) if own else Evidence()


def _told_twice(line: str, own: "re.Pattern[str]") -> Evidence | None:
    """Return the year that a line tells in its message, if month and day are those of its own time."""
    head = own.match(line) if _DAY_IN_LINE.search(line) else None  # few lines tell any day
    if head is None:
        return None
    for match in _DAY_IN_LINE.finditer(line, head.end("time")):
        year, month, day, name, short, other = match.groups()
        said = f"{month}-{day}" if year else f"{MONTHS.get(name, '00')}-{int(short):02}"
        if said == _month_day(head["time"]):
            return Evidence(int(year or other), said)
    return None


def _month_day(text: str) -> str:
    for shape in ("syslog", "klog", "month_day", "month_dot_day"):
        if match := _PARSERS[shape].search(text):
            parts = match.groupdict()
            return f"{MONTHS.get(parts.get('b') or '', '') or str(parts.get('m')).zfill(2)}-{int(parts['d']):02}"
    return ""
