"""Python sources as text and as syntax trees, without running or judging them."""

import ast
import io
import re
import tokenize
import warnings
from pathlib import Path

SURROGATES = "surrogateescape"
LINE_END = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")  # as Python's own parser sees lines: a form feed ends none


def parse(source: bytes | str) -> ast.Module | None:
    """Return the module, or None if this Python cannot parse it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its escapes and literals
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # MemoryError: nested too deep
            return None


def encoding(source: bytes) -> str:
    """Return what its first lines declare; UTF-8 if they declare nothing that Python knows."""
    try:
        return tokenize.detect_encoding(io.BytesIO(source).readline)[0]
    except SyntaxError:
        return "utf-8"


def lines(text: str) -> list[str]:
    """Return the lines with their ends."""
    return [line for line in LINE_END.split(text) if line]


def python_files(tree: Path) -> list[Path]:
    return sorted(file for file in tree.rglob("*.py") if file.is_file() and not file.is_symlink())
