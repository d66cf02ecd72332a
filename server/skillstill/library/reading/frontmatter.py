"""The front matter of a file that breaks the rules of YAML: strict, then quoted, then line by line.

What comes back holds texts, lists and mappings only: a version 1.10 is not 1.1, and `no` is not false.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import yaml
from pydantic import JsonValue

Fields = dict[str, JsonValue]
LONGEST = 30_000  # characters that are read; the longest front matter seen in 17 public libraries has 6,000
BRACKETS = 500  # nested ones keep PyYAML busy for minutes; the most seen in one front matter are 22
_FENCED = re.compile(r"---[ \t]*\n(.*?\n|)---[ \t]*(?:\n|$)(.*)", re.DOTALL)
_BEFORE = re.compile(r"\s*(?:<!--(?:(?!-->).){0,2000}-->\s*){0,20}(?:```\w*\s*)?(?=---[ \t]*\n)", re.DOTALL)
_KEY = re.compile(r"([A-Za-z_][\w -]{0,60}):(?:[ \t]+|(?=\n)|$)")
_MARKED = re.compile(r"[|>][+-]?\d?\s*\n")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`fields` is None if the file has none. `repairs` says what was needed to read it, and `twice` which keys
    stand in it more than once (the last one counts)."""

    fields: Fields | None
    body: str
    repairs: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()


def read_front_matter(text: str) -> FrontMatter:
    """Return the front matter of a text with line feeds alone and no byte-order mark. Never raises."""
    before = _BEFORE.match(text)
    match = _FENCED.match(text, before.end() if before else 0)
    if match is None:
        return FrontMatter(None, text)
    late = ("front matter: it begins late",) if before and text[: before.end()].strip() else ()
    cut = (f"front matter: read up to {LONGEST} characters",) if len(match[1]) > LONGEST else ()
    fields, twice, repair = _fields(match[1][:LONGEST])
    return FrontMatter(fields, match[2], (*late, *cut, *((repair,) if repair else ())), twice)


def _fields(head: str) -> tuple[Fields, tuple[str, ...], str]:
    """Return the fields, the keys that stand there twice, and which repair it took."""
    try:
        return *_strict(head), ""
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        problem = str(getattr(error, "problem", None) or error).partition("\n")[0][:80]
    try:
        return *_strict(_quoted(head)), f"front matter: quoted, for it is not YAML: {problem}"
    except (yaml.YAMLError, RecursionError, ValueError):
        return *_by_line(head), f"front matter: read line by line, for it is not YAML: {problem}"


def _strict(head: str) -> tuple[Fields, tuple[str, ...]]:
    """Raise YAMLError, or what PyYAML raises at a date, a number or a depth that it cannot bear."""
    if head.count("[") + head.count("{") > BRACKETS:
        raise yaml.YAMLError("too many brackets")
    if re.search(r"(?:[-?:][ \t]+){30}", head):  # nested as deeply as brackets, without any
        raise yaml.YAMLError("nested too deeply")
    node = yaml.compose(head, Loader=yaml.BaseLoader)
    if node is None:
        return {}, ()
    if not isinstance(node, yaml.MappingNode):
        raise yaml.YAMLError("no lines of `field: value`")
    keys = Counter(str(key.value) for key, _ in node.value)
    fields = _plain(node, set())
    return dict(fields) if isinstance(fields, Mapping) else {}, tuple(
        sorted(key for key, count in keys.items() if count > 1)
    )


def _plain(node: yaml.Node, seen: set[int]) -> JsonValue:
    """Return texts, lists and mappings. A node that is met again is an alias: a few of them expand without bound."""
    if id(node) in seen:
        raise yaml.YAMLError("an alias")
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        return {_key(key): _plain(value, seen) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, seen) for item in node.value]
    return _sayable(node.value)


def _key(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return _sayable(node.value)
    raise yaml.YAMLError("a field whose name is no text")


def _sayable(text: str) -> str:
    """Return the text without the half characters that an escape in YAML can spell."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _quoted(head: str) -> str:
    """Return each line of `field: value` that is no YAML by itself, its value quoted."""
    return "\n".join(_quoted_line(line) for line in head.split("\n"))


def _quoted_line(line: str) -> str:
    key = _KEY.match(line)
    if key is None or not line[key.end() :].strip() or _is_yaml(line):
        return line
    value = line[key.end() :].strip().replace("'", "''")
    return f"{line[: key.end()]}'{value}'"


def _is_yaml(line: str) -> bool:
    try:
        _strict(line)
    except (yaml.YAMLError, RecursionError, ValueError):
        return False
    return True


def _by_line(head: str) -> tuple[Fields, tuple[str, ...]]:
    """Return the fields, read line by line: one that is not YAML costs only its own type."""
    blocks: list[list[str]] = [[]]
    for line in head.split("\n"):
        if _KEY.match(line):
            blocks.append([])
        blocks[-1].append(line)
    fields: Fields = {}
    twice: set[str] = set()
    for block in blocks:
        found = _block("\n".join(block))
        twice |= fields.keys() & found.keys()
        fields |= found
    return fields, tuple(sorted(twice))


def _block(block: str) -> Fields:
    key = _KEY.match(block)
    if key is None:
        return {}
    try:
        return _strict(block)[0]
    except (yaml.YAMLError, RecursionError, ValueError):
        value = _MARKED.sub("", block[key.end() :], count=1)
        return {key[1].strip(): re.sub(r"\s*\n\s*", "\n", value).strip().strip("\"'")}
