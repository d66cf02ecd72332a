"""What the baseline of `explore` knows of a workspace: definitions, syntax trees, and the words of its text."""

import ast
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from skillstill_training.authoring.reading import language_of, symbols

if TYPE_CHECKING:
    from skills.explore.baseline_words import fold, stem
else:
    from skillstill_baseline_explore_words import fold, stem  # baseline.py has loaded it from beside this file

MAX_BYTES = 3_000_000
SKIPPED = {"node_modules", "__pycache__", "target", "vendor"}
NATIVE = (".c", ".h", ".cc", ".cpp", ".hh", ".hpp", ".cxx")
PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]*\Z")
ASSIGNED = (ast.Assign, ast.AnnAssign)
NOTHING = ast.Module([], [])
Function = ast.FunctionDef | ast.AsyncFunctionDef


def pieces(text: str) -> Iterator[str]:
    """The stems of all words of a text, names taken apart."""
    return (stem(piece) for piece in PIECE.findall(text))


def is_test(path: str) -> bool:
    return re.search(r"(^|/)(tests?|testing|_tests|conftest\.py)(/|$)|(^|/)test_|_tests?\.\w+$", path) is not None


@dataclass(frozen=True, slots=True, eq=False)
class Def:
    """A definition, as the tools show it: `name` is qualified."""

    name: str
    kind: str
    path: str
    line: int
    end: int
    signature: str
    bases: tuple[str, ...]
    raises: tuple[str, ...]

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def container(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def is_function(self) -> bool:
        return self.kind in ("function", "method")

    @property
    def is_type(self) -> bool:
        return not self.is_function and self.kind not in ("constant", "module")

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"

    @property
    def rank(self) -> tuple[bool, bool, bool, str, int]:
        """The likelier one to be asked for first."""
        return is_test(self.path), self.path.endswith(".pyi"), "example" in self.path, self.path, self.line


class Index:
    """The text and the definitions of one workspace."""

    def __init__(self, root: Path) -> None:
        self.texts = dict(_read(root))
        self.lines = {path: text.split("\n") for path, text in self.texts.items()}
        self.defs = [one for path in self.texts for one in _definitions(path, self.texts[path])]
        self.by_fold: dict[str, list[Def]] = defaultdict(list)
        self.by_path: dict[str, list[Def]] = defaultdict(list)
        for one in self.defs:
            self.by_fold[fold(one.last)].append(one)
            self.by_path[one.path].append(one)
        self._trees: dict[str, ast.Module | None] = {}
        self._functions: dict[str, dict[int, Function]] = {}
        self._imports: dict[str, dict[str, tuple[str, str]]] = {}

    @cached_property
    def is_native(self) -> bool:
        """Whether this is C or C++, which has no index of definitions."""
        size: Counter[bool] = Counter()
        for path, text in self.texts.items():
            size[path.endswith(NATIVE)] += len(text) if path.endswith(NATIVE) or language_of(path) else 0
        return size[True] > size[False]

    def find(self, name: str) -> list[Def]:
        """The definitions that a name means, however loosely it is written; those that are just so come first."""
        parts = [part for part in re.split(r"\.|::", name.removesuffix("()")) if part]
        if not parts or not (key := fold(parts[-1])):
            return []
        outer = [fold(part) for part in parts[:-1]]
        found = [one for one in self.by_fold.get(key, ()) if _within(one, outer)]
        exact = [one for one in found if one.last == parts[-1]]
        return sorted(exact or found, key=lambda one: one.rank)

    def body(self, one: Def) -> str:
        return "\n".join(self.lines[one.path][one.line - 1 : one.end])

    def tree(self, path: str) -> ast.Module | None:
        if path not in self._trees:
            try:
                tree = ast.parse(self.texts[path]) if path.endswith((".py", ".pyi")) else None
            except (SyntaxError, ValueError, RecursionError):
                tree = None
            self._trees[path] = tree
        return self._trees[path]

    def node(self, one: Def) -> Function | None:
        """The function's syntax tree; that of a class is its `__init__`."""
        if one.is_type:
            starts = [made for name in ("__init__", "__new__") if (made := self.member(one, name))]
            return self.node(starts[0]) if starts else None
        if one.path not in self._functions:
            nodes = ast.walk(self.tree(one.path) or NOTHING)
            self._functions[one.path] = {node.lineno: node for node in nodes if isinstance(node, Function)}
        return self._functions[one.path].get(one.line)

    def parameters(self, one: Def) -> dict[str, ast.expr | None]:
        node = self.node(one)
        return parameters(node, method=one.is_type or self.owner(one) is not None) if node else {}

    def constant(self, one: Def, name: str, depth: int = 5) -> str:
        """The literal value of a constant as a definition sees it."""
        known = self.resolve(one.path, name.removeprefix("self.").removeprefix("cls."))
        if known is None or known.kind != "constant" or not depth:
            return ""
        nodes = (node for node in ast.walk(self.tree(known.path) or NOTHING) if isinstance(node, ASSIGNED))
        value = next((node.value for node in nodes if node.lineno == known.line), None)
        if isinstance(value, ast.Name | ast.Attribute):
            return self.constant(known, ast.unparse(value), depth - 1)
        return literal(value) if isinstance(value, ast.Constant | ast.UnaryOp | ast.BinOp) else ""

    def uses(self, name: str, *, calls: bool) -> Iterator[tuple[str, int]]:
        """Where a name is called, or used at all."""
        for path, tree in self.naming(name):
            for node in ast.walk(tree):
                used = node.func if isinstance(node, ast.Call) else None if calls else node
                if isinstance(used, ast.Name | ast.Attribute) and name == getattr(
                    used, "id", getattr(used, "attr", "")
                ):
                    yield path, used.end_lineno or used.lineno

    def naming(self, name: str) -> Iterator[tuple[str, ast.Module]]:
        """The Python files in whose text the name stands."""
        for path, text in self.texts.items():
            if name in text and (tree := self.tree(path)):
                yield path, tree

    def resolve(self, path: str, name: str, scope: str = "") -> Def | None:
        """What a name means in a file: its own definition, an import, or the only one there is."""
        outer, _, last = name.rpartition(".")
        own = [one for one in self.by_path[path] if one.last == last and not outer]
        nested = [one for one in own if one.container and scope.startswith(one.container)]
        if found := [one for one in own if not one.container] or [one for one in nested if one.is_function]:
            return found[0]
        module, last = self._imported(path, name)
        known = [one for one in self.by_fold.get(fold(last), ()) if one.last == last and not one.container]
        known.sort(key=lambda one: (-_likeness(one.path, module), one.rank))
        return known[0] if known else None

    def _imported(self, path: str, name: str) -> tuple[str, str]:
        """The module that a name comes from, as far as the file says so, and its name there."""
        if path not in self._imports:
            nodes = ast.walk(self.tree(path) or NOTHING)
            froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
            names = [
                (alias.asname or alias.name, node.module or "", alias.name) for node in froms for alias in node.names
            ]
            self._imports[path] = {known: (module, original) for known, module, original in reversed(names)}
        imports, (outer, _, last) = self._imports[path], name.rpartition(".")
        if name in imports:
            return imports[name]
        if (first := outer.partition(".")[0]) in imports:
            return ".".join(imports[first]), last
        return outer or path.removesuffix(".py").replace("/", "."), last

    def parents(self, one: Def) -> list[Def]:
        """The classes of the workspace that a class derives from directly."""
        found = (self.resolve(one.path, plain(base)) for base in one.bases)
        return [base for base in found if base is not None and base.is_type and base is not one]

    def line_of(self, one: Def) -> list[Def]:
        """The class and its ancestors, in the order in which Python looks for a member."""
        order: list[Def] = []
        waiting = [one]
        while waiting and len(order) < 100:
            first = waiting.pop(0)
            order = [*filter(lambda known: known is not first, order), first]
            waiting = self.parents(first) + waiting
        return order

    def member(self, one: Def, name: str, *, above: bool = False) -> Def | None:
        """The one that a class has or inherits; `above`: from its parents."""
        owners = self.line_of(one)[above:]
        own = [known for owner in owners for known in self.by_path[owner.path] if known.container == owner.name]
        exact = [known for known in own if known.last == name]
        return next(iter(exact or [known for known in own if fold(known.last) == fold(name)]), None)

    def owner(self, one: Def) -> Def | None:
        """The class that a method is of."""
        return next((known for known in self.by_path[one.path] if known.name == one.container and known.is_type), None)

    def called(self, one: Def) -> list[Def]:
        """The functions of the workspace that a function calls, in order."""
        node = self.node(one)
        calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)] if node else []
        calls.sort(key=lambda call: (call.lineno, call.col_offset))
        found = (self._callee(one, call.func) for call in calls)
        return list({id(callee): callee for callee in found if callee is not None and callee is not one}.values())

    def _callee(self, one: Def, func: ast.expr) -> Def | None:
        if isinstance(func, ast.Name):
            return self.resolve(one.path, func.id, one.name)
        if not isinstance(func, ast.Attribute):
            return None
        owner, value = self.owner(one), ast.unparse(func.value)
        if value in ("self", "cls", "super()") and owner:
            return self.member(owner, func.attr, above=value == "super()")
        same = [each for each in self.by_fold.get(fold(func.attr), ()) if each.last == func.attr and each.is_function]
        likely = [each for each in same if fold(each.container.rpartition(".")[2]) == fold(value.rpartition(".")[2])]
        ours = likely or [each for each in same if not is_test(each.path)]
        return ours[0] if len(ours) == 1 or likely else None


