"""What a tree of sources defines, and which names it takes from outside."""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from skillstill_training.workspaces.steps.python import SURROGATES, parse

# Of other languages than Python, by the look of their lines: near enough for words.
DEFINITION = re.compile(
    r"\b(?:class|interface|struct|enum|trait|function|func|fn|type|const|let|var|mod|package)\s+"
    r"(?:\([^)]*\)\s*)?([A-Za-z_]\w+)"
)
IMPORT = re.compile(r"""^\s*(?:import|from|use|#include|export\s.*\bfrom)\b.*|.*\brequire\(.*""", re.MULTILINE)
OTHERS = {".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".go", ".java", ".rs"}


@dataclass
class Definitions:
    """Names, not words: `defined` in the tree; of `outside`, so that they have to stay."""

    inside: frozenset[str]  # the names of the tree's own folders and modules
    defined: set[str] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)

    def see(self, node: ast.AST) -> None:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if not name.startswith("__"):
                    self.defined.add(name)
            case ast.arg(arg=name):
                self.defined.add(name)
            case ast.Assign(targets=targets):
                self.defined |= {one.id for one in targets if isinstance(one, ast.Name) and one.id.isupper()}
            case ast.AnnAssign(target=ast.Name(id=name)) if name.isupper():
                self.defined.add(name)


def definitions(texts: Mapping[str, str]) -> Definitions:
    parts = {part for name in texts for part in PurePosixPath(name).with_suffix("").parts}
    found = Definitions(frozenset(parts - sys.stdlib_module_names))
    for name, text in texts.items():
        suffix = PurePosixPath(name).suffix
        if suffix == ".py":
            found.defined.add(PurePosixPath(name).stem)
            _of_python(text, found)
        elif suffix in OTHERS:
            found.defined |= {PurePosixPath(name).stem, *DEFINITION.findall(text)}
            found.outside |= {line for line in IMPORT.findall(text) if "./" not in line}
    return found


def _of_python(text: str, found: Definitions) -> None:
    module = parse(text.encode("utf-8", SURROGATES))
    if module is None:
        return
    nodes = list(ast.walk(module))
    imported = {name for node in nodes for name in _imported(node, found)}
    for node in nodes:
        found.see(node)
        if isinstance(node, ast.Attribute) and _root(node) in imported:
            found.outside.add(node.attr)
        elif isinstance(node, ast.Call) and _root(node.func) in imported:
            found.outside |= {one.arg for one in node.keywords if one.arg}


def _imported(node: ast.AST, found: Definitions) -> Iterator[str]:
    """Yield the names that an import of another's package binds here; what it names is noted as from outside."""
    if isinstance(node, ast.Import):
        modules = [(alias.name, alias.name, alias) for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        modules = [(node.module or "", f"{node.module} {alias.name}", alias) for alias in node.names]
    else:
        return
    for module, names, alias in modules:
        if module.split(".")[0] not in found.inside:
            found.outside.add(names)
            yield alias.asname or alias.name.split(".")[0]


def _root(node: ast.AST) -> str:
    """Return `a` of `a.b.c` and of `a.b().c`; empty if it is no name."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""
