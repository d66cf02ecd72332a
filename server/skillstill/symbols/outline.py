"""The state of walking a file's tree: the open scopes, and the symbols that were found so far."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tree_sitter import Node

from skillstill.symbols.symbol import Kind, Raised, Symbol
from skillstill.symbols.text import NAME_LIMIT, VALUE_LIMIT, first_leaf, last_line, one_line

MAX_DEPTH = 50  # functions and classes inside each other; without a bound their names alone could fill memory

ScopeKind = Literal["module", "class", "function", "block"]
_OPENS: Mapping[Kind, ScopeKind] = {"function": "function", "method": "function", "module": "module"}


@dataclass(slots=True)
class SymbolDraft:
    """A symbol whose bases and raises are still being collected. `start` is its byte offset."""

    name: str
    kind: Kind
    start: int
    line: int
    end: int
    signature: str
    bases: list[str] = field(default_factory=list)
    raises: list[Raised] = field(default_factory=list)

    def symbol(self) -> Symbol:
        bases, raises = tuple(self.bases), tuple(self.raises)
        return Symbol(self.name, self.kind, self.line, self.end, self.signature, bases, raises)


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of the file up to byte `end`, the prefix of the names inside, and the function that raises there."""

    kind: ScopeKind
    end: int
    prefix: str = ""
    depth: int = 0
    named: bool = True  # False for a class or an object without a name: its members are no symbols
    raiser: SymbolDraft | None = None


@dataclass(frozen=True, slots=True)
class NameHint:
    """What an outer node knows of an inner one: its name, the words before it, the node where its header starts."""

    name: str = ""
    words: str = ""
    header: Node | None = None


class Outline:
    """Collects the symbols of one file from its nodes, which must be given in the order of the source."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.hints: dict[int, NameHint] = {}  # by the inner node's id
        self._scopes = [Scope("module", len(source) + 1)]
        self._drafts: list[SymbolDraft] = []
        self._added_bases: list[tuple[str, str]] = []

    @property
    def scope(self) -> Scope:
        """Return the innermost open scope."""
        return self._scopes[-1]

    @property
    def takes_constants(self) -> bool:
        return self.scope.kind in ("module", "class") and self.scope.named

    def raw(self, node: Node) -> bytes:
        return self.source[node.start_byte : node.end_byte]

    def text(self, node: Node, *, stop: int | None = None) -> str:
        """Return a name, a base or a raised expression on one line, cut at NAME_LIMIT characters."""
        return one_line(self.source, node, stop=stop, limit=NAME_LIMIT)

    def header(self, node: Node, body: Node | None, words: str = "") -> str:
        """Return `node` on one line without its body."""
        stop = body.start_byte if body is not None else None
        return _with_words(words, one_line(self.source, node, stop=stop).rstrip(" :;"))

    def declaration(self, node: Node, value: Node | None, words: str = "") -> str:
        """Return `node` on one line, its `value` cut at VALUE_LIMIT characters."""
        if value is None:
            return self.header(node, None, words)
        before = one_line(self.source, node, stop=value.start_byte)
        return _with_words(words, f"{before} {one_line(self.source, value, limit=VALUE_LIMIT)}")

    def close_before(self, byte: int) -> None:
        """Close the scopes that end before `byte`."""
        while self.scope.end <= byte and len(self._scopes) > 1:
            self._scopes.pop()

    def define(self, node: Node, kind: Kind, name: str, signature: str, bases: Iterable[str] = ()) -> None:
        """Add a symbol and open its scope. A member of an unnamed class only opens a scope."""
        opens, around, hint = _OPENS.get(kind, "class"), self.scope, self.hints.get(node.id, NameHint())
        if not name or not around.named:
            self.open(node, opens)
            return
        if kind == "function" and around.kind == "class":
            kind = "method"
        draft = self._add(hint.header or node, kind, name, signature, last_line(node))
        draft.bases.extend(bases)
        raiser = draft if opens == "function" else None
        self._scopes.append(Scope(opens, node.end_byte, draft.name, around.depth + 1, raiser=raiser))

    def constant(self, node: Node, name: Node, value: Node | None, words: str = "") -> None:
        """Add the constant `name`, which `node` declares with `value`, if a module or class has it."""
        if self.takes_constants and name.end_byte > name.start_byte:
            signature = self.declaration(node, value, words)
            self._add(node, "constant", self.text(name), signature, node.end_point[0] + 1)

    def open(self, node: Node, kind: ScopeKind, name: str = "") -> None:
        """Open a scope that is no symbol. Without a name its contents keep the prefix of what is around it."""
        around = self.scope
        prefix = self._full_name(name) if name else around.prefix
        depth = around.depth + (kind != "block")
        raiser = around.raiser if kind == "block" else None
        self._scopes.append(Scope(kind, node.end_byte, prefix, depth, bool(name) or kind != "class", raiser))

    def note_raise(self, node: Node, name: str) -> None:
        """Record that the function around `node` raises `name`."""
        if self.scope.raiser is not None and name:
            self.scope.raiser.raises.append(Raised(name, node.start_point[0] + 1))

    def add_base(self, name: str, base: str) -> None:
        """Record that the type `name` of the present scope has `base`, wherever the type is defined."""
        self._added_bases.append((self._full_name(name), base))

    def symbols(self) -> tuple[Symbol, ...]:
        """Return the symbols in the order of the source."""
        types = {draft.name: draft for draft in self._drafts if _OPENS.get(draft.kind, "class") == "class"}
        for name, base in self._added_bases:
            if name in types:
                types[name].bases.append(base)
        return tuple(draft.symbol() for draft in sorted(self._drafts, key=lambda draft: draft.start))

    def _add(self, node: Node, kind: Kind, name: str, signature: str, end: int) -> SymbolDraft:
        start = first_leaf(node)
        line = start.start_point[0] + 1
        draft = SymbolDraft(self._full_name(name), kind, start.start_byte, line, max(line, end), signature)
        self._drafts.append(draft)
        return draft

    def _full_name(self, name: str) -> str:
        return f"{self.scope.prefix}.{name}" if self.scope.prefix else name


def _with_words(words: str, text: str) -> str:
    return f"{words} {text}" if words else text
