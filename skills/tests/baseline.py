"""The baseline of `tests`: it runs nothing. The innermost frame of the package that the prompt shows is to blame.

Without one, it is the function of the package that the test mentions whose name is most like the test's.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from skillstill_training.authoring.reading import Symbol, symbols

FRAME = re.compile(r"^(\w[\w./-]*\.py):(\d+): in ", re.MULTILINE)
TEST = re.compile(r"([\w./-]+\.py)::([\w:]+)")
IS_TEST = re.compile(r"(?:^|/)(?:tests?/|test_|conftest)|_tests?\.py$")
PART = re.compile(r"[a-z]+|\d+")


def answer(prompt: str, root: Path) -> str:
    frames = [(path, int(line)) for path, line in FRAME.findall(prompt) if not IS_TEST.search(path)]
    for path, line in reversed(frames):
        if one := innermost(functions(root, path), line):
            return f"{path}:{one.line}: {one.name}"
    if test := TEST.search(prompt):
        path, name = test[1], test[2].rpartition(":")[2]
        for likely, one in sorted(mentioned(root, path, name), key=lambda found: -alike(found[1].name, name)):
            return f"{likely}:{one.line}: {one.name}"
    return "escalate: no function of the package is named."


def mentioned(root: Path, path: str, test: str) -> Iterator[tuple[str, Symbol]]:
    """Yield the functions of the package whose names the test mentions, with their paths."""
    lines = text(root / path).split("\n")
    own = next((one for one in functions(root, path) if last(one.name) == test), None)
    words = re.findall(r"\w+", "\n".join(lines[own.line - 1 : own.end])) if own else []
    package = [file.relative_to(root).as_posix() for file in sorted(root.rglob("*.py"))]
    known = [(one, made) for one in package if not IS_TEST.search(one) for made in functions(root, one)]
    for word in dict.fromkeys(words):
        yield from ((one, made) for one, made in known if last(made.name) == word)


def alike(function: str, test: str) -> float:
    """Return the share of the words of either name that both have, 0..1."""
    ours, theirs = set(PART.findall(last(function).lower())), set(PART.findall(test.lower())) - {"test"}
    return len(ours & theirs) / max(1, len(ours | theirs))


def innermost(found: Sequence[Symbol], line: int) -> Symbol | None:
    return max((one for one in found if one.line <= line <= one.end), key=lambda one: one.line, default=None)


def functions(root: Path, path: str) -> Sequence[Symbol]:
    return [one for one in symbols(text(root / path).encode(), "python") if one.kind in ("function", "method")]


def last(name: str) -> str:
    return name.rpartition(".")[2]


def text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
