"""Lines that are objects of keys: JSON and logfmt, with the keys that loggers write most; and blocks of a journal."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from skillstill.facts.readers.logs.formats import SEVERITIES
from skillstill.facts.readers.logs.heads import Head, level_of
from skillstill.facts.readers.logs.times import from_value

_KEYS = {  # in the order of preference; a dot leads into an inner object
    "time": (
        "time ts timestamp @timestamp @t t.$date t asctime datetime date eventTime event_time instant.epochSecond "
        "timeMillis __REALTIME_TIMESTAMP time_local time_iso8601 StartLocal start_time created"
    ),
    "level": (
        "level severity lvl levelname log.level @l log_level loglevel level_name s severity_text severityText "
        "jsonPayload.level PRIORITY syslog_severity"
    ),
    "component": (
        "logger logger_name loggerName log.logger component c SourceContext Properties.SourceContext name "
        "SYSLOG_IDENTIFIER module service.name service caller channel"
    ),
    "message": (
        "msg message event MESSAGE @m @mt log RenderedMessage MessageTemplate textPayload jsonPayload.message "
        "short_message text body"
    ),
    "host": "hostname host host.name _HOSTNAME host.hostname instance",
    "pid": "pid process.pid _PID process",
    "thread": "thread thread_name threadName process.thread.name ctx tid",
}
_ORDER = {column: tuple(keys.split()) for column, keys in _KEYS.items()}
_SHAPES = 2_000  # remembered
_DEEP = 6  # inner objects below are told as text
_MOST = 200  # keys of an object
_IS_TIME = re.compile(r"(?i:.*(?:time|timestamp|date|_at|unixnano|\.\$date)$)").match  # the last resort
_IS_PID = re.compile(r"[0-9]{1,11}")
_PAIR = re.compile(r'([A-Za-z_@][\w.@/-]*)=("(?:[^"\\]|\\.)*+"|[^\s"]*)', re.ASCII)
_TEN = ("TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")  # of bunyan and pino: 10 to 60
Flat = dict[str, Any]


def flatten(value: Mapping[str, Any]) -> Flat:
    """Return the keys of an object and of those inside it, with dots between them. A list is told as JSON."""
    if len(value) < _MOST and not any(type(one) is dict for one in value.values()):
        return {name: one for name, one in value.items() if one is not None and one != ""}
    flat: Flat = {}
    todo: list[tuple[str, Any, int]] = [("", value, 0)]
    while todo and len(flat) < _MOST:
        name, one, depth = todo.pop()
        if isinstance(one, dict) and depth < _DEEP and one:
            todo += [(f"{name}.{key}" if name else key, inner, depth + 1) for key, inner in reversed(one.items())]
        elif one is not None and one != "":
            flat[name] = one
    return flat


def text_of(value: Any) -> str:
    """Return a value as text; of the bytes that a journal tells as numbers, too."""
    if isinstance(value, str):
        return value
    if type(value) is int:  # JSON would say the same, more slowly
        return str(value)
    if isinstance(value, list) and value and all(isinstance(one, int) and 0 <= one < 256 for one in value):
        return bytes(value).decode("utf-8", "replace")
    return json.dumps(value, ensure_ascii=False)


def level_of_value(value: Any, key: str) -> str | None:
    """Return the level that a word or a number under a key stands for: 10 to 60, or a severity of syslog."""
    if isinstance(value, str) and not value.isdecimal():
        return level_of(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    number = int(value) if len(str(value)) < 4 else -1
    if number % 10 == 0 and 10 <= number <= 60 and key != "PRIORITY":
        return _TEN[number // 10 - 1]
    return SEVERITIES[number] if 0 <= number <= 7 else None


@dataclass(frozen=True, slots=True)
class ObjectLines:
    """Lines that are JSON objects, logfmt, or blocks of a journal."""

    name: str
    end: str = "\n"
    continues: bool = False
    has_time: bool = True
    nested: bool = False
    lacks: str = ""
    strict: bool = True

    def cut(self, data: bytes) -> int:
        end = self.end.encode()
        return data.rfind(end) + len(end) if end in data else 0

    def restart(self) -> None:
        """Do nothing: these times are whole."""

    def scan(self, text: str) -> Iterator[Head | str]:
        for line in text.removesuffix(self.end).split(self.end):
            yield self._read(line) or line + self.end

    def _read(self, line: str) -> Head | None:
        flat = _PARSERS[self.name](line)
        return (
            head_of(flat, line, len(line) + len(self.end), line.count("\n") + len(self.end), self.strict)
            if flat
            else None
        )


def parse_json(line: str) -> Flat | None:
    if not line.startswith("{"):
        return None
    try:
        value = json.loads(line if line.isascii() else line.encode("latin-1").decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return _without_surrogates(flatten(value)) if "\\ud" in line or "\\uD" in line else flatten(value)


def _without_surrogates(flat: Flat) -> Flat:
    """Return the keys and texts with a mark for each half of a pair, which no database takes."""
    return {
        key.encode("utf-8", "replace").decode(): value.encode("utf-8", "replace").decode()
        if isinstance(value, str)
        else value
        for key, value in flat.items()
    }


def parse_docker(line: str) -> Flat | None:
    """Return what the log driver of containers writes: a line of the container, its stream and time."""
    flat = parse_json(line)
    return {**flat, "log": text_of(flat["log"]).rstrip("\n")} if flat and "log" in flat and "stream" in flat else None


def parse_logfmt(line: str) -> Flat | None:
    if not _PAIR.match(line):
        return None
    pairs = {key: value.strip('"').replace('\\"', '"') for key, value in _PAIR.findall(line)[:_MOST]}
    return {key: value for key, value in pairs.items() if value} if len(pairs) > 1 else None


def parse_journal(block: str) -> Flat | None:
    """Return the keys of a block of a journal. A text with line ends stands below its key, after eight bytes."""
    flat: Flat = {}
    key = ""
    for line in block.split("\n"):
        name, equals, value = line.partition("=")
        if equals and name.replace("_", "A").isalnum() and name == name.upper():
            flat[name], key = value, ""
        elif key:
            flat[key] = f"{flat[key]}\n{line}" if flat[key] else line[8:]
        elif line.replace("_", "A").isalnum():
            flat[line], key = "", line
    return {name: value for name, value in flat.items() if value} or None


_PARSERS = {"docker": parse_docker, "json": parse_json, "logfmt": parse_logfmt, "journal": parse_journal}


@dataclass(frozen=True, slots=True)
class Shape:
    """Which of its keys tell the columns of an object, empty if none does, and which are left for fields."""

    time: str
    level: str
    component: str
    message: str
    host: str
    pid: str
    thread: str
    left: tuple[str, ...]


@lru_cache(_SHAPES)
def shape_of(keys: tuple[str, ...]) -> Shape:
    """Return the shape of objects of these keys: the lines of a log have a few of them."""
    found = {column: next((key for key in wanted if key in keys), "") for column, wanted in _ORDER.items()}
    found["time"] = found["time"] or next(filter(_IS_TIME, keys), "")
    used = {key for column, key in found.items() if column not in ("level", "pid")}
    return Shape(**found, left=tuple(key for key in keys if key not in used and key[:2] != "__"))


def head_of(flat: Flat, line: str, size: int, height: int, strict: bool) -> Head | None:
    """Return an entry from its keys, or None if they tell neither a time nor a level, and they should."""
    shape = shape_of(tuple(flat))
    time, zone = from_value(flat[shape.time]) if shape.time else (None, None)
    level = level_of_value(flat[shape.level], shape.level) if shape.level else _unsaid_level(flat)
    if strict and time is None and level is None:
        return None
    used = {shape.level if level else ""}
    if time and isinstance(nanoseconds := flat.get("instant.nanoOfSecond"), int):
        time = f"{time}.{nanoseconds:09}"[:26]
        used.add("instant.nanoOfSecond")
    number = text_of(flat[shape.pid]) if shape.pid else ""
    pid = int(number) if _IS_PID.fullmatch(number) else None
    used |= {shape.pid} if pid is not None else set()
    message = text_of(flat[shape.message]) if shape.message else line
    return Head(
        size,
        height,
        time,
        zone,
        level,
        text_of(flat[shape.component]) if shape.component else None,
        text_of(flat[shape.host]) if shape.host else None,
        pid,
        text_of(flat[shape.thread]) if shape.thread else None,
        message,
        *_place(line, message),
        tuple([(key, text_of(flat[key])) for key in shape.left if key not in used]),
        not shape.message,
    )


def _unsaid_level(flat: Flat) -> str | None:
    """Return the level that Serilog leaves out of its compact form."""
    return "INFO" if "@t" in flat and ("@m" in flat or "@mt" in flat) else None


def _place(line: str, message: str) -> tuple[int, int]:
    """Return where the message stands in the line as it is, and its length; -1 if it is escaped there."""
    if message is line:
        return 0, len(line)
    raw = message if message.isascii() else message.encode("utf-8", "replace").decode("latin-1")
    quoted = max(line.find(f'"{raw}"'), line.find(f'"{raw}\\n"'))
    return quoted + 1 if quoted >= 0 else line.find(f"={raw}") + 1 or -1, len(raw)
