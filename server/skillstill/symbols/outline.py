"""The symbols of a file while its tree is walked: open scopes, drafts, and the rules that fill them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tree_sitter import Node

from skillstill.symbols.symbol import Kind, Raised, Symbol
from skillstill.symbols.text import NAME_LIMIT, VALUE_LIMIT, first_leaf, last_line, one_line

MAX_DEPTH = 50  # functions and classes inside each other; without a bound their names alone could fill memory

ScopeKind = Literal["module", "class", "function", "block"]
_OPENS: Mapping[Kind, ScopeKind] = {"function": "function", "method": "function", "module": "module"}


@dataclass(slots=True)
class Draft:
    """A symbol whose bases and raises are still being collected; `start` is its byte offset."""

    name: str
    kind: Kind
    start: int
    line: int
    end: int
    signature: str
    bases: list[str]
    raises: list[Raised] = field(default_factory=list)

    def symbol(self) -> Symbol:
        bases, raises = tuple(self.bases), tuple(self.raises)
        return Symbol(self.name, self.kind, self.line, self.end, self.signature, bases, raises)


@dataclass(frozen=True, slots=True)
class Scope:
    """Part of the file up to byte `end`: what names inside start with, and who raises there."""

    kind: ScopeKind
    end: int
    prefix: str = ""
    depth: int = 0
    named: bool = True
    raiser: Draft | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What an outer node already said of an inner one: its name, the words before it, where its header starts."""

    name: str = ""
    words: str = ""
    header: Node | None = None


class Outline:
    """Collects the symbols of one file from its nodes, which must come in the order of the source."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.given: dict[int, Given] = {}
        self._scopes = [Scope("module", len(source) + 1)]
        self._drafts: list[Draft] = []
        self._adopted: list[tuple[str, str]] = []

    @property
    def scope(self) -> Scope:
        """The innermost open scope."""
        return self._scopes[-1]

    @property
    def takes_constants(self) -> bool:
        return self.scope.kind in ("module", "class") and self.scope.named

    def text(self, node: Node, *, stop: int | None = None, limit: int = NAME_LIMIT) -> str:
        return one_line(self.source, node, stop=stop, limit=limit)

    def raw(self, node: Node) -> bytes:
        return self.source[node.start_byte : node.end_byte]

    def reach(self, byte: int) -> None:
        """Close the scopes that end before `byte`."""
        while self._scopes[-1].end <= byte and len(self._scopes) > 1:
            self._scopes.pop()

    def define(
        self,
        node: Node,
        kind: Kind,
        name: str,
        signature: str,
        bases: Iterable[str] = (),
        *,
        at: Node | None = None,
    ) -> None:
        """Add a symbol that starts `at` and open its scope; a member of an unnamed class is no symbol."""
        opens = _OPENS.get(kind, "class")
        if not name or not self.scope.named:
            self.open(node, opens)
            return
        if kind == "function" and self.scope.kind == "class":
            kind = "method"
        draft = self._add(node, kind, name, signature, bases, at)
        raiser = draft if opens == "function" else None
        self._scopes.append(Scope(opens, node.end_byte, draft.name, self.scope.depth + 1, True, raiser))

    def constant(self, node: Node, name: Node, value: Node | None, words: str = "") -> None:
        """Add the constant `name`, declared by `node`, whose value is cut at 80 characters."""
        if self.takes_constants and name.end_byte > name.start_byte:
            self._add(node, "constant", self.text(name), _joined(words, self.declaration(node, value)), (), None)

    def declaration(self, node: Node, value: Node | None) -> str:
        """`node` on one line, its `value` cut at 80 characters."""
        if value is None:
            return one_line(self.source, node).rstrip(" ;,")
        before = one_line(self.source, node, stop=value.start_byte)
        return _joined(before, one_line(self.source, value, limit=VALUE_LIMIT))

    def header(self, node: Node, body: Node | None, words: str = "") -> str:
        """`node` on one line without its body."""
        stop = body.start_byte if body is not None else None
        return _joined(words, one_line(self.source, node, stop=stop).rstrip(" :;"))

    def open(self, node: Node, kind: ScopeKind, name: str = "") -> None:
        """Open a scope that is no symbol; without a name its contents keep the name of what is around it."""
        around = self.scope
        prefix = self._qualified(name) if name else around.prefix
        depth = around.depth + (kind != "block")
        raiser = around.raiser if kind == "block" else None
        self._scopes.append(Scope(kind, node.end_byte, prefix, depth, bool(name) or kind != "class", raiser))

    def raised(self, node: Node, name: str) -> None:
        """Note that the function around `node` raises `name`."""
        if self.scope.raiser is not None and name:
            self.scope.raiser.raises.append(Raised(name, node.start_point[0] + 1))

    def adopt(self, name: str, base: str) -> None:
        """Say, away from its definition, that the type `name` of the present scope has `base`."""
        self._adopted.append((self._qualified(name), base))

    def symbols(self) -> tuple[Symbol, ...]:
        """What was found, in the order of the source."""
        types = {draft.name: draft for draft in self._drafts if draft.kind in ("struct", "enum", "type", "trait")}
        for name, base in self._adopted:
            if name in types:
                types[name].bases.append(base)
        return tuple(draft.symbol() for draft in sorted(self._drafts, key=lambda draft: (draft.line, draft.start)))

    def _add(self, node: Node, kind: Kind, name: str, signature: str, bases: Iterable[str], at: Node | None) -> Draft:
        start = first_leaf(at or node)
        line, end = start.start_point[0] + 1, max(start.start_point[0] + 1, last_line(node))
        draft = Draft(self._qualified(name), kind, start.start_byte, line, end, signature, list(bases))
        self._drafts.append(draft)
        return draft

    def _qualified(self, name: str) -> str:
        return f"{self.scope.prefix}.{name}" if self.scope.prefix else name


Rule = Callable[[Node, Outline], None]


def _no_bases(node: Node, outline: Outline) -> Iterable[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Definition:
    """The rule for a node that is a definition with a name, perhaps a body or a value, in fields of its own."""

    kind: Kind
    bases: Callable[[Node, Outline], Iterable[str]] = _no_bases
    body: str = "body"

    def __call__(self, node: Node, outline: Outline) -> None:
        name, given = node.child_by_field_name("name"), outline.given.get(node.id, Given())
        signature = outline.header(node, node.child_by_field_name(self.body), given.words)
        label = given.name or (outline.text(name) if name is not None else "")
        outline.define(node, self.kind, label, signature, self.bases(node, outline))


@dataclass(frozen=True, slots=True)
class Opens:
    """The rule for a node that is no symbol but a scope: an unnamed function or class, a block."""

    kind: ScopeKind

    def __call__(self, node: Node, outline: Outline) -> None:
        outline.open(node, self.kind)


def constant(node: Node, outline: Outline) -> None:
    """The rule for a declaration of one name with a value, in the fields `name` and `value`."""
    name = node.child_by_field_name("name")
    if name is not None:
        outline.constant(node, name, node.child_by_field_name("value"))


def _joined(words: str, text: str) -> str:
    return f"{words} {text}" if words else text
