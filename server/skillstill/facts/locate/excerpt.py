"""What is shown of a line: as much as has room, and the words that were asked for."""

from skillstill.facts.locate.lines import LineWords
from skillstill.util.text import clean, shorten

WIDTH = 120  # characters of the line that is shown
BEFORE = 30  # of them before the first wanted word, if the line has no room


def excerpt(lines: LineWords, number: int, width: int = WIDTH) -> str:
    """Return a line of a file on one line, cut around its wanted words; empty if there is no such line."""
    if not 0 < number <= len(lines.lines):
        return ""
    text = " ".join(clean(lines.lines[number - 1]).split())
    lowered = text.lower()
    found = [at for word in {*lines.words[number - 1]} if (at := lowered.find(word.lower())) >= 0]
    first = max(0, min(found, default=0) - BEFORE)
    if len(text) <= width or max(found, default=0) < width - BEFORE:
        return shorten(text, width)
    return shorten("…" + text[min(first, len(text) - width + 1) :], width)
