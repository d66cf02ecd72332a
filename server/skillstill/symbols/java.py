"""Java: types, methods, constructors as "Foo.Foo", and fields that are static final."""

from collections.abc import Iterable, Mapping

from tree_sitter import Node

from skillstill.symbols.outline import Outline
from skillstill.symbols.rules import DefinitionRule, Rule, ScopeRule

_HERITAGE = frozenset({"superclass", "super_interfaces", "extends_interfaces"})


def _bases(node: Node, outline: Outline) -> Iterable[str]:
    clauses = [child for child in node.named_children if child.type in _HERITAGE]
    return [outline.text(base) for clause in clauses for base in _types(clause)]


def _types(clause: Node) -> Iterable[Node]:
    for child in clause.named_children:
        if child.type == "type_list":
            yield from _types(child)
        elif not child.type.endswith("comment"):
            yield child


def _field(node: Node, outline: Outline) -> None:
    modifiers = next((child for child in node.named_children if child.type == "modifiers"), None)
    words = {child.type for child in modifiers.children} if modifiers is not None else set()
    if {"static", "final"} <= words:
        _constants(node, outline)


def _constants(node: Node, outline: Outline) -> None:
    declarators = node.children_by_field_name("declarator")
    words = outline.text(node, stop=declarators[0].start_byte) if declarators else ""
    for declarator in declarators:
        name = declarator.child_by_field_name("name")
        if name is not None:
            outline.constant(declarator, name, declarator.child_by_field_name("value"), words)


def _enum_constant(node: Node, outline: Outline) -> None:
    """Handle an enum's value: it is no symbol, but the methods of its own body are."""
    name = node.child_by_field_name("name")
    if name is not None and node.child_by_field_name("body") is not None:
        outline.open(node, "class", outline.text(name))


def _new(node: Node, outline: Outline) -> None:
    if any(child.type == "class_body" for child in node.named_children):
        outline.open(node, "class")


def _throw(node: Node, outline: Outline) -> None:
    """Handle `throw new X(...)` and `throw x.error(...)`. A bare variable is thrown again, not raised here."""
    thrown = node.named_children[0] if node.named_children else None
    if thrown is None:
        return
    if thrown.type == "object_creation_expression" and (type_ := thrown.child_by_field_name("type")):
        outline.note_raise(node, outline.text(type_))
    if thrown.type == "method_invocation" and (arguments := thrown.child_by_field_name("arguments")):
        outline.note_raise(node, outline.text(thrown, stop=arguments.start_byte))


RULES: Mapping[str, Rule] = {
    "class_declaration": DefinitionRule("class", _bases),
    "record_declaration": DefinitionRule("class", _bases),
    "interface_declaration": DefinitionRule("interface", _bases),
    "annotation_type_declaration": DefinitionRule("interface"),
    "enum_declaration": DefinitionRule("enum", _bases),
    "enum_constant": _enum_constant,
    "method_declaration": DefinitionRule("method"),
    "constructor_declaration": DefinitionRule("method"),
    "compact_constructor_declaration": DefinitionRule("method"),
    "annotation_type_element_declaration": DefinitionRule("method"),
    "field_declaration": _field,
    "constant_declaration": _constants,
    "object_creation_expression": _new,
    "lambda_expression": ScopeRule("function"),
    "throw_statement": _throw,
}
