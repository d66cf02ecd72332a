"""The table of uses: one row for each name of a file, with the lines that mention it."""

from collections.abc import Iterator

from tree_sitter import Node, QueryCursor, Tree

from skillstill.facts.readers.code.language import Compiled
from skillstill.facts.table import Row

NAME_LIMIT = 120  # characters


def uses(source: bytes, tree: Tree, compiled: Compiled, known: set[str]) -> Iterator[Row]:
    """Yield the rows by name.

    A row for each use, or for each name that only a function's own variables have, would make the index larger than
    the sources. So a name counts if it is a member (`x.name`), a type, or among the `known` ones, which other tables
    have: what is defined, called, imported, raised.
    """
    captures = QueryCursor(compiled.names).captures(tree.root_node)
    lines: dict[bytes, set[int]] = {}
    for node in captures.get("use", ()):
        lines.setdefault(source[node.start_byte : node.end_byte], set()).add(node.start_point[0] + 1)
    members = {_bytes(source, node) for node in captures.get("use.member", ())}
    for name in sorted(lines):
        text = name.decode("utf-8", "replace")
        if 1 < len(text) <= NAME_LIMIT and (name in members or text in known):
            found = sorted(lines[name])
            yield found[0], found[-1], text, f"[{','.join(map(str, found))}]"


def _bytes(source: bytes, node: Node) -> bytes:
    return source[node.start_byte : node.end_byte]
