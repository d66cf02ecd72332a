"""Go: functions, methods under their receiver's type, types, and the names of const and var groups.

`bases` are embedded types; `raises` are calls of `panic`.
"""

from collections.abc import Iterator, Mapping

from tree_sitter import Node

from skillstill.symbols.outline import Outline
from skillstill.symbols.rules import DefinitionRule, Rule, ScopeRule
from skillstill.symbols.symbol import Kind

_KINDS: Mapping[str, Kind] = {"struct_type": "struct", "interface_type": "interface"}
_NAMED_TYPES = frozenset({"type_identifier", "qualified_type", "generic_type"})


def _type(node: Node, outline: Outline) -> None:
    name, type_ = node.child_by_field_name("name"), node.child_by_field_name("type")
    if name is None or type_ is None:
        return
    kind = _KINDS.get(type_.type, "type")
    body = next((child for child in type_.children if child.type in ("field_declaration_list", "{")), None)
    if kind == "type" or body is None:
        signature = outline.declaration(node, type_, "type")
    else:
        signature = outline.header(node, body, "type")
    outline.define(node, kind, outline.text(name), signature, _embedded_types(type_, outline))


def _embedded_types(type_: Node, outline: Outline) -> Iterator[str]:
    if type_.type == "struct_type":
        for fields in type_.named_children:
            for field in fields.named_children:
                if field.type == "field_declaration" and field.child_by_field_name("name") is None:
                    tag = field.child_by_field_name("tag")
                    yield outline.text(field, stop=tag.start_byte if tag is not None else None)
    if type_.type == "interface_type":
        for element in type_.named_children:
            parts = element.named_children if element.type == "type_elem" else []
            if len(parts) == 1 and parts[0].type in _NAMED_TYPES:
                yield outline.text(parts[0])


def _method(node: Node, outline: Outline) -> None:
    name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
    if name is None or receiver is None:
        return
    signature = outline.header(node, node.child_by_field_name("body"))
    outline.define(node, "method", f"{_receiver(receiver, outline)}.{outline.text(name)}", signature)


def _receiver(node: Node, outline: Outline) -> str:
    """Return the name of the receiver's type, without pointer and type parameters."""
    inner: Node | None = node
    while inner is not None and inner.type != "type_identifier":
        node = inner
        inner = node.child_by_field_name("type") or (node.named_children[-1] if node.named_children else None)
    return outline.text(inner or node)


def _values(node: Node, outline: Outline) -> None:
    words = node.type.removesuffix("_spec")
    for name in node.children_by_field_name("name"):
        if name.is_named and outline.raw(name) != b"_":  # `var _ I = T{}` only checks a type
            outline.constant(node, name, node.child_by_field_name("value"), words)


def _call(node: Node, outline: Outline) -> None:
    function = node.child_by_field_name("function")
    if function is not None and function.type == "identifier" and outline.raw(function) == b"panic":
        outline.note_raise(node, "panic")


RULES: Mapping[str, Rule] = {
    "function_declaration": DefinitionRule("function"),
    "method_declaration": _method,
    "method_elem": DefinitionRule("method"),
    "type_spec": _type,
    "type_alias": _type,
    "const_spec": _values,
    "var_spec": _values,
    "call_expression": _call,
    "func_literal": ScopeRule("function"),
}
