"""Text that comes from files or models, made fit for a terminal and for another model's context."""

import re

# Escape sequences whole; then C0/C1 controls but tab and newline, soft hyphen, zero-width and bidi marks, line and
# paragraph separators, byte-order marks, lone surrogates, and the invisible tag characters U+E0000..E007F.
_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def clean(text: str) -> str:
    """The text without escape sequences and characters that a reader cannot see. Not a filter for meaning."""
    return _INVISIBLE.sub("", _ESCAPE_SEQUENCE.sub("", text))


def shorten(text: str, width: int) -> str:
    """The text in at most `width` characters, its cut marked with an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "…"


def one_line(text: str, width: int) -> str:
    """The first `width` characters of the text on one line."""
    return shorten(" ".join(clean(text).split()), width)
