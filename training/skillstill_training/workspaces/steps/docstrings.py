"""The step `strip_docstrings`: what a function does is then told by its code alone, and known to us from the notes."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

from pydantic import JsonValue
from skillstill.errors import WorkspaceSourceError

from skillstill_training.workspaces.steps.notes import read_notes
from skillstill_training.workspaces.steps.prose import plain, sentence
from skillstill_training.workspaces.steps.python import encoding, lines, parse, python_files

Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Holder = ast.Module | Defined
NO_PROSE = re.compile(
    r"^(:\w|@\w|\.\. |>>>|[=\-~^*#]{3,}|[-*+] |\|)"
    r"|^(Args|Arguments|Parameters|Returns?|Yields|Raises|Example|Examples|Usage|Notes?)\s*:"
)


def strip_docstrings(tree: Path, _: Random) -> dict[str, JsonValue]:
    """Remove the docstrings of all Python files, and each file that does not parse.

    Notes `docstrings`: {path: {qualified name: first sentence}} of functions, methods and classes.
    """
    if "changes" in read_notes(tree):
        raise WorkspaceSourceError(
            "strip_docstrings moves the lines that noted changes speak of: put it before their step"
        )
    told: dict[str, JsonValue] = {}
    for file in python_files(tree):
        source = file.read_bytes()
        module = parse(source)
        stripped = without_docstrings(source, module) if module else None
        if module is None or stripped is None or parse(stripped) is None:
            file.unlink()
            continue
        file.write_bytes(stripped)
        if found := dict(first_sentences(module)):
            told[file.relative_to(tree).as_posix()] = {**found}
    return {"docstrings": told}


def without_docstrings(source: bytes, module: ast.Module) -> bytes | None:
    """Return the source, with `...` where a body was nothing else. None if its bytes are not as it declares."""
    name = encoding(source)
    try:
        text = lines(source.decode(name))
        for holder in sorted(_holders(module), key=lambda one: -one.body[0].lineno):
            _cut(text, holder)
        return "".join(text).encode(name)
    except (UnicodeError, LookupError):
        return None


def first_sentences(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the qualified names of functions and classes, with what their docstrings begin with."""
    for name, node in _definitions(module, ""):
        documented = ast.get_docstring(node, clean=False)
        if documented and (first := first_sentence(documented)):
            yield name, first


def first_sentence(docstring: str) -> str:
    """Return the first sentence in plain words on one line; empty if the text does not begin with prose."""
    paragraph = []
    for line in inspect.cleandoc(docstring).splitlines():
        if not line.strip() or NO_PROSE.search(line.strip()):
            break
        paragraph.append(line.strip())
    return sentence(plain(" ".join(paragraph)))


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Defined]]:
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, Defined):
            yield f"{prefix}{inner.name}", inner
            yield from _definitions(inner, f"{prefix}{inner.name}.")
        elif not isinstance(inner, ast.expr):  # which may be nested a thousand deep, and defines nothing
            yield from _definitions(inner, prefix)


def _holders(module: ast.Module) -> Iterator[Holder]:
    for node in ast.walk(module):
        if isinstance(node, Holder) and ast.get_docstring(node, clean=False) is not None:
            yield node


def _cut(text: list[str], holder: Holder) -> None:
    """Remove the docstring's lines, or write `...` in its place if its body holds nothing else."""
    node = holder.body[0]
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = text[first].encode()[: node.col_offset].decode()  # the tree counts bytes of UTF-8
    after = text[last].encode()[node.end_col_offset :].decode()
    alone = not before.strip() and not after.strip()
    if alone and (len(holder.body) > 1 or isinstance(holder, ast.Module)):
        while last + 1 < len(text) and not text[last + 1].strip():
            last += 1  # the blank lines that set it off
        text[first : last + 1] = []
    else:
        text[first : last + 1] = [f"{before}...{after}"]
