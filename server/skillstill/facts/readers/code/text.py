"""Small pieces of text out of source code."""

import re

_LAYOUT = re.compile(r"\s+")
_LAST_NAME = re.compile(r"^\W*(?:(?:dyn|virtual|public|protected|private)\s+)*([\w$.:\\]*)")
_QUOTES = re.compile(r"^\w{0,3}(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')$")
_COMMENT = re.compile(r"(?m)^[ \t]*(?:/\*[*!]?|\*+/|//[/!]?|#+|\*(?!\*)|=begin|=end)[ \t]?|\s*\*+/\s*$")
_TAG = re.compile(r"</?[a-z][^<>]*>")
_SENTENCE = re.compile(r"(?<=[.!?])\s")


def one_line(text: str, limit: int) -> str:
    """Return the text on one line, cut at `limit` characters."""
    line = _LAYOUT.sub(" ", text).strip()
    return line if len(line) <= limit else line[: limit - 1] + "…"


def last_name(text: str) -> str:
    """Return the name at the end of a path, without type arguments: `Base` of `*lib.Base[T]`."""
    path = _LAST_NAME.match(text)
    return re.split(r"[.:\\]+", path[1].rstrip(".:\\"))[-1] if path else ""


def first_sentence(doc: str, limit: int) -> str | None:
    """Return the first sentence of a docstring or a doc comment, without its marks."""
    bare = _TAG.sub("", _COMMENT.sub("", _QUOTES.sub("", doc.strip()))).strip()
    paragraph = re.split(r"\n\s*\n|(?:^\s*\{?@|\n\s*[@:])\w", bare, maxsplit=1)[0]  # tags such as @param follow
    return one_line(_SENTENCE.split(paragraph, maxsplit=1)[0], limit) or None
