"""The text of a file, so that its lines are the file's."""

import codecs

from skillstill.facts.reader import Source, Unreadable

_WIDE = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def read_text(source: Source, limit: int) -> str:
    """Return the text of a file without its byte order mark. Raise Unreadable if it is large or binary."""
    return decoded(source.whole(limit))


def decoded(data: bytes) -> str:
    encoding = _WIDE.get(data[:2], "utf-8-sig")
    if encoding == "utf-8-sig" and b"\0" in data[:8_192]:
        raise Unreadable("binary")
    return data.decode(encoding, "replace")
