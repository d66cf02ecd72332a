"""One line of a log: its time, level, component and message, in the formats that programs write most.

JSON and logfmt objects, access logs and klog are parsed, and every line that begins with a time: its level and its
component are looked for at the places that log4j, Python, syslog, nginx and Spring use. The text was made for people,
so a message that begins like a level is taken for one.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from skillstill.tools.logs.times import from_epoch, parse_time

MAX_LINE = 2_000  # characters of a line that are read, and of JSON
MAX_JSON = 200_000
MAX_MESSAGE = 300

_NAMES = {
    "CRITICAL": "CRITICAL CRIT FATAL EMERGENCY EMERG ALERT PANIC",
    "ERROR": "ERROR ERR SEVERE",
    "WARN": "WARNING WARN",
    "INFO": "INFORMATION INFO NOTICE",
    "DEBUG": "DEBUG TRACE FINEST FINER FINE VERBOSE",
}
LEVELS = {name: level for level, names in _NAMES.items() for name in names.split()}
_LETTERS = {"F": "CRITICAL", "E": "ERROR", "W": "WARN", "I": "INFO", "D": "DEBUG", "V": "DEBUG"}
_SEVERITIES = ("CRITICAL", "CRITICAL", "CRITICAL", "ERROR", "WARN", "INFO", "INFO", "DEBUG")  # of syslog, by number
_ANY = f"(?:{'|'.join(LEVELS)})"
_END = r"(?=[\s:|\]>,-]|$)"
# Possessive if two neighbours could share characters: a hostile line would take cubic time.
_LEAD = r"(?:\[[^\]]{1,60}\]|\{[^}]{1,60}\}|[\w.$/@+][\w.$/@+:-]{0,59}+)[\s|-]++"

_PRIORITY = re.compile(r"<(\d{1,3})>(?:1 )?")
_LEVELED = re.compile(
    rf"[\s|:,-]*+(?:(?P<first>(?i:{_ANY}))(?:/[\w-]{{1,60}}(?=\])|{_END})"
    rf"|(?P<lead>{_LEAD})??(?P<next>{_LEAD})??"
    rf"(?:[\[<(](?:(?P<module>[\w-]{{1,40}}):)?(?P<boxed>(?i:{_ANY})) {{0,8}}[\]>)]|(?P<bare>{_ANY}){_END}))"
)
_AFTER = re.compile(
    r"[\s|:>)\]-]*+(?:\d+ --- (?:\[[^\]]{1,80}\] (?=\[))?)?(?:\[(?P<box>[^\]]{1,80})\][\s:|-]*)?"
    r"(?:(?P<name>[A-Za-z_][\w.$/@-]{0,80}(?:::?[\w.<>$]{1,60}){0,5})(?:\]\s|\s{0,20}:\s|\s-\s|\s{0,20}\t|\s\|\s))?"
    r"(?P<message>.*)"
)
_SYSLOG = re.compile(
    r"\s*(?P<host>\S+) (?P<name>[^\s:\[\]]{1,60})(?P<process>\[\d+\])?"
    r"(?: <(?P<level>[A-Z][a-z]{3,8})>)?: (?P<message>.*)"
)
_LOGCAT = re.compile(r" +\d+ +\d+ (?P<level>[VDIWEF]) (?P<name>[^\s:][^:]{0,60}?) *: (?P<message>.*)")
_SYSLOG_5424 = re.compile(r"\s*\S+ (?P<name>\S+) \S+ \S+ (?:-|(?:\[(?:[^\]\\]|\\.)*\])+) ?(?P<message>.*)")
_DOTNET = re.compile(
    r"(?P<level>trce|dbug|info|warn|fail|crit): (?P<name>[\w.`+-]{1,120})\[\d+\](?: (?P<message>.*))?$"
)
_DOTNET_LEVELS = {"trce": "DEBUG", "dbug": "DEBUG", "info": "INFO", "warn": "WARN", "fail": "ERROR", "crit": "CRITICAL"}
_KLOG = re.compile(r"([IWEF])(\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d+) +\d+ ([\w./-]+):\d+\] (.*)")
_ACCESS = re.compile(
    r"(?:\S+ )?\S+ \S+ (?:\"[^\"]*\"|\S+) \[(?P<time>[^\]]{20,26})\] "
    r'"(?P<request>(?:[^"\\]|\\.)*)" (?P<status>\d{3})\b'
)
_CLASS_AT_LINE = re.compile(r"([A-Za-z_][\w$.]*)@\d+$")  # behind a thread, as ZooKeeper writes it
_PAIR = re.compile(r'([\w.@-]+)=("(?:[^"\\]|\\.)*"|[^\s"]*)')
_ONLY_LEVEL = re.compile(rf"(?:\[(?P<boxed>(?i:{_ANY}))\]|(?P<bare>{_ANY})(?=[\s:])):? ?(?:(?P<name>[\w.]{{1,80}}):)?")
_SPOKEN = re.compile(rf"(?P<bare>{_ANY})[\s:]|\[?(?P<lower>(?i:{_ANY}))[\]:]")

_TIME_KEYS = ("time", "ts", "timestamp", "@timestamp", "t", "asctime")
_LEVEL_KEYS = ("level", "severity", "lvl", "levelname", "log.level")
_NAME_KEYS = ("logger", "component", "service", "name", "module", "log.logger", "caller")
_TEXT_KEYS = ("msg", "message", "event")
_ERROR_KEYS = ("error", "err", "exception", "exc_info")


class ParsedLine(NamedTuple):
    """The parts of a line, each empty if the line does not have it. The time is as it was written: see `times.py`."""

    time: datetime | None
    level: str
    component: str
    message: str


def parse_line(text: str) -> ParsedLine | None:
    """Return the parts of a line, or None if it has neither time nor level."""
    if text.startswith("{"):
        return _parse_json(text)
    text = text[:MAX_LINE]
    return (
        _parse_stamped(text)
        or _parse_klog(text)
        or _parse_access(text)
        or _parse_logfmt(text)
        or _parse_dotnet(text)
        or _parse_leveled(text)
    )


def spoken_level(message: str) -> str:
    """Return the level that a message begins with, as in `error: no route`, or ""."""
    match = _SPOKEN.match(message)
    return LEVELS[(match["bare"] or match["lower"]).upper()] if match else ""


def is_object(text: str) -> bool:
    """Return whether the line is made of keys and values."""
    return text.startswith("{") or _PAIR.match(text) is not None


def _parse_stamped(text: str) -> ParsedLine | None:
    priority = _PRIORITY.match(text)
    start = priority.end() if priority else 0
    read = _split_time(text, start)
    if read is None:
        return None
    time, rest = read
    severity = _SEVERITIES[int(priority[1]) & 7] if priority else ""
    if priority and text.startswith("1 ", priority.end() - 2):
        system = _SYSLOG_5424.match(rest)
    else:
        system = _SYSLOG.match(rest)
        if system and not (text[start : start + 1].isupper() or system["process"] or system["name"] == "kernel"):
            system = None  # a word before a colon is the name of a program only if the line is surely syslog
    if cat := _LOGCAT.match(rest):
        return ParsedLine(time, _LETTERS[cat["level"]], cat["name"], cat["message"])
    if system:
        said = severity or _said_level(system.groupdict()) or spoken_level(system["message"])
        return ParsedLine(time, said, system["name"], system["message"])
    level, component, message = _split_level(rest)
    return ParsedLine(time, level, component, message)


def _said_level(syslog: Mapping[str, str | None]) -> str:
    """Return the level behind the name, as macOS writes it, or at the host's place, as ChromeOS does; else nothing."""
    words = (syslog.get("level"), syslog.get("host"))
    return next((LEVELS[word.upper()] for word in words if word and word.upper() in LEVELS), "")


