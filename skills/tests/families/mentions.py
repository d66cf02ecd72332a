"""Who mentions whom in a workspace, by name alone: from where a test broke to the function that is to blame.

Mentions, not calls: a property is not called, and a function may be handed on.
"""

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import JsonValue
from skillstill_training.authoring import Span

Function = ast.FunctionDef | ast.AsyncFunctionDef
LONGEST = 3  # steps from the one to the other: each takes a look and a query, of which a run has ten


@dataclass(frozen=True, slots=True)
class Definition:
    """A function with the names that it mentions, in their order.

    `parent` is the class of a special method, which is used without being named: `repr(cart)`, `cart == other`.
    """

    name: str
    parent: str
    path: str
    first: int
    last: int
    mentions: tuple[str, ...]

    @property
    def place(self) -> dict[str, JsonValue]:
        return {"name": self.name, "parent": self.parent, "path": self.path, "first": self.first, "last": self.last}

    def lies_in(self, span: Span) -> bool:
        return self.path == span.path and span.first <= self.first <= self.last <= span.last


class Mentions:
    """The functions of a folder."""

    def __init__(self, root: Path) -> None:
        self.by_name: dict[str, list[Definition]] = defaultdict(list)
        self.by_path: dict[str, list[Definition]] = defaultdict(list)
        for file in sorted(root.rglob("*.py")):
            for one in _definitions(file, file.relative_to(root).as_posix()):
                self.by_name[one.parent or one.name].append(one)
                self.by_path[one.path].append(one)

    def around(self, path: str, line: int) -> Definition | None:
        """Return the innermost function around a line."""
        found = [one for one in self.by_path[path] if one.first <= line <= one.last]
        return max(found, key=lambda one: one.first, default=None)

    def chain(self, start: Definition, gold: Span) -> Sequence[Definition] | None:
        """Return the functions on the shortest way from this one to the one in these lines, without the first.

        None if mentions do not lead there.
        """
        ways: list[tuple[Definition, ...]] = [(start,)]
        seen = {start}
        for _ in range(LONGEST + 1):
            if found := next((way for way in ways if way[-1].lies_in(gold)), None):
                return found[1:]
            following: list[tuple[Definition, ...]] = []
            for way in ways:
                named = [one for name in way[-1].mentions for one in self.by_name[name] if one not in seen]
                seen.update(named)
                following += [(*way, one) for one in dict.fromkeys(named)]
            ways = following
        return None


@lru_cache(maxsize=8)
def mentions_of(root: Path) -> Mentions:
    return Mentions(root)


def _definitions(file: Path, path: str) -> list[Definition]:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):
        return []
    functions = [one for one in ast.walk(tree) if isinstance(one, Function)]
    parents = {one: made.name for made in ast.walk(tree) if isinstance(made, ast.ClassDef) for one in made.body}
    return [_definition(one, parents.get(one, ""), path) for one in functions]


def _definition(function: Function, parent: str, path: str) -> Definition:
    name, last = function.name, function.end_lineno or function.lineno
    special = parent if name.startswith("__") else ""
    return Definition(name, special, path, _first(function), last, _mentioned(function))


def _first(function: Function) -> int:
    """Return the line of its first decorator, if it has one."""
    return min([function.lineno, *(one.lineno for one in function.decorator_list)])


def _mentioned(function: Function) -> tuple[str, ...]:
    names = [one for one in ast.walk(function) if isinstance(one, ast.Name | ast.Attribute)]
    names.sort(key=lambda one: (one.lineno, one.col_offset))
    return tuple(dict.fromkeys(one.attr if isinstance(one, ast.Attribute) else one.id for one in names))
