"""The function in which an exception was raised, by its stack trace, in whichever order its language writes it."""

import re
from collections.abc import Sequence

from skillstill.tools.logs.lines import parse_line

LONGEST = 400  # lines on either side that may belong to one trace
WIDEST = 1_000  # characters of a line that are looked at
HEAD = re.compile(r"Traceback \(most recent call last\)")
CHAINED = re.compile(r"(?:The above exception was the direct cause|During handling of the above exception)")
CAUSE = re.compile(r"Caused by: |\s+\[cause\]: ")  # an indented `Caused by` is that of an exception beside the matter
RAISED = re.compile(r"(?:[\w$]+[.:/]+)*[A-Z][\w$]*(?: \[\w+\])?(?::|$)")  # `shop.errors.KeyError: 'x'`
# Python tells the innermost call last, and the exception that began it all first; Java, JavaScript and C# the innermost
# call first, and the exception that began it all last.
PYTHON = re.compile(r'\s+File "[^"\n]+", line \d+, in ([\w<>]+)')
OTHER = re.compile(r"\s+at \S")
NAMED = re.compile(r"\s+at (?:async |new )*(?:[^\s(]*[./])?([\w$<>]+)(?:\[[^\]\s]*\])?(?: \[as \w+\])? ?\(")


def innermost_call(lines: Sequence[str], line: int) -> tuple[int, str] | None:
    """Return the line and the name of the innermost call of the trace around a line (numbered from 1).

    Return None if there is no trace, or if the innermost call has an unknown form.
    """
    near = range(max(1, line - LONGEST), min(len(lines), line + LONGEST) + 1)
    if not any(PYTHON.match(lines[number - 1]) or OTHER.match(lines[number - 1]) for number in near):
        return None
    begin = next((number for number in range(line, near.start - 1, -1) if _begins_anew(lines, number)), near.start)
    end = next((number for number in range(line + 1, near.stop) if _begins_anew(lines, number)), near.stop)
    trace = range(begin, end)
    python = [(number, match[1]) for number in trace if (match := PYTHON.match(lines[number - 1]))]
    return _of_python(lines, trace, python) if python else _of_others(lines, trace)


def _of_python(lines: Sequence[str], trace: range, frames: Sequence[tuple[int, str]]) -> tuple[int, str]:
    end = next((number for number in trace if CHAINED.match(lines[number - 1])), trace.stop)
    return max((frame for frame in frames if frame[0] < end), default=frames[-1])


def _of_others(lines: Sequence[str], trace: range) -> tuple[int, str] | None:
    if not (_is_entry(lines[trace.start - 1]) or RAISED.match(lines[trace.start - 1][:WIDEST])):
        return None  # prose that says `at noon (or later)`
    begin = max((number for number in trace if CAUSE.match(lines[number - 1])), default=trace.start)
    first = next((number for number in trace if number >= begin and OTHER.match(lines[number - 1])), 0)
    match = NAMED.match(lines[first - 1][:WIDEST]) if first else None
    return (first, match[1]) if match else None


def _begins_anew(lines: Sequence[str], number: int) -> bool:
    """Return whether a line begins an entry of a log, a trace of its own, or something else altogether."""
    text = lines[number - 1][:WIDEST]
    if HEAD.match(text):
        before = next((above for above in reversed(lines[max(0, number - 3) : number - 1]) if above.strip()), "")
        return not (CHAINED.match(before) or _is_entry(before))
    goes_on = not text.strip() or text[0].isspace() or CHAINED.match(text) or CAUSE.match(text) or RAISED.match(text)
    return _is_entry(text) or not goes_on


def _is_entry(text: str) -> bool:
    return bool(text) and not text[0].isspace() and parse_line(text[:WIDEST]) is not None