def _split_time(text: str, start: int) -> tuple[datetime, str] | None:
    """Return the time at that place, in brackets or not, and what comes after it."""
    read = parse_time(text, start + text.startswith("[", start))
    if read is None:
        return None
    time, end = read
    return time, text[end + text.startswith("]", end) :]


def _split_level(rest: str) -> tuple[str, str, str]:
    """Return the level, the component and the message of what comes after a time."""
    match = _LEVELED.match(rest)
    after = _AFTER.match(rest, match.end() if match else 0)
    assert after
    box, name, message = after.groups()
    if not match:
        return "", _component(box), rest[after.start("name" if name else "message") if box else 0 :].strip(" \t|:-")
    first, lead, following, module, boxed, bare = match.groups()
    if name and not (box or _is_name(name)):
        name, message = None, rest[after.start("name") :]
    named = name or _component(module) or _component(following) or _component(lead) or _component(box)
    return LEVELS[(first or boxed or bare).upper()], named, message


@lru_cache(maxsize=1_000)
def _component(text: str | None) -> str:
    """Return the name, in brackets or not; empty if it is a process, a zone or an address."""
    bare = (text or "").strip("[]{}|- \t")
    if located := _CLASS_AT_LINE.search(bare):
        return located[1]
    return bare if re.match(r"[A-Za-z_]", bare) and not re.match(r"(?:UTC|GMT|pid|tid|client)\b", bare) else ""


@lru_cache(maxsize=1_000)
def _is_name(word: str) -> bool:
    """Return whether a word before a colon is a component, not the beginning of a sentence or an exception."""
    if re.search(r"(?:Error|Exception|Warning)$", word):
        return False
    return word[0].islower() or "." in word or re.search(r"[a-z][A-Z]", word) is not None


