"""Source text on one line: comments and decorators dropped, layout collapsed, strings kept as written."""

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

SIGNATURE_LIMIT = 2000  # characters; keeps hostile headers, nested in each other, from a quadratic output
VALUE_LIMIT = 80  # characters of a constant's value
NAME_LIMIT = 200  # characters of a name, a base or a raised expression

_DECORATIONS = frozenset({"decorator", "annotation", "marker_annotation"})
_TEXTS = frozenset(
    {
        "string",
        "template_string",
        "string_literal",
        "raw_string_literal",
        "interpreted_string_literal",
        "character_literal",
        "char_literal",
        "rune_literal",
        "regex",
    }
)
# In these a comma before the closing bracket means nothing, from so many entries on: `(x,)` is not `(x)`.
_LISTS: Mapping[str, int] = {
    "parameters": 0,
    "formal_parameters": 0,
    "parameter_list": 0,
    "type_parameters": 0,
    "type_parameter_list": 0,
    "argument_list": 0,
    "arguments": 0,
    "list": 0,
    "dictionary": 0,
    "object": 0,
    "tuple": 2,
    "type_parameter": 2,
    "subscript": 3,  # its value counts as one
}
_OPENING = frozenset("([{.")
_CLOSING = frozenset({")", "]", "}", ",", ".", "?."})
_LINE_BREAK = re.compile(r"\s*[\r\n]\s*")


def one_line(source: bytes, node: Node, *, stop: int | None = None, limit: int = SIGNATURE_LIMIT) -> str:
    """Return `node` on one line, up to byte `stop`. If it is longer than `limit` characters it ends with "…"."""
    pieces: list[str] = []
    length, last = 0, None
    for leaf, parent in _leaves(node, stop):
        gap = source[last.end_byte : leaf.start_byte] if last is not None else b""
        if last is not None and _is_trailing_comma(last, leaf, parent, gap):
            pieces.pop()
        if last is not None and _has_space(last, leaf, gap):
            pieces.append(" ")
        pieces.append(_decode(source, leaf, limit))
        length += len(pieces[-1]) + 1
        if length > limit and len(text := "".join(pieces)) > limit:
            return text[:limit].rstrip() + "…"
        last = leaf
    return "".join(pieces)


def first_leaf(node: Node) -> Node:
    """Return the first leaf of `node` that belongs to no decorator or annotation."""
    return next((leaf for leaf, _ in _leaves(node, None)), node)


def last_line(node: Node) -> int:
    """Return the 1-based last line of `node` without comments after its last statement."""
    cursor = node.walk()
    while cursor.goto_last_child():
        while cursor.node is not None and _is_comment(cursor.node.type):
            if not cursor.goto_previous_sibling():
                break
    row, column = (cursor.node or node).end_point
    return row + 1 if column else row


def _leaves(node: Node, stop: int | None) -> Iterator[tuple[Node, Node]]:
    """Yield the tokens of `node` before byte `stop`, each with its parent. A string is one token.

    A cursor walks the tree, so that nesting costs no Python frames.
    """
    cursor, parents = node.walk(), [node]
    while (current := cursor.node) is not None and (stop is None or current.start_byte < stop):
        if not _is_left_out(current.type, len(parents)):
            if current.child_count == 0 or current.type in _TEXTS:
                if current.end_byte > current.start_byte:
                    yield current, parents[-1]
            elif cursor.goto_first_child():
                parents.append(current)
                continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            parents.pop()


def _is_comment(kind: str) -> bool:
    return kind.endswith("comment")


def _is_left_out(kind: str, depth: int) -> bool:
    """Return whether a node is a comment or a decoration of the definition itself, which has depth 2 or 3."""
    return _is_comment(kind) or kind == "line_continuation" or (kind in _DECORATIONS and depth <= 3)


def _is_trailing_comma(last: Node, leaf: Node, parent: Node, gap: bytes) -> bool:
    if last.type != "," or leaf.type not in _CLOSING or b"\n" not in gap:
        return False
    return parent.type in _LISTS and parent.named_child_count >= _LISTS[parent.type]


def _has_space(last: Node, leaf: Node, gap: bytes) -> bool:
    """Return whether the source has space between two tokens that is more than layout inside brackets."""
    is_layout = b"\n" in gap or bool(gap.strip())
    return bool(gap) and not (is_layout and (last.type in _OPENING or leaf.type in _CLOSING))


def _decode(source: bytes, leaf: Node, limit: int) -> str:
    end = min(leaf.end_byte, leaf.start_byte + 4 * limit + 4)  # at most 4 bytes a character
    return _LINE_BREAK.sub(" ", source[leaf.start_byte : end].decode("utf-8", "replace"))
