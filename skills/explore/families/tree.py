"""An indexed workspace: the definitions of its files, and the places of its words."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path

from skillstill_training.authoring.reading import language_of, symbols

from .code import Class, CodePlace, Constant, Function, Import, Module, functions, is_test, parse_module

MAX_BYTES = 400_000  # of an indexed file: a larger one is data
CACHED = 40  # trees: all workspaces of a skill
Line = tuple[str, int]


@dataclass(frozen=True, slots=True)
class TreeSymbol(CodePlace):
    """A definition in another language than Python."""

    kind: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class SearchText:
    """All lines as one text, with the offset of each line, for fast searches."""

    text: str
    starts: Sequence[int]

    @classmethod
    def of(cls, lines: Sequence[str]) -> "SearchText":
        return cls("\n".join(lines), [0, *accumulate(len(line) + 1 for line in lines)][: len(lines)])


@dataclass(frozen=True, eq=False)
class Tree:
    """An indexed workspace. `texts` contains the lines of each text file by path, in the order of the tools."""

    texts: Mapping[str, Sequence[str]]
    modules: Mapping[str, Module]

    @cached_property
    def functions(self) -> Sequence[Function]:
        return [one for one in self._python if isinstance(one, Function)]

    @cached_property
    def classes(self) -> Sequence[Class]:
        return [one for one in self._python if isinstance(one, Class)]

    @cached_property
    def constants(self) -> Sequence[Constant]:
        return [one for one in self._python if isinstance(one, Constant)]

    @cached_property
    def imports(self) -> Sequence[Import]:
        return [one for module in self.modules.values() for one in module.imports]

    @cached_property
    def imports_of(self) -> Mapping[str, Sequence[Import]]:
        """Return the imports of each name."""
        imports: dict[str, list[Import]] = defaultdict(list)
        for import_ in self.imports:
            imports[import_.name].append(import_)
        return imports

    def functions_in(self, path: str) -> Sequence[Function]:
        module = self.modules.get(path)
        return functions(module.definitions) if module else []

    @cached_property
    def symbols(self) -> Sequence[TreeSymbol]:
        return [one for path in self.texts for one in _symbols(path, self.texts[path])]

    @cached_property
    def symbols_in(self) -> Mapping[str, Sequence[TreeSymbol]]:
        by_path: dict[str, list[TreeSymbol]] = defaultdict(list)
        for symbol in self.symbols:
            by_path[symbol.path].append(symbol)
        return by_path

    @cached_property
    def by_last(self) -> Mapping[str, Sequence[CodePlace]]:
        """Return all definitions of any language by the last part of their names."""
        by_name: dict[str, list[CodePlace]] = defaultdict(list)
        for definition in (*self._python, *self.symbols):
            by_name[definition.last].append(definition)
        return by_name

    @cached_property
    def by_folded(self) -> Mapping[str, int]:
        """Return how many definitions there are of each name in lower case."""
        return Counter(name.lower() for name, found in self.by_last.items() for _ in found)

    @property
    def text(self) -> str:
        """Return the whole text in lower case."""
        return self._lowered.text

    @property
    def _python(self) -> Iterator[CodePlace]:
        return (one for module in self.modules.values() for one in module.definitions)

    def is_unique(self, definition: CodePlace) -> bool:
        return len(self.by_last[definition.last]) == 1

    def is_unique_in_any_case(self, definition: CodePlace) -> bool:
        return self.by_folded[definition.last.lower()] == 1

    def class_named(self, name: str) -> Class | None:
        """Return the only definition of that name if it is a class, else None."""
        definitions = self.by_last.get(name, ())
        return definitions[0] if len(definitions) == 1 and isinstance(definitions[0], Class) else None

    def function_named(self, name: str) -> Function | None:
        definitions = self.by_last.get(name, ())
        return definitions[0] if len(definitions) == 1 and isinstance(definitions[0], Function) else None

    def constant_named(self, name: str) -> Constant | None:
        definitions = self.by_last.get(name, ())
        return definitions[0] if len(definitions) == 1 and isinstance(definitions[0], Constant) else None

    def hits(self, text: str, *, ignore_case: bool = False) -> list[Line]:
        """Return the lines that contain the text, in the order of a search, but without definitions first."""
        wanted, whole = (text.lower(), self._lowered) if ignore_case else (text, self._whole)
        lines = []
        at = whole.text.find(wanted)
        while at >= 0:
            line = bisect_right(whole.starts, at)
            lines.append(self._lines[line - 1])
            at = whole.text.find(wanted, whole.starts[line]) if line < len(whole.starts) else -1
        return lines

    @cached_property
    def _lines(self) -> Sequence[Line]:
        return [(path, number) for path, lines in self.texts.items() for number in range(1, len(lines) + 1)]

    @cached_property
    def _whole(self) -> SearchText:
        return SearchText.of([line for lines in self.texts.values() for line in lines])

    @cached_property
    def _lowered(self) -> SearchText:
        return SearchText.of([line.lower() for lines in self.texts.values() for line in lines])

    def lines_of(self, definition: CodePlace) -> Sequence[str]:
        return self.texts[definition.path][definition.line - 1 : definition.end]

    def code_only(self) -> list[Function]:
        """Return the functions outside of tests."""
        return [one for one in self.functions if not one.is_test]


def tree_of(root: Path) -> Tree:
    return _index(str(root))


@lru_cache(maxsize=CACHED)
def _index(root: str) -> Tree:
    texts = {path: lines for path, lines in _texts(Path(root)) if lines}
    python = {path: "\n".join(lines) for path, lines in texts.items() if path.endswith((".py", ".pyi"))}
    modules = {path: module for path, text in python.items() if (module := parse_module(path, text))}
    return Tree(texts, modules)


def _texts(root: Path) -> Iterator[tuple[str, Sequence[str]]]:
    files = [file for file in root.rglob("*") if file.is_file() and file.stat().st_size <= MAX_BYTES]
    for file in sorted(files, key=lambda one: one.relative_to(root).parts):
        data = file.read_bytes()
        if b"\0" not in data:
            yield file.relative_to(root).as_posix(), data.decode("utf-8-sig", "replace").split("\n")


def _symbols(path: str, lines: Sequence[str]) -> Iterator[TreeSymbol]:
    language = language_of(path)
    if language not in {None, "python"}:
        for symbol in symbols("\n".join(lines).encode(), str(language)):
            yield TreeSymbol(path, symbol.name, symbol.line, symbol.end, kind=symbol.kind, language=str(language))


def tests_folder(tree: Tree) -> str:
    """Return the only top-level folder of tests; empty if there is none or more than one."""
    tops = {path.split("/")[0] for path in tree.texts if "/" in path and is_test(path)}
    return next(iter(tops & {"tests", "test"})) if len(tops & {"tests", "test"}) == 1 else ""
