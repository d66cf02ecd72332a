"""What people wrote about code, in plain words on one line."""

import re

from skillstill.util.text import clean

MARKUP = (
    (r":[a-zA-Z:+_-]+:`(?:[^`<]*?<)?[~!.]?([^`>]+)>?`", r"\1"),  # :func:`name`, :func:`text <name>`
    (r"`([^`<]+?)\s*<[^`>]+>`_{0,2}", r"\1"),  # `text <address>`_
    (r"!?\[([^\]]+)\]\([^)]*\)", r"\1"),  # [text](address)
    (r"`{1,3}~?([^`]+)`{1,3}_{0,2}", r"\1"),
    (r"(?<!\w)(\*{1,2})(?=\S)([^*]+?)(?<=\S)\1(?!\w)", r"\2"),
    (r"\\([*_`|\\ ])", r"\1"),
)  # fmt: skip
# A full stop, not of an abbreviation or an initial, before what may begin a sentence.
SENTENCE_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?<!\bcf)(?<!\b[A-Za-z])[.!?][)\"']?\s+(?=[\"'(]?[A-Z0-9`])"
)


def plain(text: str) -> str:
    """Return the text on one line, without the marks of reStructuredText and Markdown."""
    text = " ".join(clean(text).split())
    for pattern, bare in MARKUP:
        text = re.sub(pattern, bare, text)
    return text


def sentence(text: str) -> str:
    """Return the first one, without its end."""
    return SENTENCE_END.split(text)[0].rstrip(".!?:; ").strip()
