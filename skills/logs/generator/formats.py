"""The formats in which services write the first line of an entry, those that programs use most."""

import json
import zlib
from collections.abc import Callable
from datetime import datetime, timedelta

from .event import LogEvent

NUMBERS = {"INFO": 30, "WARN": 40, "ERROR": 50}
Form = Callable[[LogEvent, datetime], str]


def first_line(event: LogEvent, day: datetime) -> str:
    """Return the first line of the entry."""
    return FORMS[event.service.form](event, day + timedelta(milliseconds=event.at))


def prints_info(form: str) -> bool:
    """Return whether the format prints the level of every entry, also INFO."""
    return form != "syslog"


def _bracket(event: LogEvent, time: datetime) -> str:
    return f"{_dotted(time)} {event.level} [{event.service.component}] {event.message}"


def _pipe(event: LogEvent, time: datetime) -> str:
    return f"{_dotted(time)} | {event.level:<5} | {event.service.component} | {event.message}"


def _python(event: LogEvent, time: datetime) -> str:
    return f"{_comma(time)} {_long(event)} {event.service.component}: {event.message}"


def _python_dash(event: LogEvent, time: datetime) -> str:
    return f"{_comma(time)} - {event.service.component} - {_long(event)} - {event.message}"


def _log4j(event: LogEvent, time: datetime) -> str:
    return f"{_comma(time)} [exec-{_thread(event)}] {event.level:<5} {event.service.component} - {event.message}"


def _spring(event: LogEvent, time: datetime) -> str:
    head = f"{_zulu(time)} {event.level:>5} 812 --- [t{_thread(event)}]"
    return f"{head} {event.service.component} : {event.message}"


def _dash(event: LogEvent, time: datetime) -> str:
    return f"{_zulu(time)} {event.level} {event.service.component} - {event.message}"


def _logfmt(event: LogEvent, time: datetime) -> str:
    level = event.level.lower()
    return f'ts={_zulu(time)} level={level} component={event.service.component} msg="{event.message}"'


def _logfmt_lvl(event: LogEvent, time: datetime) -> str:
    return f'time={_zulu(time)} lvl={event.level} logger={event.service.component} msg="{event.message}"'


def _json(event: LogEvent, time: datetime) -> str:
    level = event.level.lower()
    return _object(time=_zulu(time), level=level, service=event.service.component, msg=event.message)


def _json_severity(event: LogEvent, time: datetime) -> str:
    name = event.service.component
    return _object(severity=_long(event), timestamp=_zulu(time), logger=name, message=event.message)


def _json_bunyan(event: LogEvent, time: datetime) -> str:
    level = NUMBERS[event.level]
    return _object(name=event.service.component, level=level, msg=event.message, time=_zulu(time))


def _syslog(event: LogEvent, time: datetime) -> str:
    spoken = {"WARN": "warning: ", "ERROR": "error: "}.get(event.level, "")
    stamp = f"{time:%b} {time.day:>2} {time:%H:%M:%S}"
    return f"{stamp} node-1 {event.service.component}[{800 + _thread(event)}]: {spoken}{event.message}"


def _nginx(event: LogEvent, time: datetime) -> str:
    level = event.level.lower()
    return f"{time:%Y/%m/%d %H:%M:%S} [{level}] 31#31: *{_thread(event)} {event.message}"


def _object(**fields: object) -> str:
    return json.dumps(fields)


def _long(event: LogEvent) -> str:
    return "WARNING" if event.level == "WARN" else event.level


def _dotted(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S}.{time.microsecond // 1000:03}"


def _comma(time: datetime) -> str:
    return _dotted(time).replace(".", ",")


def _zulu(time: datetime) -> str:
    return _dotted(time).replace(" ", "T") + "Z"


def _thread(event: LogEvent) -> int:
    """Return a number that looks random and is the same on every run."""
    return zlib.crc32(event.message.encode()) % 24 + 1


FORMS: dict[str, Form] = {
    "bracket": _bracket,
    "pipe": _pipe,
    "python": _python,
    "python_dash": _python_dash,
    "log4j": _log4j,
    "spring": _spring,
    "dash": _dash,
    "logfmt": _logfmt,
    "logfmt_lvl": _logfmt_lvl,
    "json": _json,
    "json_severity": _json_severity,
    "json_bunyan": _json_bunyan,
    "syslog": _syslog,
    "nginx": _nginx,
}
