"""Python: classes, functions, type aliases, and assignments to one name in a module or a class."""

from collections.abc import Iterable, Mapping

from tree_sitter import Node

from skillstill.symbols.outline import Outline
from skillstill.symbols.rules import DefinitionRule, Rule


def _bases(node: Node, outline: Outline) -> Iterable[str]:
    arguments = node.child_by_field_name("superclasses")
    if arguments is None:
        return []
    return [outline.text(base) for base in arguments.named_children if base.type not in _NO_BASE]


def _assignment(node: Node, outline: Outline) -> None:
    left = node.child_by_field_name("left")
    if left is not None and left.type == "identifier":
        outline.constant(node, left, node.child_by_field_name("right"))


def _type_alias(node: Node, outline: Outline) -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    name = outline.text(left).partition("[")[0] if left is not None else ""
    if name.isidentifier():  # the grammar takes `type(x).y = z` for an alias of that name
        outline.define(node, "type", name, outline.declaration(node, right))


def _raise(node: Node, outline: Outline) -> None:
    if node.named_child_count and node.named_children[0] != node.child_by_field_name("cause"):
        outline.note_raise(node, outline.text(_exception(node.named_children[0], outline)))


def _exception(node: Node, outline: Outline) -> Node:
    """Return the class or value of a raised expression, without call, parentheses and `.with_traceback(...)`."""
    while inner := _inside(node, outline):
        node = inner
    return node


def _inside(node: Node, outline: Outline) -> Node | None:
    if node.type in ("parenthesized_expression", "expression_list"):
        return next((child for child in node.named_children if child.type != "comment"), None)
    if node.type == "call":
        return node.child_by_field_name("function")
    attribute = node.child_by_field_name("attribute")
    if node.type == "attribute" and attribute is not None and outline.raw(attribute) == b"with_traceback":
        return node.child_by_field_name("object")
    return None


_NO_BASE = frozenset({"keyword_argument", "dictionary_splat", "comment"})

RULES: Mapping[str, Rule] = {
    "class_definition": DefinitionRule("class", _bases),
    "function_definition": DefinitionRule("function"),
    "assignment": _assignment,
    "type_alias_statement": _type_alias,
    "raise_statement": _raise,
}
