"""Source text on one line: comments and decorators dropped, layout collapsed, strings kept as written."""

import re
from collections.abc import Iterator

from tree_sitter import Node

SIGNATURE_LIMIT = 2000  # characters; keeps hostile headers, nested in each other, from a quadratic output
VALUE_LIMIT = 80  # characters of a constant's value
NAME_LIMIT = 200  # characters of a name, a base or a raised expression

_DECORATIONS = frozenset({"decorator", "annotation", "marker_annotation"})
_LISTS = frozenset(
    [
        "parameters",
        "formal_parameters",
        "parameter_list",
        "argument_list",
        "arguments",
        "type_parameters",
        "type_parameter_list",
    ]
)
_OPENING = frozenset("([{.")
_CLOSING = frozenset(")]},.") | {"?."}
_LINE_BREAK = re.compile(r"\s*[\r\n]\s*")


def one_line(source: bytes, node: Node, *, stop: int | None = None, limit: int = SIGNATURE_LIMIT) -> str:
    """`node` on one line, up to byte `stop`; after `limit` characters it ends with "…"."""
    pieces: list[str] = []
    length = 0
    last, last_parent = None, ""
    for leaf, parent in _leaves(node, stop):
        piece = _LINE_BREAK.sub(" ", _decode(source, leaf.start_byte, leaf.end_byte, limit))
        if last is not None:
            gap = source[last.end_byte : leaf.start_byte]
            if _is_trailing_comma(last, last_parent, leaf, gap):
                pieces.pop()
                gap = b""
            piece = _space(last, leaf, gap) + piece
        pieces.append(piece)
        length += len(piece)
        if length > limit:
            return "".join(pieces)[:limit].rstrip() + "…"
        last, last_parent = leaf, parent
    return "".join(pieces)


def first_leaf(node: Node) -> Node:
    """Where `node` starts once its decorators and annotations are left out."""
    return next((leaf for leaf, _ in _leaves(node, None)), node)


def last_line(node: Node) -> int:
    """The 1-based last line of `node`, comments after its last statement left out."""
    cursor = node.walk()
    while cursor.goto_last_child():
        while cursor.node is not None and cursor.node.type.endswith("comment"):
            if not cursor.goto_previous_sibling():
                break
    row, column = (cursor.node or node).end_point
    return row + 1 if column else row


def _leaves(node: Node, stop: int | None) -> Iterator[tuple[Node, str]]:
    """The tokens of `node` before byte `stop`, each with its parent's type; a string is one token.

    Walks with a cursor, so that nesting costs no Python frames.
    """
    cursor = node.walk()
    parents = [""]
    while (current := cursor.node) is not None and (stop is None or current.start_byte < stop):
        kind = current.type
        if _is_leaf(current, kind):
            if current.end_byte > current.start_byte:
                yield current, parents[-1]
        elif not _is_left_out(kind, len(parents)) and cursor.goto_first_child():
            parents.append(kind)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            parents.pop()


def _is_leaf(node: Node, kind: str) -> bool:
    is_text = "string" in kind or kind == "character_literal"
    return (is_text or node.child_count == 0) and not _is_left_out(kind, 0)


def _is_left_out(kind: str, depth: int) -> bool:
    """Comments everywhere; decorations of the definition itself (depth 2 or 3) but not of its parameters."""
    return kind.endswith("comment") or kind == "line_continuation" or (kind in _DECORATIONS and depth <= 3)


def _is_trailing_comma(last: Node, parent: str, leaf: Node, gap: bytes) -> bool:
    return last.type == "," and leaf.type in _CLOSING and parent in _LISTS and b"\n" in gap


def _space(last: Node, leaf: Node, gap: bytes) -> str:
    """One space where the source has room between two tokens, none where that was only layout in brackets."""
    was_layout = b"\n" in gap or bool(gap.strip())
    if not gap or (was_layout and (last.type in _OPENING or leaf.type in _CLOSING)):
        return ""
    return " "


def _decode(source: bytes, start: int, end: int, limit: int) -> str:
    return source[start : min(end, start + 4 * limit + 4)].decode("utf-8", "replace")  # 4: bytes a character
