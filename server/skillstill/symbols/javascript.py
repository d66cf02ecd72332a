"""JavaScript: classes, functions and values that are given a name: `const f = () => 1`, `exports.f = function`.

A function, class or object that is a value has no name of its own. The declaration around it comes first in the
source and leaves the name in `Outline.hints`.
"""

import re
from collections.abc import Iterable, Mapping

from tree_sitter import Node

from skillstill.symbols.outline import NameHint, Outline
from skillstill.symbols.rules import DefinitionRule, Rule, ScopeRule
from skillstill.symbols.symbol import Kind

_FUNCTIONS = frozenset({"function_expression", "arrow_function", "generator_function"})
_NAMEABLE = _FUNCTIONS | {"class"}
_TYPED = frozenset({"as_expression", "satisfies_expression"})
_HERITAGE = frozenset({"class_heritage", "extends_type_clause", "extends_clause", "implements_clause"})
_DOTTED = re.compile(r"(?!this\b)[\w$]+(\.[\w$]+)*")


def bases(node: Node, outline: Outline) -> Iterable[str]:
    """Return what a class or interface extends and implements, type arguments included."""
    names: list[str] = []
    for child in node.named_children:
        if child.type in _HERITAGE:
            names.extend(_heritage_names(child, outline))
    return names


def _heritage_names(clause: Node, outline: Outline) -> Iterable[str]:
    names: list[str] = []
    for child in clause.named_children:
        if child.type in _HERITAGE:
            names.extend(_heritage_names(child, outline))
        elif child.type == "type_arguments" and names:
            names[-1] += outline.text(child)
        elif child.type != "comment":
            names.append(outline.text(child))
    return names


def declare_names(node: Node, outline: Outline) -> None:
    """Handle const, let and var: leave the names of functions and classes as hints, and define constants."""
    words = f"{outline.hints.get(node.id, NameHint()).words} {node.children[0].type}".strip()
    for declarator in node.named_children:
        name, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
        if name is None or name.type != "identifier":
            continue
        bare = _bare_value(value)
        if bare is not None and bare.type in _NAMEABLE:
            outline.hints[bare.id] = NameHint(outline.text(name), words, declarator)
            continue
        if bare is not None and bare.type == "object" and outline.takes_constants:
            outline.hints[bare.id] = NameHint(outline.text(name))
        outline.constant(declarator, name, value, words)


def _bare_value(value: Node | None) -> Node | None:
    """Return the value without what TypeScript may add behind it: `as const`, `satisfies Type`."""
    while value is not None and value.type in _TYPED:
        value = value.named_children[0] if value.named_children else None
    return value


def field(node: Node, outline: Outline) -> None:
    """Handle a class's field: a method if its value is a function, a constant if it is static."""
    name = node.child_by_field_name("property") or node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    if name is not None and value is not None and value.type in _NAMEABLE:
        outline.hints[value.id] = NameHint(outline.text(name), "", node)
    elif name is not None and any(child.type == "static" for child in node.children):
        outline.constant(node, name, value)


def _pair(node: Node, outline: Outline) -> None:
    name, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    if name is not None and value is not None and value.type in _NAMEABLE | {"object"} and outline.scope.named:
        outline.hints[value.id] = NameHint(outline.text(name), "", node)


def _assignment_to_member(node: Node, outline: Outline) -> None:
    """Handle `exports.f = function` and `Type.prototype.f = function` outside of named functions and classes.

    The functions in the object of `module.exports = { f() {} }` are the module's own.
    """
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or right.type not in _NAMEABLE | {"object"} or outline.scope.prefix:
        return
    name = outline.text(left)
    if right.type == "object":
        if name in ("module.exports", "exports"):
            outline.hints[right.id] = NameHint()
        return
    own = right.child_by_field_name("name")
    if name == "module.exports" and own is not None:
        name = outline.text(own)
    if _DOTTED.fullmatch(name):
        short = re.sub(r"^(module\.)?exports\.", "", name) if name != "module.exports" else name
        outline.hints[right.id] = NameHint(short.replace(".prototype.", "."), "", node)


def _export(node: Node, outline: Outline) -> None:
    words = "export default" if any(child.type == "default" for child in node.children) else "export"
    if (declaration := node.child_by_field_name("declaration")) is not None:
        outline.hints[declaration.id] = NameHint("", words)
    if (value := _bare_value(node.child_by_field_name("value"))) is not None:
        outline.hints[value.id] = NameHint("default", words)


def _value(node: Node, outline: Outline) -> None:
    """Handle a function or class that is a value: it is a symbol if something around it gave it a name."""
    hint = outline.hints.get(node.id)
    if hint is None:
        outline.open(node, "class" if node.type == "class" else "function")
        return
    signature = outline.header(hint.header or node, node.child_by_field_name("body"), hint.words)
    outline.define(node, _kind(node, hint.name), hint.name, signature, bases(node, outline))


def _kind(node: Node, name: str) -> Kind:
    if node.type == "class":
        return "class"
    return "method" if "." in name and name != "module.exports" else "function"


def _object(node: Node, outline: Outline) -> None:
    hint = outline.hints.get(node.id)
    outline.open(node, "class" if hint is None or hint.name else "module", hint.name if hint else "")


def _block(node: Node, outline: Outline) -> None:
    if node.id not in outline.hints:  # a namespace's body is no block of its own
        outline.open(node, "block")


def _throw(node: Node, outline: Outline) -> None:
    """Handle `throw new X(...)` and `throw x(...)`. A bare variable is thrown again, not raised here."""
    thrown = node.named_children[0] if node.named_children else None
    called = thrown and (thrown.child_by_field_name("constructor") or thrown.child_by_field_name("function"))
    if called:
        outline.note_raise(node, outline.text(called))


RULES: Mapping[str, Rule] = {
    "class_declaration": DefinitionRule("class", bases),
    "function_declaration": DefinitionRule("function"),
    "generator_function_declaration": DefinitionRule("function"),
    "method_definition": DefinitionRule("method"),
    "export_statement": _export,
    "lexical_declaration": declare_names,
    "variable_declaration": declare_names,
    "field_definition": field,
    "assignment_expression": _assignment_to_member,
    "pair": _pair,
    "object": _object,
    **dict.fromkeys(sorted(_NAMEABLE), _value),
    "statement_block": _block,
    "for_statement": ScopeRule("block"),
    "class_static_block": ScopeRule("function"),
    "throw_statement": _throw,
}
