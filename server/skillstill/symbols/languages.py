"""The known languages, and the symbols of a file in one of them. A grammar is imported when it is first asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import PurePath
from time import thread_time

from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from skillstill.symbols import go, java, javascript, python, rust, typescript
from skillstill.symbols.outline import MAX_DEPTH, Outline
from skillstill.symbols.rules import Rule
from skillstill.symbols.symbol import Symbol

# Enough for some 10 MB of ordinary source. The parser looks at the clock while it reads, not while it recovers at
# the end of a file: 5 kB of `a=>a=>a=>` as Java still take it 3 s and 1 GB, and more of it exhausts memory.
PARSE_SECONDS = 1.0

SUFFIXES: Mapping[str, str] = {
    ".py": "python",
    ".pyi": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
}

# Programs too, but no grammar here parses them: a name may well be defined there.
_UNREAD = (
    "c h cc cpp cxx hh hpp cs rb php kt kts swift scala m mm lua pl pm ex exs erl hs ml clj dart jl r nim zig vb vue"
)
UNREAD = frozenset(f".{suffix}" for suffix in f"{_UNREAD} svelte sh bash ps1".split())

_LANGUAGES: Mapping[str, tuple[str, str, Mapping[str, Rule]]] = {
    "python": ("tree_sitter_python", "language", python.RULES),
    "javascript": ("tree_sitter_javascript", "language", javascript.RULES),
    "typescript": ("tree_sitter_typescript", "language_typescript", typescript.RULES),
    "tsx": ("tree_sitter_typescript", "language_tsx", typescript.RULES),
    "go": ("tree_sitter_go", "language", go.RULES),
    "rust": ("tree_sitter_rust", "language", rust.RULES),
    "java": ("tree_sitter_java", "language", java.RULES),
}


@dataclass(frozen=True, slots=True)
class LanguageGrammar:
    """A language with its rules, and one query for all node types that have a rule."""

    language: Language
    rules: Mapping[str, Rule]
    query: Query

    def parse(self, source: bytes) -> Tree | None:
        """Return the tree of `source`, or None if the parser gave up after PARSE_SECONDS."""
        view, deadline = memoryview(source), thread_time() + PARSE_SECONDS
        parser = Parser(self.language)  # it holds state: one for each call lets threads share the grammar
        try:
            return parser.parse(lambda byte, _: view[byte:], progress_callback=lambda *_: thread_time() > deadline)
        except ValueError:
            return None

    def nodes(self, root: Node) -> list[Node]:
        """Return the nodes with a rule, outer before inner, in the order of the source."""
        nodes = QueryCursor(self.query).captures(root).get("node", [])
        return sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte))


def symbols(source: bytes, language: str) -> tuple[Symbol, ...]:
    """Return the symbols of `source` in the order of their lines. Raise ValueError if the language is unknown."""
    grammar, outline = load_grammar(language), Outline(source)
    tree = grammar.parse(source)
    for node in grammar.nodes(tree.root_node) if tree is not None else ():
        outline.close_before(node.start_byte)
        if outline.scope.depth < MAX_DEPTH:
            grammar.rules[node.type](node, outline)
    return outline.symbols()


def language_of(path: str) -> str | None:
    """Return the language of a file by its suffix, or None if it is unknown."""
    return SUFFIXES.get(PurePath(path).suffix.lower())


def is_unparsed(path: str) -> bool:
    """Return whether a file, by its suffix, is a program that nothing here parses."""
    return PurePath(path).suffix.lower() in UNREAD


@cache
def load_grammar(language: str) -> LanguageGrammar:
    """Return the grammar of a language. Raise ValueError if the language is unknown."""
    if language not in _LANGUAGES:
        raise ValueError(f"unknown language {language!r}; known are {', '.join(_LANGUAGES)}")
    module, function, rules = _LANGUAGES[language]
    loaded = Language(getattr(import_module(module), function)())
    return LanguageGrammar(loaded, rules, Query(loaded, f"[{' '.join(_patterns(loaded, rules))}] @node"))


def _patterns(language: Language, rules: Mapping[str, Rule]) -> Iterator[str]:
    """Yield a pattern for each node type that the grammar has: TypeScript's lacks some of JavaScript's."""
    return (f"({kind})" for kind in rules if language.id_for_node_kind(kind, True) is not None)