def parameters(node: Function, *, method: bool) -> dict[str, ast.expr | None]:
    """The names that a function takes, with their defaults; without `self`."""
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    found: dict[str, ast.expr | None] = {one.arg: value for one, value in zip(plain, defaults, strict=True)}
    if method and plain and not any(ast.unparse(one) == "staticmethod" for one in node.decorator_list):
        found.pop(plain[0].arg)
    found |= {one.arg: None for one in [given.vararg] if one}
    found |= {one.arg: value for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)}
    return found | {one.arg: None for one in [given.kwarg] if one}


def literal(value: ast.expr) -> str:
    text = value.value if isinstance(value, ast.Constant) else None
    return f'"{text}"' if isinstance(text, str) else ast.unparse(value)


def plain(base: str) -> str:
    """A base without its parameters: `Generic[T]` is `Generic`."""
    return re.split(r"[\[(<]", base)[0].strip()


def _within(one: Def, outer: Sequence[str]) -> bool:
    """Whether the definition's qualified name or its module ends in these names."""
    parts = [fold(part) for part in one.container.split(".") if part]
    modules = [fold(part) for part in re.split(r"[/.]", one.path)[:-1]]
    return not outer or (modules + parts)[-len(outer) :] == list(outer) or parts[-len(outer) :] == list(outer)


def _likeness(path: str, module: str) -> int:
    """How many of the last parts of a module's dotted name are those of the file."""
    names = re.sub(r"(/__init__)?\.\w+$", "", path).split("/")
    wanted = [part for part in module.split(".") if part]
    return sum(part in names for part in wanted) * 2 + (bool(wanted) and names[-1] == wanted[-1])


def _read(root: Path) -> Iterator[tuple[str, str]]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED)
        for name in sorted(files):
            real = Path(folder, name)
            if real.is_file() and not real.is_symlink() and real.stat().st_size <= MAX_BYTES:
                raw = real.read_bytes()
                if b"\0" not in raw[:4096]:
                    yield real.relative_to(root).as_posix(), raw.decode("utf-8", "replace")


def _definitions(path: str, text: str) -> Iterable[Def]:
    language, lines = language_of(path), text.split("\n")
    for one in symbols(text.encode("utf-8"), language) if language else ():
        raised = tuple(raise_.name for raise_ in one.raises)
        if not re.search(r"overload\s*$", lines[max(0, one.line - 2)]):
            yield Def(one.name, one.kind, path, one.line, one.end, one.signature, one.bases, raised)


@lru_cache(maxsize=8)
def index_of(root: Path) -> Index:
    return Index(root)
