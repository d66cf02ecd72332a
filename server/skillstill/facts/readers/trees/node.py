"""A value with its lines, and the values in it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_DEPTH = 64  # real files have 5 to 15; more would only make paths that nobody asks for


@dataclass(slots=True)
class Node:
    """A value of a file.

    type      object, array, element, or the sort of scalar: string, integer, float, boolean, null, date, ...;
              a YAML tag of the file's own as it is, such as "!Ref"
    text      a scalar as it is meant, without quotes and escapes; an element's own text
    children  (name, value) in the file's order, also if a name stands twice; the name is empty in an array
    """

    type: str
    first: int
    last: int
    text: str = ""
    children: list[tuple[str, "Node"]] = field(default_factory=list)

    def child(self, name: str) -> "Node | None":
        """Return the child of this name, the last one if there are several."""
        return next((node for other, node in reversed(self.children) if other == name), None)

    def at(self, *names: str) -> "Node":
        """Return what lies under these names, or an empty node."""
        node: Node = self
        for name in names:
            found = node.child(name)
            if found is None:
                return NOTHING
            node = found
        return node

    def text_at(self, *names: str) -> str | None:
        """Return the text of the scalar under these names."""
        node = self.at(*names)
        return None if node is NOTHING or node.children else node.text

    def all(self, name: str) -> Iterator["Node"]:
        """Return all children of this name."""
        return (node for other, node in self.children if other == name)

    def values(self) -> Iterator["Node"]:
        return (node for _, node in self.children)


NOTHING = Node("null", 0, 0)


@dataclass(slots=True)
class Tree:
    """The documents of a file: one, but for YAML. `damage` says why there is no more, or is empty."""

    documents: list[Node] = field(default_factory=list)
    damage: str = ""

    @property
    def root(self) -> Node:
        return self.documents[0] if self.documents else NOTHING


class Damage(Exception):
    """A file is not valid from some place on; the text is the reason of the gap."""


class TreeBuilder:
    """Takes the values of a file one by one and puts each where it belongs."""

    def __init__(self) -> None:
        self.tree = Tree()
        self._open: list[Node] = []

    @property
    def container(self) -> Node | None:
        """The innermost object or array that is open."""
        return self._open[-1] if self._open else None

    def add(self, name: str, node: Node) -> None:
        if self._open:
            self._open[-1].children.append((name, node))
        else:
            self.tree.documents.append(node)

    def open(self, name: str, node: Node) -> None:
        if len(self._open) == MAX_DEPTH:
            raise Damage(f"nested more than {MAX_DEPTH} deep")
        self.add(name, node)
        self._open.append(node)

    def close(self, last: int) -> Node:
        """Close the innermost container and return it."""
        node = self._open.pop()
        node.last = last
        return node
