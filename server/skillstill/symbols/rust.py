"""Rust: items, and the items of impl blocks under their type's name, its generics dropped.

`bases` are supertraits and the traits that the file implements for the type; `raises` are `panic!` calls.
What macros expand to is not seen.
"""

from collections.abc import Iterable, Mapping

from tree_sitter import Node

from skillstill.symbols.outline import Outline
from skillstill.symbols.rules import DefinitionRule, Rule, ScopeRule, constant
from skillstill.symbols.text import one_line


def _supertraits(node: Node, outline: Outline) -> Iterable[str]:
    bounds = node.child_by_field_name("bounds")
    return [] if bounds is None else [outline.text(bound) for bound in bounds.named_children]


def _type(node: Node, outline: Outline) -> None:
    name = node.child_by_field_name("name")
    if name is not None and outline.takes_constants:
        signature = outline.declaration(node, node.child_by_field_name("type"))
        outline.define(node, "type", outline.text(name), signature)


def _struct(node: Node, outline: Outline) -> None:
    """Define a struct. A tuple struct's fields stay in its signature: they are its constructor's parameters."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None:
        return
    stop = body if body is not None and body.type == "field_declaration_list" else None
    outline.define(node, "struct", outline.text(name), outline.header(node, stop))


def _impl(node: Node, outline: Outline) -> None:
    type_, trait = node.child_by_field_name("type"), node.child_by_field_name("trait")
    name = _type_name(type_, outline) if type_ is not None else ""
    if name and trait is not None and not any(child.type == "!" for child in node.children):
        outline.add_base(name, outline.text(trait))
    outline.open(node, "class", name)


def _type_name(node: Node, outline: Outline) -> str:
    """Return `Foo` for `&'a module::Foo<T>`, and other types as they are written."""
    inner: Node | None = node
    while inner is not None:
        node = inner
        field = _INNER.get(node.type)
        inner = node.child_by_field_name(field) if field else None
    return outline.text(node)


def _macro(node: Node, outline: Outline) -> None:
    name = node.child_by_field_name("name")
    if name is not None:
        signature = one_line(outline.source, node, stop=name.end_byte)
        outline.define(node, "function", outline.text(name), signature)


def _macro_call(node: Node, outline: Outline) -> None:
    macro = node.child_by_field_name("macro")
    if macro is not None and outline.raw(macro) in (b"panic", b"std::panic", b"core::panic"):
        outline.note_raise(node, "panic!")


_INNER = {"reference_type": "type", "generic_type": "type", "scoped_type_identifier": "name"}

RULES: Mapping[str, Rule] = {
    "function_item": DefinitionRule("function"),
    "function_signature_item": DefinitionRule("function"),
    "struct_item": _struct,
    "union_item": DefinitionRule("struct"),
    "enum_item": DefinitionRule("enum"),
    "trait_item": DefinitionRule("trait", _supertraits),
    "impl_item": _impl,
    "mod_item": DefinitionRule("module"),
    "const_item": constant,
    "static_item": constant,
    "type_item": _type,
    "associated_type": _type,
    "macro_definition": _macro,
    "macro_invocation": _macro_call,
    "closure_expression": ScopeRule("function"),
}
