"""Mutants of a package: one of its functions with one mistake, all the rest as it was."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from .operators import Function, functions_of, mutations_of

NOT_THE_PACKAGE = re.compile(
    r"(?:^|/)(?:tests?|testing|docs?|doc|examples?|bench\w*|tools|scripts|utils)/|(?:^|/)(?:test_[^/]*|[^/]*_tests?|tests?"
    r"|conftest|setup|conf)\.py$"
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A file as it would be, and where in it the changed function is."""

    path: str
    first: int
    last: int
    function: str
    operator: str
    before: bytes
    after: bytes


def mutants_of(tree: Path, rng: Random) -> Iterator[Mutant]:
    """Yield one mutant of each function of the package, in an order by chance."""
    files = [
        file for file in sorted(tree.rglob("*.py")) if not NOT_THE_PACKAGE.search(file.relative_to(tree).as_posix())
    ]
    functions = [(file, one) for file in files if (parsed := _parsed(file)) for one in functions_of(parsed)]
    rng.shuffle(functions)
    for file, function in functions:
        if mutant := _mutant(file, tree, function, rng):
            yield mutant


def _mutant(file: Path, tree: Path, function: Function, rng: Random) -> Mutant | None:
    source = file.read_bytes()
    mutations = list(mutations_of(function, source))
    if not mutations:
        return None
    operator = rng.choice(sorted({one.operator for one in mutations}))  # else calls and numbers would be most of them
    after = rng.choice([one for one in mutations if one.operator == operator]).of(source)
    first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
    last = function.end_lineno or first
    return Mutant(file.relative_to(tree).as_posix(), first, last, function.name, operator, source, after)


def _parsed(file: Path) -> ast.Module | None:
    """Return the module, or None if it is not Python in UTF-8."""
    try:
        return ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):
        return None
