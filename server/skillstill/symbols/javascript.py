"""JavaScript: classes, functions and what a name is given to: `const f = () => 1`, `exports.f = function`.

A function, class or object has no name of its own where it is a value; the declaration around it comes first
in the source and leaves the name in `Outline.given`.
"""

import re
from collections.abc import Iterable, Mapping

from tree_sitter import Node

from skillstill.symbols.outline import Given, Outline
from skillstill.symbols.rules import Definition, Opens, Rule
from skillstill.symbols.symbol import Kind

_FUNCTIONS = frozenset({"function_expression", "arrow_function", "generator_function"})
_NAMEABLE = _FUNCTIONS | {"class"}
_TYPED = frozenset({"as_expression", "satisfies_expression"})
_HERITAGE = frozenset({"class_heritage", "extends_type_clause", "extends_clause", "implements_clause"})
_DOTTED = re.compile(r"(?!this\b)[\w$]+(\.[\w$]+)*")


def bases(node: Node, outline: Outline) -> Iterable[str]:
    """What a class or interface extends and implements, type arguments included."""
    found: list[str] = []
    for child in node.named_children:
        if child.type in _HERITAGE:
            found.extend(_listed(child, outline))
    return found


def _listed(clause: Node, outline: Outline) -> Iterable[str]:
    found: list[str] = []
    for child in clause.named_children:
        if child.type in _HERITAGE:
            found.extend(_listed(child, outline))
        elif child.type == "type_arguments" and found:
            found[-1] += outline.text(child)
        elif child.type != "comment":
            found.append(outline.text(child))
    return found


def declared(node: Node, outline: Outline) -> None:
    """const, let and var: the names of functions and classes, and constants."""
    words = f"{outline.given.get(node.id, Given()).words} {node.children[0].type}".strip()
    for declarator in node.named_children:
        name, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
        if name is None or name.type != "identifier":
            continue
        bare = _untyped(value)
        if bare is not None and bare.type in _NAMEABLE:
            outline.given[bare.id] = Given(outline.text(name), words, declarator)
            continue
        if bare is not None and bare.type == "object" and outline.takes_constants:
            outline.given[bare.id] = Given(outline.text(name))
        outline.constant(declarator, name, value, words)


def _untyped(value: Node | None) -> Node | None:
    """The value without what TypeScript says of it behind: `as const`, `satisfies Type`."""
    while value is not None and value.type in _TYPED:
        value = value.named_children[0] if value.named_children else None
    return value


def field(node: Node, outline: Outline) -> None:
    """A class's field: a method if its value is a function, a constant if it is static."""
    name = node.child_by_field_name("property") or node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    if name is not None and value is not None and value.type in _NAMEABLE:
        outline.given[value.id] = Given(outline.text(name), "", node)
    elif name is not None and any(child.type == "static" for child in node.children):
        outline.constant(node, name, value)


def _pair(node: Node, outline: Outline) -> None:
    name, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    if name is not None and value is not None and value.type in _NAMEABLE | {"object"} and outline.scope.named:
        outline.given[value.id] = Given(outline.text(name), "", node)


def _assigned(node: Node, outline: Outline) -> None:
    """`exports.f = function`, `Type.prototype.f = function`, where no named function or class is around.

    What is in the object of `module.exports = { f() {} }` are the module's own functions.
    """
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or right.type not in _NAMEABLE | {"object"} or outline.scope.prefix:
        return
    name = outline.text(left)
    if right.type == "object":
        if name in ("module.exports", "exports"):
            outline.given[right.id] = Given()
        return
    own = right.child_by_field_name("name")
    if name == "module.exports" and own is not None:
        name = outline.text(own)
    if _DOTTED.fullmatch(name):
        short = re.sub(r"^(module\.)?exports\.", "", name) if name != "module.exports" else name
        outline.given[right.id] = Given(short.replace(".prototype.", "."), "", node)


def _exported(node: Node, outline: Outline) -> None:
    words = "export default" if any(child.type == "default" for child in node.children) else "export"
    if (declaration := node.child_by_field_name("declaration")) is not None:
        outline.given[declaration.id] = Given("", words)
    if (value := _untyped(node.child_by_field_name("value"))) is not None:
        outline.given[value.id] = Given("default", words)


def _value(node: Node, outline: Outline) -> None:
    """A function or class that is a value: a symbol where something around it gave it a name."""
    given = outline.given.get(node.id)
    if given is None:
        outline.open(node, "class" if node.type == "class" else "function")
        return
    signature = outline.header(given.header or node, node.child_by_field_name("body"), given.words)
    outline.define(node, _kind(node, given.name), given.name, signature, bases(node, outline))


def _kind(node: Node, name: str) -> Kind:
    if node.type == "class":
        return "class"
    return "method" if "." in name and name != "module.exports" else "function"


def _object(node: Node, outline: Outline) -> None:
    given = outline.given.get(node.id)
    outline.open(node, "class" if given is None or given.name else "module", given.name if given else "")


def _block(node: Node, outline: Outline) -> None:
    if node.id not in outline.given:  # a namespace's body is no block of its own
        outline.open(node, "block")


def _throw(node: Node, outline: Outline) -> None:
    """`throw new X(...)` and `throw x(...)`; a bare variable is thrown again, not raised here."""
    thrown = node.named_children[0] if node.named_children else None
    called = thrown and (thrown.child_by_field_name("constructor") or thrown.child_by_field_name("function"))
    if called:
        outline.raised(node, outline.text(called))


RULES: Mapping[str, Rule] = {
    "class_declaration": Definition("class", bases),
    "function_declaration": Definition("function"),
    "generator_function_declaration": Definition("function"),
    "method_definition": Definition("method"),
    "export_statement": _exported,
    "lexical_declaration": declared,
    "variable_declaration": declared,
    "field_definition": field,
    "assignment_expression": _assigned,
    "pair": _pair,
    "object": _object,
    **dict.fromkeys(sorted(_NAMEABLE), _value),
    "statement_block": _block,
    "for_statement": Opens("block"),
    "class_static_block": Opens("function"),
    "throw_statement": _throw,
}
