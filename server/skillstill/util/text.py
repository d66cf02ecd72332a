"""Text that comes from files or models, made fit for a terminal and for another model's context."""

import re
from collections.abc import Mapping
from itertools import accumulate

# What a reader cannot see: controls but tab, newline and return; soft hyphens, zero-width and bidirectional marks,
# invisible operators and fillers, byte-order marks, both ranges of variation selectors, tag characters.
UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef"
)
_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_INVISIBLE = re.compile(f"[{UNSEEN}\r\u2028\u2029\ud800-\udfff]")  # separators of lines and lone surrogates too


def clean(text: str) -> str:
    """Return the text without escape sequences and invisible characters. This is no filter for meaning."""
    return _INVISIBLE.sub("", _ESCAPE_SEQUENCE.sub("", text))


def shorten(text: str, width: int) -> str:
    """Return the text in at most `width` characters, a cut marked with an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "…"


def one_line(text: str, width: int) -> str:
    """Return the first `width` characters of the text on one line."""
    return shorten(" ".join(clean(text).split()), width)


def indented(line: str, width: int) -> str:
    """Return a line of a file as it is told beside another one: indented, its own indentation left out."""
    return f"  {shorten(clean(line).strip(), width)}"


def whole_lines(text: str, width: int) -> str:
    """Return the first lines that fit, and how many do not. No line is cut: half a number is another number."""
    lines = text.split("\n")
    ends = accumulate(len(line) + 1 for line in lines)
    kept = sum(end <= width + 1 for end in ends)
    if kept == len(lines):
        return text
    return "\n".join([*lines[:kept], f"… {len(lines) - kept} more lines"]) if kept else shorten(lines[0], width)


def call_text(tool: str, arguments: Mapping[str, object], width: int = 80) -> str:
    """Return a tool call as a person reads it, in at most `width` characters: `outline(Session)`."""
    return one_line(f"{tool}({', '.join(map(str, arguments.values()))})", width)