def _parse_klog(text: str) -> ParsedLine | None:
    match = _KLOG.match(text)
    read = parse_time(f"{match[2]}-{match[3]} {match[4]}") if match else None
    if match is None or read is None:
        return None
    return ParsedLine(read[0], _LETTERS[match[1]], match[5].removesuffix(".go"), match[6])


def _parse_access(text: str) -> ParsedLine | None:
    match = _ACCESS.match(text)
    read = parse_time(match["time"]) if match else None
    if match is None or read is None:
        return None
    method, _, address = match["request"].removesuffix(" HTTP/1.1").partition(" ")
    path = re.split(r"[? ]", address, maxsplit=1)[0]
    level = {"5": "ERROR", "4": "WARN"}.get(match["status"][0], "INFO")
    return ParsedLine(read[0], level, "/".join(path.split("/")[:2]), f"{method} {path} {match['status']}")


def _parse_json(text: str) -> ParsedLine | None:
    try:
        value = json.loads(text[:MAX_JSON])
    except (ValueError, RecursionError):
        return None
    return _from_keys(value) if isinstance(value, dict) else None


def _parse_logfmt(text: str) -> ParsedLine | None:
    if not _PAIR.match(text):
        return None
    pairs = {key: value.strip('"').replace('\\"', '"') for key, value in _PAIR.findall(text)}
    return _from_keys(pairs)


def _from_keys(value: Mapping[str, Any]) -> ParsedLine | None:
    time, level = _time_from(_first_value(value, _TIME_KEYS)), _level_from(_first_value(value, _LEVEL_KEYS))
    if time is None and not level:
        return None
    error = _first_value(value, _ERROR_KEYS)
    words = [str(_first_value(value, _TEXT_KEYS) or ""), error if isinstance(error, str) else ""]
    return ParsedLine(time, level, str(_first_value(value, _NAME_KEYS) or "")[:60], ": ".join(filter(None, words)))


def _first_value(value: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((value[key] for key in keys if key in value), None)


def _time_from(value: Any) -> datetime | None:
    if isinstance(value, str):
        read = parse_time(value)
        if read or not re.fullmatch(r"\d{9,19}(?:\.\d+)?", value):
            return read[0] if read else None
        value = float(value)
    try:
        return from_epoch(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    except (ValueError, OverflowError, OSError):
        return None


def _level_from(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value % 10 == 0 and 0 < value <= 60:
        return ("DEBUG", "DEBUG", "INFO", "WARN", "ERROR", "CRITICAL")[value // 10 - 1]  # of bunyan and pino
    return LEVELS.get(value.upper(), "") if isinstance(value, str) else ""


def _parse_dotnet(text: str) -> ParsedLine | None:
    """Return the parts of a line of .NET's console; the message stands below it."""
    match = _DOTNET.match(text)
    return ParsedLine(None, _DOTNET_LEVELS[match["level"]], match["name"], match["message"] or "") if match else None


def _parse_leveled(text: str) -> ParsedLine | None:
    match = _ONLY_LEVEL.match(text)
    if match is None:
        return None
    level, rest = match["boxed"] or match["bare"], text[match.end() :]
    if read := _split_time(rest.lstrip(), 0):
        return ParsedLine(read[0], *_split_level(f" {level} {read[1]}"))
    return ParsedLine(None, LEVELS[level.upper()], match["name"] or "", rest)


_REQUEST = re.compile(r"[A-Z]{3,7} \S+ \d{3}")
_QUOTED = re.compile(r"""(?<!\w)"[^"]*"|(?<!\w)'[^']*'""")
_VARYING = re.compile(
    r"\b[a-z]+://\S+"
    r"|(?<![\w*])[~.]{0,2}/[\w.@%+~-][^\s,;:)\]'\"]*|(?<!\w)[A-Z]:\\[^\s,;)\]'\"]+"  # paths
    r"|(?<![\w@-])[\w.+-]{1,60}@[\w.-]+\w"
    r"|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"
    r"|(?:(?<!\w)[+-])?(?<![A-Za-z0-9])[A-Za-z]*+\d[\w#@.%-]*(?::\d[\w.]*)*(?<![.-])"  # from the word with a digit on
)


def template(message: str) -> str:
    """Return the message with a `*` for each number, id, address, path and quoted value."""
    message = message[:MAX_MESSAGE]
    if _REQUEST.fullmatch(message):
        head, _, status = message.rpartition(" ")
        return f"{re.sub(r'(?<=/)[^/]*[0-9][^/]*', '*', head)} {status}"
    bare = _QUOTED.sub("*", message) if '"' in message or "'" in message else message
    words = [word if word.isalpha() else _VARYING.sub("*", word) for word in bare.split()]
    return re.sub(r"\*(?:,\s?\*)+", "*", " ".join(words))
