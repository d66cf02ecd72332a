"""The rules that several languages share. A rule adds what a node of the tree means to the outline."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tree_sitter import Node

from skillstill.symbols.outline import NameHint, Outline, ScopeKind
from skillstill.symbols.symbol import Kind

Rule = Callable[[Node, Outline], None]
Bases = Callable[[Node, Outline], Iterable[str]]


@dataclass(frozen=True, slots=True)
class DefinitionRule:
    """The rule of a definition whose node has the field `name` and perhaps `body`."""

    kind: Kind
    bases: Bases | None = None

    def __call__(self, node: Node, outline: Outline) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        hint = outline.hints.get(node.id, NameHint())
        label = hint.name or (outline.text(name) if name is not None else "")
        bases = self.bases(node, outline) if self.bases is not None else ()
        outline.define(node, self.kind, label, outline.header(node, body, hint.words), bases)


@dataclass(frozen=True, slots=True)
class ScopeRule:
    """The rule of a scope that is no symbol: an unnamed function or class, a block."""

    kind: ScopeKind

    def __call__(self, node: Node, outline: Outline) -> None:
        outline.open(node, self.kind)


def constant(node: Node, outline: Outline) -> None:
    """Define the constant of a declaration that has the field `name` and perhaps `value`."""
    name = node.child_by_field_name("name")
    if name is not None:
        outline.constant(node, name, node.child_by_field_name("value"))
