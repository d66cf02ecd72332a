"""In which function an exception was raised: what a stack trace says, in whichever order its language tells it."""

import re
from collections.abc import Sequence

from skillstill.tools.log_lines import read_line

LONGEST = 400  # lines on either side that may belong to one trace
# Python tells the innermost call last, and the exception that began it all first; Java, JavaScript and C# the innermost
# call first, and the exception that began it all last.
PYTHON = re.compile(r'\s+File "[^"\n]+", line \d+, in ([\w<>]+)')
CHAINED = re.compile(r"(?:The above exception was the direct cause|During handling of the above exception)")
OTHERS = re.compile(r"\s+at (?:async |new )*(?:[\w$<>\[\]/]+\.)*([\w$<>]+) ?\(")
CAUSE = re.compile(r"\s*Caused by: ")


def raised_in(lines: Sequence[str], line: int) -> tuple[int, str] | None:
    """The line and the name of that function, by the trace around a line (numbered from 1); None without a trace."""
    trace = _around(lines, line)
    python = [(number, found[1]) for number in trace if (found := PYTHON.match(lines[number - 1]))]
    if python:
        end = next((number for number in trace if CHAINED.match(lines[number - 1])), trace.stop)
        return max((frame for frame in python if frame[0] < end), default=python[-1])
    begin = max((number for number in trace if CAUSE.match(lines[number - 1])), default=trace.start)
    frames = ((number, OTHERS.match(lines[number - 1])) for number in trace if number >= begin)
    return next(((number, found[1]) for number, found in frames if found), None)


def _around(lines: Sequence[str], line: int) -> range:
    """The lines of the entry that holds a line: back to where it begins, on to where the next one does."""
    before = range(line, max(0, line - LONGEST), -1)
    after = range(line + 1, min(len(lines), line + LONGEST) + 1)
    begin = next((number for number in before if _begins(lines[number - 1])), before[-1])
    end = next((number for number in after if _begins(lines[number - 1])), after.stop)
    return range(begin, end)


def _begins(text: str) -> bool:
    return bool(text) and not text[0].isspace() and read_line(text) is not None
