"""The rules that several languages share: what a node of the tree means for the outline."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tree_sitter import Node

from skillstill.symbols.outline import Given, Outline, ScopeKind
from skillstill.symbols.symbol import Kind

Rule = Callable[[Node, Outline], None]
Bases = Callable[[Node, Outline], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition with its name, and perhaps a body, in fields of those names."""

    kind: Kind
    bases: Bases | None = None

    def __call__(self, node: Node, outline: Outline) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        given = outline.given.get(node.id, Given())
        label = given.name or (outline.text(name) if name is not None else "")
        bases = self.bases(node, outline) if self.bases is not None else ()
        outline.define(node, self.kind, label, outline.header(node, body, given.words), bases)


@dataclass(frozen=True, slots=True)
class Opens:
    """No symbol but a scope: an unnamed function or class, a block."""

    kind: ScopeKind

    def __call__(self, node: Node, outline: Outline) -> None:
        outline.open(node, self.kind)


def constant(node: Node, outline: Outline) -> None:
    """A declaration of one name, with its value, in fields of those names."""
    name = node.child_by_field_name("name")
    if name is not None:
        outline.constant(node, name, node.child_by_field_name("value"))
