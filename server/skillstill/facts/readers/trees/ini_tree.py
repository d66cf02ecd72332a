"""Files of one setting a line to trees: INI and its kin, Java properties, and files of environment variables."""

import re
from collections.abc import Iterator

from skillstill.facts.readers.trees.node import Node, Tree

_SECTION = re.compile(r"\[(.+)\]")
_ESCAPE = re.compile(r"\\(u[\da-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_PROPERTY = re.compile(r"((?:[^\\=:\s]|\\.)*+)\s*[=:]?\s*(.*)", re.DOTALL)
_VARIABLE = re.compile(
    r"""(?:export\s+)?([\w.-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*+)"\s*(?:\#.*)?|'([^']*)'\s*(?:\#.*)?|(.*?)(?:(?<=\s)\#.*)?)"""
)


def parse_ini(text: str, delimiters: str = "=:") -> Tree:
    """Return sections as objects, as Python's configparser reads them: a deeper line goes on with the value before.

    Names keep their case. A name without a delimiter has the type null.
    """
    setting = re.compile(rf"([^{delimiters}]*)(?:[{delimiters}](.*))?", re.DOTALL)
    root = section = Node("object", 1, 1)
    current, indent = None, 0
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        depth = len(line) - len(line.lstrip())
        if bare.startswith(("#", ";")):
            continue
        if not bare or (current is not None and depth > indent):
            _continue(current, bare, number)
            continue
        header = _SECTION.match(bare)
        indent = depth
        if header is not None:
            current = None
            section = Node("object", number, number)
            root.children.append((header[1], section))
        elif (match := setting.fullmatch(bare)) is not None:
            current = Node("null" if match[2] is None else "string", number, number, (match[2] or "").strip())
            section.children.append((match[1].strip(), current))
    return Tree([root])


def _continue(setting: Node | None, bare: str, number: int) -> None:
    """Add a line to a value. Blank lines and comments are no part of it."""
    if setting is not None and bare:
        setting.text += "\n" + bare
        setting.type, setting.last = "string", number


def parse_properties(text: str) -> Tree:
    """Return the properties of a Java file, escapes resolved. A name keeps its dots, in a root of type "properties"."""
    root = Node("properties", 1, 1)
    for first, last, line in _joined(text):
        match = _PROPERTY.fullmatch(line)
        if match is not None and not line.startswith(("#", "!")):
            name, value = (_ESCAPE.sub(_unescaped, part) for part in match.groups())
            root.children.append((name, Node("string", first, last, value)))
    return Tree([root])


def _joined(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield numbers and text of lines. One that ends in an odd count of backslashes goes on in the next."""
    parts: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        part = line.strip(" \t\f\r") if parts or not line.lstrip().startswith(("#", "!")) else "#"
        goes_on = (len(part) - len(part.rstrip("\\"))) % 2 == 1
        parts.append(part[:-1] if goes_on else part)
        if not goes_on:
            if any(parts):
                yield number - len(parts) + 1, number, "".join(parts)
            parts = []


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, code)


def parse_environment(text: str) -> Tree:
    """Return the variables of a file of `NAME=value` lines, without their quotes."""
    tree = Tree([Node("object", 1, 1)])
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        match = _VARIABLE.fullmatch(bare)
        if match is not None:
            value = next((value for value in match.groups()[1:] if value is not None), "")
            tree.root.children.append((match[1], Node("string", number, number, value.strip())))
        elif bare and not bare.startswith("#"):
            tree.damage = "lines that are not NAME=value"
    return tree
