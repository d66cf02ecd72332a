"""Dockerfiles and makefiles to trees: what is written, nothing expanded."""

import re
from collections.abc import Iterator

from skillstill.facts.readers.trees.node import Node, Tree

_INSTRUCTION = re.compile(r"([A-Za-z]+)(?:\s+(.*))?", re.DOTALL)
_STAGE = re.compile(r"\sas\s+(\S+)\s*$", re.IGNORECASE)
_HEREDOC = re.compile(r"<<-?\s*[\"']?(\w+)[\"']?")
_TAKES_HEREDOC = re.compile(r"(?:run|copy|add)\b", re.IGNORECASE)
_VARIABLE = re.compile(r"(?:(?:export|override|private)\s+)*([^\s:#=?+!]+)\s*(?::{1,3}|\?|\+|!)?=\s*(.*)", re.DOTALL)
_DEFINE = re.compile(r"(?:(?:export|override)\s+)*define\s+(\S+)")
_RULE = re.compile(r"([^\s:=#&][^:=#&]*)&?::?(?!=)\s*([^#]*)", re.DOTALL)
_Line = tuple[int, int, str]


def parse_dockerfile(text: str) -> Tree:
    """Return the instructions; those of a named stage under its name, its FROM as well."""
    root = stage = Node("object", 1, 1)
    for first, last, line in _instructions(text):
        match = _INSTRUCTION.fullmatch(line)
        if match is None:
            continue
        name, rest = match[1].upper(), match[2] or ""
        if name == "FROM":
            named, stage = _STAGE.search(rest), root
            if named is not None:
                stage = Node("object", first, last)
                root.children.append((named[1], stage))
        stage.children.append((name, Node("instruction", first, last, rest)))
    return Tree([root])


def _instructions(text: str) -> Iterator[_Line]:
    """Yield the instructions as one line each. Comments may stand in them, and here-documents belong to them."""
    parts: list[str] = []
    first, ends = 0, list[str]()  # the words that end the here-documents that are open
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if ends:
            parts.append("\n" + bare)
            ends = ends[1:] if bare == ends[0] else ends
        elif not bare or bare.startswith("#"):
            continue
        else:
            first = first or number
            parts.append(bare.removesuffix("\\"))
            ends = _HEREDOC.findall(bare) if _TAKES_HEREDOC.match(parts[0]) else []
            if bare.endswith("\\"):
                continue
        if not ends:
            yield first, number, "".join(parts).strip()
            parts, first = [], 0


def parse_makefile(text: str) -> Tree:
    """Return variables, and targets: a target's text is what it needs, its child `recipe` is what it runs."""
    root = Node("object", 1, 1)
    targets: list[Node] = []
    for first, last, line in _logical_lines(text):
        bare = line.strip()
        if line.startswith("\t") and targets:
            _add_recipe(targets, first, last, bare)
        elif not bare or bare.startswith("#"):
            continue
        elif (match := _VARIABLE.fullmatch(bare)) is not None:
            targets = []
            root.children.append((match[1], Node("variable", first, last, match[2])))
        elif (match := _RULE.match(bare)) is not None:
            targets = [Node("target", first, last, match[2].strip()) for _ in match[1].split()]
            root.children += zip(match[1].split(), targets, strict=True)
    return Tree([root])


def _logical_lines(text: str) -> Iterator[_Line]:
    """Yield lines with those that a backslash joins to them. A `define` is one line up to its `endef`."""
    parts: list[str] = []
    defined = None
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        defined = defined or (None if parts or line.startswith("\t") else _DEFINE.match(line))
        parts.append(line.removesuffix("\\"))
        if defined is not None and line.strip() == "endef":
            yield number - len(parts) + 1, number, f"{defined[1]} = " + "\n".join(parts[1:-1])
        elif defined is not None or line.endswith("\\"):
            continue
        else:
            yield number - len(parts) + 1, number, " ".join([parts[0].rstrip(), *(part.strip() for part in parts[1:])])
        parts, defined = [], None


def _add_recipe(targets: list[Node], first: int, last: int, line: str) -> None:
    for target in targets:
        target.last = last
        if target.children:
            recipe = target.children[0][1]
            recipe.text, recipe.last = f"{recipe.text}\n{line}", last
        else:
            target.children.append(("recipe", Node("recipe", first, last, line)))
