"""JSON to a tree; also with comments, trailing commas, bare and single-quoted names, as tsconfig and JSON5 have.

Written here as no parser gives both: the ones with places refuse trailing commas, the lenient ones know no places.
"""

import json
import re
from collections.abc import Iterator

from skillstill.facts.readers.trees.node import Damage, Node, Tree, TreeBuilder

_TOKEN = re.compile(
    r"""(?:[\s\ufeff]+|//[^\n]*|/\*.*?\*/)*+  # between values
    (?: ([{}\[\],:]) | ("(?:[^"\\\n]++|\\.)*+"|'(?:[^'\\\n]++|\\.)*+') | ([^\s{}\[\],:"'/]+) | \Z )""",
    re.VERBOSE | re.DOTALL,
)
_LITERALS = {"true": "boolean", "false": "boolean", "null": "null"}
_INTEGER = re.compile(r"[-+]?(?:\d+|0[xX][\da-fA-F]+)")
_FLOAT = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|NaN|Infinity)")
_NAME = re.compile(r"[\w$-]+")
_OPENED = {"{": "object", "[": "array"}
_CLOSED = {"}": "object", "]": "array"}
_INVALID = "not valid JSON from some line on"
_LINES = "several JSON values in a file: only the first is read"

# What may follow: a value, a name, the colon after it, or a comma; or the end of the container before a value or name
_VALUE, _NAME_NEXT, _COLON, _COMMA = "value", "name", "colon", "comma"
_Token = tuple[str, str, int]  # punctuation, text of another token, line


def parse_json(text: str) -> Tree:
    """Return the tree of a text; what stands before the damage if it is not JSON."""
    builder = TreeBuilder()
    try:
        _parse(_tokens(text), builder)
    except Damage as damage:
        builder.tree.damage = str(damage)
    return builder.tree


def _parse(tokens: Iterator[_Token], builder: TreeBuilder) -> None:
    state, name = _VALUE, ""
    for mark, word, line in tokens:
        if mark in _CLOSED and state != _COLON:
            _close(builder, _CLOSED[mark], line)
            state = _COMMA
        elif mark in _OPENED and state == _VALUE:
            builder.open(name, Node(_OPENED[mark], line, line))
            state, name = (_NAME_NEXT if mark == "{" else _VALUE), ""
        elif word and state == _VALUE:
            builder.add(name, _scalar(word, line))
            state, name = _COMMA, ""
        elif word and state == _NAME_NEXT:
            state, name = _COLON, _name(word)
        elif mark == ":" and state == _COLON:
            state = _VALUE
        elif mark == "," and state == _COMMA and builder.container is not None:
            state = _NAME_NEXT if builder.container.type == "object" else _VALUE
        else:
            raise Damage(_INVALID if builder.container is not None or mark == "," else _LINES)
    if builder.container is not None:
        raise Damage(_INVALID)


def _tokens(text: str) -> Iterator[_Token]:
    place, line, counted = 0, 1, 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise Damage(_INVALID)
        mark, string, word = match.groups()
        place = match.end()
        start = place - len(mark or string or word or "")
        line += text.count("\n", counted, start)
        counted = start
        if mark or string or word:
            yield mark or "", string or word or "", line


def _close(builder: TreeBuilder, type: str, line: int) -> None:
    if builder.container is None or builder.container.type != type:
        raise Damage(_INVALID)
    builder.close(line)


def _name(word: str) -> str:
    if word[0] in "\"'":
        return _unquoted(word)
    if _NAME.fullmatch(word) is None:
        raise Damage(_INVALID)
    return word


def _scalar(word: str, line: int) -> Node:
    if word[0] in "\"'":
        return Node("string", line, line + word.count("\n"), _unquoted(word))
    if word in _LITERALS:
        return Node(_LITERALS[word], line, line, word)
    for type, pattern in (("integer", _INTEGER), ("float", _FLOAT)):
        if pattern.fullmatch(word):
            return Node(type, line, line, word)
    raise Damage(_INVALID)


def _unquoted(word: str) -> str:
    body = word[1:-1]
    if "\\" not in body:
        return body
    try:
        return str(json.loads(f'"{body}"', strict=False))
    except ValueError:  # escapes of JSON5, or a double quote between single ones
        return body
