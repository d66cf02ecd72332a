"""One table of a TOML text put in, replaced or cut out: every other byte stays, comments and order among them.

It looks at lines only, and knows the headers of tables: who calls parses what came out and compares it.
"""

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_HEADER = re.compile(r"[ \t]*\[")
_NOTHING = re.compile(r"[ \t]*(?:#.*)?\r?\n?")


@dataclass(frozen=True, slots=True)
class TomlText:
    """The keys that lead to a table are bare keys."""

    implicit = True  # a table is there only as long as it holds something

    def parse(self, text: str) -> dict[str, Any]:
        """Raise ValueError and RecursionError."""
        return tomllib.loads(text)

    def text(self, document: dict[str, Any]) -> str:
        """Return the text of a document of one table, however deep it lies."""
        keys = list[str]()
        while all(isinstance(value, dict) for value in document.values()):
            key, document = next(iter(document.items()))
            keys.append(key)
        lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in document.items())
        return "\n".join([f"[{'.'.join(keys)}]", *lines])

    def put(self, text: str, keys: Sequence[str], value: dict[str, Any]) -> str:
        """Return the text with this table: where it was, else at the end. Raise ValueError if it cannot be found."""
        newline = "\r\n" if "\r\n" in text else "\n"
        for key in reversed(keys):
            value = {key: value}
        block = self.text(value).replace("\n", newline)
        if _unwrap(self.parse(text), keys):
            start, end = _lines(text, keys)
            return text[:start] + block + (newline if text[:end].endswith("\n") else "") + text[end:]
        if not text:
            return block + newline
        return text + newline + (block + newline if text.endswith("\n") else newline + block)

    def cut(self, text: str, keys: Sequence[str]) -> str:
        """Return the text without this table. What `put` added to a text, this takes off again, to the byte."""
        newline = "\r\n" if "\r\n" in text else "\n"
        start, end = _lines(text, keys)
        before = text[:start]
        if before.endswith(newline * 2):
            before = before.removesuffix(newline)
        if not text[:end].endswith("\n"):
            before = before.removesuffix(newline)
        return before + text[end:]


def _unwrap(document: Any, keys: Sequence[str]) -> bool:
    for key in keys:
        if not isinstance(document, dict) or key not in document:
            return False
        document = document[key]
    return True


def _lines(text: str, keys: Sequence[str]) -> tuple[int, int]:
    """Return the first line of a table and the one after its last, tables inside it included. Raise ValueError."""
    name = r"\s*\.\s*".join(rf"(?:{key}|\"{key}\"|'{key}')" for key in map(re.escape, keys))
    header = re.compile(rf"[ \t]*\[\s*{name}\s*(?:\]|\.)")
    lines = text.splitlines(keepends=True)
    first = next((number for number, line in enumerate(lines) if header.match(line)), None)
    if first is None:
        raise ValueError(f"[{'.'.join(keys)}] is not written as a table of its own")
    inside = first + 1
    while inside < len(lines) and (header.match(lines[inside]) or not _HEADER.match(lines[inside])):
        inside += 1
    while _NOTHING.fullmatch(lines[inside - 1]):  # what stands before the next header belongs to that
        inside -= 1
    return len("".join(lines[:first])), len("".join(lines[:inside]))
