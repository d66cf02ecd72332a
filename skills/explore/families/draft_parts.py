"""Parts that drafts share: unambiguous names, place checks, and twins about names that do not exist."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from random import Random

from skillstill_training.authoring import Absent, Draft, Locations, Span

from .code import Class, CodePlace, Function
from .names import last_part, parts, recombine, shuffled
from .tree import Tree

COMMON = frozenset(dir(str) + dir(dict) + dir(list) + dir(set) + dir(bytes) + ["main", "run", "read", "write", "close"])


def unique_name(tree: Tree, definition: CodePlace) -> str:
    """Return the shortest name of this definition alone, `name` or `Class.name`; empty if both are ambiguous."""
    if tree.is_unique(definition):
        return as_code(definition)
    short = ".".join(definition.name.split(".")[-2:])
    alike = [other for other in tree.by_last[definition.last] if f".{other.name}".endswith(f".{short}")]
    return short if definition.owner and alike == [definition] else ""


def as_code(definition: CodePlace) -> str:
    """Return its last name, with parentheses if it would read as a word of the sentence: `process()`."""
    return (
        f"{definition.last}()"
        if isinstance(definition, Function) and re.fullmatch(r"[a-z]+", definition.last)
        else definition.last
    )


def is_found_loosely(tree: Tree, definition: CodePlace) -> bool:
    """Return whether any spelling of its name finds it: two words or more, unique in any case."""
    return (
        len(parts(definition.last)) > 1
        and not definition.last.startswith("_")
        and tree.is_unique_in_any_case(definition)
    )


def loose_slots(tree: Tree, definition: CodePlace, name: str) -> tuple[str, ...]:
    return ("name",) if is_found_loosely(tree, definition) and name else ()


def is_distinct(name: str) -> bool:
    """Return whether it is unlikely to be also a method of something else."""
    return len(parts(name)) > 1 and name not in COMMON and not name.startswith("__")


def span_of(definition: CodePlace) -> Span:
    """Return its lines; of a class only the head, because its body contains other definitions."""
    end = definition.line if isinstance(definition, Class) else definition.end
    return Span(path=definition.path, first=definition.line - definition.decorators, last=end)


def place_check(definition: CodePlace, precision: float = 0.5) -> Locations:
    """Return the check that an answer names its place: a line inside it."""
    return Locations(gold=(span_of(definition),), precision=precision)


def facts_of(definition: CodePlace) -> dict[str, str | int]:
    return {"name": definition.name, "path": definition.path, "line": definition.line, "end": definition.end}


def folder_of(definition: CodePlace) -> str:
    """Return the folder that a question may be limited to; empty for the root."""
    folder = str(PurePosixPath(definition.path).parent)
    return "" if folder == "." else folder


def with_absent(
    tree: Tree, drafts: Iterable[Draft], like: Sequence[CodePlace], share: float, rng: Random
) -> Iterator[Draft]:
    """Yield the drafts, some of them followed by a twin about a name that does not exist."""
    invented = recombine(shuffled(sorted({one.last for one in like if not one.is_test}), rng), tree.text, rng)
    for number, draft in enumerate(drafts):
        name = draft.words["name"]
        paired = rng.random() < share and is_distinct(last_part(name)) and (missing := _similar_name(name, invented))
        yield draft.model_copy(update={"pair": f"{name}/{number}"}) if paired else draft
        if paired:
            yield draft.model_copy(
                update={
                    "check": Absent(),
                    "words": {**draft.words, "name": missing},
                    "loose": ("name",),
                    "facts": {"absent": True},
                    "pair": f"{name}/{number}",
                }
            )


def _similar_name(name: str, invented: Iterator[str]) -> str:
    """Return the name with an invented last part in the same style; empty if there is none."""
    owner, dot, end = name.rpartition(".")
    tries = (next(invented, "") for _ in range(20))
    alike = (one for one in tries if one and one[0].isupper() == end[0].isupper())
    return f"{owner}{dot}{invented_name}" if (invented_name := next(alike, "")) else ""


def askable_functions(tree: Tree) -> list[Function]:
    """Return the functions and methods for questions: no tests, no special methods, no nested functions."""
    classes = {(one.path, one.name) for one in tree.classes}
    return [
        one
        for one in tree.code_only()
        if one.plain and not one.last.startswith("__") and (not one.owner or (one.path, one.owner) in classes)
    ]


def askable_classes(tree: Tree) -> list[Class]:
    return [one for one in tree.classes if not one.is_test and not one.owner]
