"""Logs on stderr, for a person or for a program; never with prompts, file contents or tokens.

Three rules keep them out: libraries speak from WARNING on (some log whole messages at DEBUG), a message is its first
line (asyncio appends the repr of what failed), and an exception is told by its type and place (its text quotes what it
could not read). At DEBUG, which is asked for by name, exceptions are told in full.
"""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

from skillstill.util.text import one_line

EXTRAS = ("run", "release", "status", "seconds", "steps")
LIBRARIES = ("asyncio", "mcp", "sse_starlette", "uvicorn", "uvicorn.error")
LINE = 1_000  # characters of a message
FULL = 20_000  # characters of an exception in full


def configure(*, as_json: bool = False, level: int = logging.WARNING) -> None:
    """Install one handler on stderr, in place of all others; `level` is that of our own loggers."""
    full = level <= logging.DEBUG
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(full) if as_json else PlainLines(full))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    logging.captureWarnings(True)  # pydantic's quote values
    root.setLevel(max(level, logging.WARNING))
    for name in LIBRARIES:
        logging.getLogger(name).setLevel(root.level)
    logging.getLogger("skillstill").setLevel(level)


class PlainLines(logging.Formatter):
    """`skillstill: message`, with the exception in brackets."""

    def __init__(self, full: bool) -> None:
        super().__init__()
        self.full = full

    def format(self, record: logging.LogRecord) -> str:
        exception = _exception(record, self.full)
        return f"skillstill: {_message(record)}{f' ({exception})' if exception else ''}"


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, exception and EXTRAS if there are any."""

    def __init__(self, full: bool) -> None:
        super().__init__()
        self.full = full

    def format(self, record: logging.LogRecord) -> str:
        record_ = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
            "exception": _exception(record, self.full),
        }
        extras = {name: getattr(record, name) for name in EXTRAS if hasattr(record, name)}
        return json.dumps({name: value for name, value in (record_ | extras).items() if value is not None}, default=str)


def _message(record: logging.LogRecord) -> str:
    return one_line(record.getMessage().strip().partition("\n")[0], LINE)


def _exception(record: logging.LogRecord, full: bool) -> str | None:
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return None
    return one_line("".join(traceback.format_exception(error)), FULL) if full else _type_and_place(error)


def _type_and_place(error: BaseException) -> str:
    """Return the innermost frame comes first, as in `ValueError at agent.py:88 solve < agent.py:70 report`."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(map(_type_and_place, error.exceptions))
    frames = reversed(traceback.extract_tb(error.__traceback__)[-8:])
    places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    record_ = f"{type(error).__name__} at {places or 'an unknown place'}"
    return f"{record_}, from {type(cause).__name__}" if cause else record_
