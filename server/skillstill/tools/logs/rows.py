"""How entries are shown: each in one line, behind its place."""

import re

from skillstill.tools.kit.tool import Line
from skillstill.tools.logs.files import LogEntry
from skillstill.tools.logs.lines import is_object
from skillstill.tools.logs.times import format_time
from skillstill.types import Span
from skillstill.util.text import one_line

WIDTH = 90  # characters of an entry's line, or of a group's name
TAIL = 50  # of what a stack trace ends with


def span_of(entry: LogEntry) -> Span:
    return Span(path=entry.path, first=entry.first, last=entry.last)


def entry_line(entry: LogEntry, *, with_day: bool = False) -> Line:
    """Return an entry as the log has it, in one line. A long one tells the day only if it is asked to."""
    return line_at_entry(entry, f"{one_line(_entry_text(entry, with_day), WIDTH)}{_tail(entry)}")


def line_at_entry(entry: LogEntry, text: str) -> Line:
    """Return a line of the entry's place and a text."""
    return Line(f"{entry.path}:{entry.first}: {text}", (span_of(entry),), place=span_of(entry))


def kind_text(entry: LogEntry) -> str:
    """Return what an entry says, without its time, level and component."""
    return f"{one_line(entry.message or entry.text, WIDTH)}{_tail(entry)}"


def kind_line(entry: LogEntry) -> Line:
    """Return a line of an entry's component and what it says."""
    return line_at_entry(entry, ": ".join(filter(None, (entry.component, kind_text(entry)))))


def _tail(entry: LogEntry) -> str:
    return f" … {one_line(_without_packages(entry.tail), TAIL)}" if entry.tail else ""


def _entry_text(entry: LogEntry, with_day: bool) -> str:
    """Return the line as it is, or its parts if it is so long that the message would be cut off."""
    ends_with_it = entry.level and entry.message and entry.text.endswith(entry.message)
    if len(entry.text) <= WIDTH or not (ends_with_it or is_object(entry.text)):
        return entry.text
    time = format_time(entry.time) if entry.time else ""
    time = time if with_day else time[-8:]
    return " ".join(filter(None, [time, entry.level, f"{entry.component}:", _bracketed_id(entry), entry.message]))


def _bracketed_id(entry: LogEntry) -> str:
    """Return what stands in brackets right before the message, such as a request's id, if no other part is that."""
    before = entry.text.removesuffix(entry.message) if entry.message else ""
    match = re.search(r"\[([^\[\]\s]{1,60})\]\s*$", before)
    return match[0].strip() if match and match[1] not in {entry.component, entry.level} else ""


def _without_packages(line: str) -> str:
    """Return the line without the packages of an exception's name: `GatewayTimeout: no answer in 2 s`."""
    return re.sub(r"^((?:Caused by: )?)(?:\w+\.)+(?=\w+(?::|$))", r"\1", line)
