"""Commits and tags: what their objects say, with the doubtful parts left empty."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from skillstill.facts.history.errors import Damaged
from skillstill.util.text import clean, one_line, shorten

MAX_MESSAGE = 1_000_000  # bytes of a commit or a tag
MAX_PARENTS = 100  # the largest merge of Linux has 66
NAME, SUBJECT, BODY = 200, 300, 600  # characters

# Encodings that git's own programs wrote messages in. Looking up any name that a commit gives would load modules.
_ENCODINGS = re.compile(
    r"iso-?8859-?\d\d?|latin-?1|(cp|windows-?)125\d|koi8-[ru]|euc-?(jp|kr)|shift_?jis|sjis|gbk|gb2312|gb18030|big5",
    re.IGNORECASE,
)
_PARENT = re.compile(rb"parent ([0-9a-f]+)\n")
_DATE = re.compile(rb">\s*(\d{1,18})(?: [+-]\d{4})?\s*$")
_SIGNATURE = re.compile(r"^-----BEGIN (?:PGP|SSH|SIGNED) (?:SIGNATURE|MESSAGE)-----.*", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Links:
    """What leads from a commit on: its tree, its parents, and the seconds at which it was committed."""

    tree: bytes
    parents: tuple[bytes, ...]
    seconds: int


@dataclass(frozen=True, slots=True)
class Person:
    """Who did something, and when: a date that no calendar has is None."""

    name: str | None = None
    email: str | None = None
    time: str | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit as it is told."""

    author: Person
    committer: Person
    subject: str
    body: str | None


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag with a message of its own, and the object that it names."""

    target: bytes
    kind: str
    tagger: Person
    message: str


def parse_links(data: bytes, width: int) -> Links:
    """Return a commit's tree, parents and time. Raise Damaged if it names no tree."""
    head = data.partition(b"\n\n")[0] + b"\n"
    if not head.startswith(b"tree "):
        raise Damaged("not a commit")
    at = head.index(b"\n") + 1
    parents: list[bytes] = []
    while (match := _PARENT.match(head, at)) and len(parents) < MAX_PARENTS:
        parents.append(_identity(match[1], width))
        at = match.end()
    date = _DATE.search(_line(head, b"committer"))
    return Links(_identity(head[5 : head.index(b"\n")], width), tuple(parents), int(date[1]) if date else 0)


def parse_commit(data: bytes) -> Commit:
    """Return who made a commit, when, and with which message."""
    head, _, message = data.partition(b"\n\n")
    encoding = _line(head, b"encoding").decode("ascii", "replace").strip()
    subject, body = _split_message(_decode(message, encoding))
    author, committer = (_person(_line(head, role), encoding) for role in (b"author", b"committer"))
    return Commit(author, committer, one_line(subject, SUBJECT), shorten(body, BODY) or None)


def parse_tag(data: bytes, width: int) -> Tag:
    """Return what a tag object says. Raise Damaged if it names no object."""
    head, _, message = data.partition(b"\n\n")
    target = _identity(_line(head, b"object"), width)
    text = clean(_SIGNATURE.sub("", _decode(message, ""))).strip()
    return Tag(target, _line(head, b"type").decode("ascii", "replace"), _person(_line(head, b"tagger"), ""), text)


def iso_time(seconds: int) -> str | None:
    """Return a time in UTC as in 2026-01-31T12:00:00Z, or None if no calendar has it."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return None


def _identity(text: bytes, width: int) -> bytes:
    try:
        identity = bytes.fromhex(text.decode("ascii"))
    except ValueError as error:
        raise Damaged("not an id") from error
    if len(identity) != width:
        raise Damaged("not an id")
    return identity


def _line(head: bytes, role: bytes) -> bytes:
    """Return the rest of the first line of an object's head that begins with a word."""
    at = 0 if head.startswith(role + b" ") else head.find(b"\n" + role + b" ") + 1
    if not at and not head.startswith(role + b" "):
        return b""
    end = head.find(b"\n", at)
    return head[at + len(role) + 1 : end if end >= 0 else len(head)]


def _person(line: bytes, encoding: str) -> Person:
    name, _, rest = line.partition(b"<")
    date = _DATE.search(line)
    return Person(
        one_line(_decode(name, encoding), NAME) or None,
        one_line(_decode(rest.partition(b">")[0], encoding), NAME) or None,
        iso_time(int(date[1])) if date else None,
    )


def _decode(data: bytes, encoding: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode(encoding if _ENCODINGS.fullmatch(encoding) else "utf-8", "replace")


def _split_message(message: str) -> tuple[str, str]:
    """Return the first paragraph and the rest, both without control characters."""
    lines: Sequence[str] = clean(message).strip("\n").split("\n")
    end = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    return " ".join(lines[:end]), "\n".join(lines[end:]).strip()
