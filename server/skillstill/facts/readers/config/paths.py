"""From a tree of values to rows under full paths."""

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from skillstill.facts.readers.trees import MAX_DEPTH, Node, Tree
from skillstill.facts.table import Row

MOST_SETTINGS = 10_000  # of a file; the longest ones that people write have about 3,000
_TEXT = 300  # characters of a key or value
_INDEXED = {"element", "instruction"}  # these have siblings of the same name, which are not the same value

Cut = Literal["", "rows", "depth"]
_Step = tuple[str, str, Node]  # key, name, value


def setting_rows(tree: Tree) -> tuple[list[Row], Cut]:
    """Return the rows of all values in the file's order, and why there are not more of them."""
    rows: list[Row] = []
    cut: Cut = ""
    work = [(step, 0) for step in reversed(list(_documents(tree)))]
    while work:
        (key, name, node), depth = work.pop()
        if len(rows) == MOST_SETTINGS:
            return rows, "rows"
        if not node.children or node.type == "target" or (node.type == "element" and node.text):
            rows.append((node.first, node.last, key[:_TEXT], name[:_TEXT], _value(node), _type(node)))
        if node.children and depth > MAX_DEPTH:
            cut = "depth"  # an alias of YAML that lies in what it stands for
        else:
            work += [(step, depth + 1) for step in reversed(list(_steps(key, name, node)))]
    return rows, cut


def _documents(tree: Tree) -> Iterator[_Step]:
    """Yield the roots: under their number if a YAML file has several."""
    documents = [node for node in tree.documents if node.children or node.text]
    for number, node in enumerate(documents):
        yield f"[{number}]" if len(documents) > 1 else "", "", node


def _steps(key: str, name: str, node: Node) -> Iterator[_Step]:
    if node.type == "array":
        for number, (_, child) in enumerate(node.children):
            yield f"{key}[{number}]", name, child
        return
    several = Counter(name for name, child in node.children if child.type in _INDEXED)
    seen = Counter[str]()
    for part, child in node.children:
        index = f"[{seen[part]}]" if several[part] > 1 and child.type in _INDEXED else ""
        seen[part] += 1
        bare = part.removeprefix("@") if child.type == "attribute" else part
        joint = "" if not key or child.type == "attribute" else "."
        yield f"{key}{joint}{part}{index}", bare.rpartition(".")[2] if node.type == "properties" else bare, child


def _value(node: Node) -> str | None:
    if node.type == "null":
        return None
    if node.type in ("object", "array"):
        return "{}" if node.type == "object" else "[]"
    return node.text.strip("\n")[:_TEXT]


def _type(node: Node) -> str:
    return "string" if node.type == "element" else node.type
