"""How entries are shown: each in one line, behind its place."""

import re

from skillstill.tools.kit.tool import Line
from skillstill.tools.logs.files import Entry
from skillstill.tools.logs.lines import is_object
from skillstill.tools.logs.times import said
from skillstill.types import Span
from skillstill.util.text import one_line

WIDTH = 90  # characters of an entry's line, or of a group's name
TAIL = 50  # of what a stack trace ends with


def span_of(entry: Entry) -> Span:
    return Span(path=entry.path, first=entry.first, last=entry.last)


def row(entry: Entry) -> Line:
    """As the log has it."""
    return placed(entry, f"{one_line(_told(entry), WIDTH)}{_tail(entry)}")


def placed(entry: Entry, text: str) -> Line:
    """The text behind the entry's place."""
    return Line(f"{entry.path}:{entry.first}: {text}", (span_of(entry),))


def kind_said(entry: Entry) -> str:
    """What it says, without its time, its level and who says it."""
    return f"{one_line(entry.message or entry.text, WIDTH)}{_tail(entry)}"


def kind_row(entry: Entry) -> Line:
    """Who says what."""
    return placed(entry, ": ".join(filter(None, (entry.component, kind_said(entry)))))


def _tail(entry: Entry) -> str:
    return f" … {one_line(_exception(entry.tail), TAIL)}" if entry.tail else ""


def _told(entry: Entry) -> str:
    """The line as it is; where it is long, what it says: there the message would be cut off."""
    ends_with_it = entry.level and entry.message and entry.text.endswith(entry.message)
    if len(entry.text) <= WIDTH or not (ends_with_it or is_object(entry.text)):
        return entry.text
    time = said(entry.time)[-8:] if entry.time else ""
    return " ".join(filter(None, [time, entry.level, f"{entry.component}:", _boxed(entry), entry.message]))


def _boxed(entry: Entry) -> str:
    """What stands in brackets right before the message, such as a request's id, where that is told nowhere else."""
    before = entry.text.removesuffix(entry.message) if entry.message else ""
    found = re.search(r"\[([^\[\]\s]{1,60})\]\s*$", before)
    return found[0].strip() if found and found[1] not in {entry.component, entry.level} else ""


def _exception(line: str) -> str:
    """The line without the packages of an exception's name: `GatewayTimeout: no answer in 2 s`."""
    return re.sub(r"^((?:Caused by: )?)(?:\w+\.)+(?=\w+(?::|$))", r"\1", line)
