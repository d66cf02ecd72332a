"""One member of a JSON text put in, replaced or cut out: every other byte stays, comments and indentation among them.

A comment, and a comma before a closing bracket, is blanked out by spaces before the text is parsed: places stay.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_Object = dict[str, Any]
_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=[ \t\r\n]*[}}\]])", re.DOTALL)
_END_OF_LINE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Member:
    """Where a member of an object is: from its key to the end of its value."""

    key: str
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class JsonText:
    """`comments`, `last_commas`: whether this file's program reads them; elsewhere they are mistakes."""

    comments: bool = False
    last_commas: bool = False
    implicit = False  # an object that holds nothing is there nevertheless

    def parse(self, text: str) -> Any:
        """Raise ValueError for what could not be written again without loss, and RecursionError."""
        strict = self._strict(text)
        return json.loads(strict, object_pairs_hook=_unique, parse_float=_finite, parse_constant=_finite)

    def text(self, document: _Object) -> str:
        """Return two spaces, plain characters; halves of surrogate pairs, which no file can hold, stay escapes."""
        return _dump(document, "  ")

    def put(self, text: str, keys: Sequence[str], value: _Object) -> str:
        """Return the text with this value under these keys."""
        strict, path = self._strict(text), self._path(text, keys)
        if len(path) == len(keys):
            found = path[-1]
            return text[: found.value] + _render(strict, value, _indent(strict, found.start)) + text[found.end :]
        for key in reversed(keys[len(path) + 1 :]):
            value = {key: value}
        return self._inserted(text, path[-1].value if path else _skip(strict, 0), keys[len(path)], value)

    def cut(self, text: str, keys: Sequence[str]) -> str:
        """Return the text without the member under these keys.

        What `put` added to a text is taken off again, to the byte.
        """
        *above, member = self._path(text, keys)
        bare, opened = self._uncommented(text), above[-1].value if above else _skip(self._strict(text), 0)
        start, after = _gap(text, member.start), _skip(bare, member.end)
        end = after + 1 if bare[after] == "," else member.end
        remark = self._remark_ends(text, start)
        if remark and text[end] not in "\r\n":
            start = text.index("\n", start) + 1  # else the remark would go on
        if bare[after] == ",":
            return text[:start] + text[end:]
        if (comma := bare.rfind(",", opened, member.start)) >= 0 and not bare[comma + 1 : member.start].strip():
            return text[:comma] + text[comma + 1 : start] + text[member.end :]
        closing = "" if remark else _newline(text) + _indent(text, opened)
        return text[:start] + text[member.end :].removeprefix(closing)

    def _inserted(self, text: str, opened: int, key: str, value: _Object) -> str:
        strict, bare, newline = self._strict(text), self._uncommented(text), _newline(text)
        members = list(_members(strict, opened))
        if not members:
            outer = _indent(text, opened)
            inner = outer + _unit(bare)
            new = f"{newline}{inner}{_dump(key)}: {_render(strict, value, inner)}{newline}{outer}"
            return text[: opened + 1] + new + text[opened + 1 :]
        last, after = members[-1], _skip(bare, members[-1].end)
        followed = bare[after] == ","  # a last comma: ours gets one, too
        here = after + 1 if followed else last.end
        if "\n" not in text[_gap(text, last.start) : last.start]:
            new = f" {_dump(key)}: {_dump(value)}"
        else:
            indent = _indent(text, last.start)
            new = f"{newline}{indent}{_dump(key)}: {_render(strict, value, indent)}"
        remark = _END_OF_LINE.match(text, here) if self.comments and new[0] != " " else None
        there = remark.end() if remark else here
        comma = "" if followed else ","
        return text[:here] + comma + text[here:there] + new + ("," if followed else "") + text[there:]

    def _path(self, text: str, keys: Sequence[str]) -> list[_Member]:
        """Return the members that lead to a value, as many as there are."""
        strict, path = self._strict(text), list[_Member]()
        at = _skip(strict, 0)
        for key in keys:
            found = next((member for member in _members(strict, at) if member.key == key), None)
            if found is None:
                break
            path.append(found)
            at = found.value
        return path

    def _remark_ends(self, text: str, here: int) -> bool:
        """Return whether a comment ends here that only its line's end can end."""
        return self.comments and any(
            found.end() == here and found[0].startswith("//") for found in _COMMENT.finditer(text, 0, here)
        )

    def _uncommented(self, text: str) -> str:
        return _COMMENT.sub(lambda found: _blank(found[0]), text) if self.comments else text

    def _strict(self, text: str) -> str:
        bare = self._uncommented(text)
        return _LAST_COMMA.sub(lambda found: _blank(found[0]), bare) if self.last_commas else bare


def _members(strict: str, opened: int) -> Iterator[_Member]:
    at = _skip(strict, opened + 1)
    while strict[at] == '"':
        key, end = _DECODER.raw_decode(strict, at)
        value = _skip(strict, _skip(strict, end) + 1)
        _, end = _DECODER.raw_decode(strict, value)
        yield _Member(key, at, value, end)
        at = _skip(strict, end)
        if strict[at] == ",":
            at = _skip(strict, at + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _blank(found: str) -> str:
    return found if found[0] == '"' else re.sub(r"[^\r\n]", " ", found)


def _gap(text: str, start: int) -> int:
    """Return where the white space begins that belongs to what starts here.

    Its line's end before it, if it has a line.
    """
    bare = text[:start].rstrip(" \t\r\n")
    line = text.rfind("\n", len(bare), start)
    if line < 0:
        return len(bare)
    return line - 1 if text[len(bare) : line].endswith("\r") else line


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(bare: str) -> str:
    found = re.search(r"\n([ \t]+)\S", bare)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _render(text: str, value: _Object, indent: str) -> str:
    """Return the object on lines of its own, all but the first with this indentation."""
    return _dump(value, _unit(text)).replace("\n", _newline(text) + indent)


def _dump(value: Any, unit: str | None = None) -> str:
    written = json.dumps(value, indent=unit, ensure_ascii=False)
    return written.encode("utf-8", "backslashreplace").decode("utf-8")


def _unique(pairs: Iterable[tuple[str, Any]]) -> _Object:
    found: _Object = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{key!r} is there twice")
        found[key] = value
    return found


def _finite(written: str) -> float:
    if not math.isfinite(float(written)):
        raise ValueError(f"no such number: {written}")
    return float(written)
