"""TypeScript: JavaScript's rules, and interfaces, aliases, enums, namespaces, signatures without a body."""

from collections.abc import Mapping

from tree_sitter import Node

from skillstill.symbols import javascript
from skillstill.symbols.outline import NameHint, Outline
from skillstill.symbols.rules import DefinitionRule, Rule


def _alias(node: Node, outline: Outline) -> None:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None or value is None:
        return
    if value.type == "object_type":
        outline.hints[value.id] = NameHint()
    words = outline.hints.get(node.id, NameHint()).words
    outline.define(node, "type", outline.text(name), outline.declaration(node, value, words))


def _object_type(node: Node, outline: Outline) -> None:
    if node.id not in outline.hints:  # an alias's own members carry its name
        outline.open(node, "class")


def _namespace(node: Node, outline: Outline) -> None:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if body is not None:
        outline.hints[body.id] = NameHint()
    if name is not None:
        words = outline.hints.get(node.id, NameHint()).words
        outline.define(node, "module", outline.text(name).strip("'\""), outline.header(node, body, words))


def _ambient(node: Node, outline: Outline) -> None:
    """Handle `declare ...`: pass the word on. `declare global { ... }` is no scope."""
    words = f"{outline.hints.get(node.id, NameHint()).words} declare".strip()
    for child in node.named_children:
        outline.hints[child.id] = NameHint("", words)


RULES: Mapping[str, Rule] = {
    **javascript.RULES,
    "abstract_class_declaration": DefinitionRule("class", javascript.bases),
    "interface_declaration": DefinitionRule("interface", javascript.bases),
    "enum_declaration": DefinitionRule("enum"),
    "function_signature": DefinitionRule("function"),
    "method_signature": DefinitionRule("method"),
    "abstract_method_signature": DefinitionRule("method"),
    "public_field_definition": javascript.field,
    "type_alias_declaration": _alias,
    "object_type": _object_type,
    "internal_module": _namespace,
    "module": _namespace,
    "ambient_declaration": _ambient,
}
