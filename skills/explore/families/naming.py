"""How a prompt names what it asks about, and what there is to say of names that are not there."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from random import Random

from skillstill_training.authoring import Absent, Draft, Locations, Span

from .code import Class, CodePlace, Function
from .names import last, parts, recombined, shuffled
from .tree import Tree

COMMON = frozenset(dir(str) + dir(dict) + dir(list) + dir(set) + dir(bytes) + ["main", "run", "read", "write", "close"])


def called(tree: Tree, one: CodePlace) -> str:
    """The shortest name that means this definition only: `name`, `Class.name`; empty where neither does."""
    if tree.is_unique(one):
        return as_code(one)
    short = ".".join(one.name.split(".")[-2:])
    alike = [other for other in tree.by_last[one.last] if f".{other.name}".endswith(f".{short}")]
    return short if one.owner and alike == [one] else ""


def as_code(one: CodePlace) -> str:
    """Its last name, with parentheses where that would read as a word of the sentence: `process()`."""
    return f"{one.last}()" if isinstance(one, Function) and re.fullmatch(r"[a-z]+", one.last) else one.last


def sayable(tree: Tree, one: CodePlace) -> bool:
    """Whether it is found however loosely its name is said: two words or more, alone of its name in any case."""
    return len(parts(one.last)) > 1 and not one.last.startswith("_") and tree.is_unique_in_any_case(one)


def loose(tree: Tree, one: CodePlace, name: str) -> tuple[str, ...]:
    return ("name",) if sayable(tree, one) and name else ()


def is_distinct(name: str) -> bool:
    """Whether it is hardly a method of something else too."""
    return len(parts(name)) > 1 and name not in COMMON and not name.startswith("__")


def span_of(one: CodePlace) -> Span:
    """Where it stands: of a class only its head, for what lies in its body is something else."""
    end = one.line if isinstance(one, Class) else one.end
    return Span(path=one.path, first=one.line - one.decorators, last=end)


def at(one: CodePlace, precision: float = 0.5) -> Locations:
    """The check that its place is told: a line inside it."""
    return Locations(gold=(span_of(one),), precision=precision)


def facts_of(one: CodePlace) -> dict[str, str | int]:
    return {"name": one.name, "path": one.path, "line": one.line, "end": one.end}


def folder_of(one: CodePlace) -> str:
    """Where a question may be limited to; empty for the top."""
    folder = str(PurePosixPath(one.path).parent)
    return "" if folder == "." else folder


def with_absent(
    tree: Tree, drafts: Iterable[Draft], like: Sequence[CodePlace], share: float, rng: Random
) -> Iterator[Draft]:
    """The drafts, some of them followed by their like about a name that is not there."""
    made = recombined(shuffled(sorted({one.last for one in like if not one.is_test}), rng), tree.text, rng)
    for number, draft in enumerate(drafts):
        name = draft.words["name"]
        paired = rng.random() < share and is_distinct(last(name)) and (missing := _like(name, made))
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


def _like(name: str, made: Iterator[str]) -> str:
    """One of the made names, spelled as the last part of the name is, behind what stands before that."""
    owner, dot, end = name.rpartition(".")
    tries = (next(made, "") for _ in range(20))
    alike = (one for one in tries if one and one[0].isupper() == end[0].isupper())
    return f"{owner}{dot}{found}" if (found := next(alike, "")) else ""


def plain_functions(tree: Tree) -> list[Function]:
    """The functions and methods that a question can be about: no tests, no special methods, none inside another."""
    classes = {(one.path, one.name) for one in tree.classes}
    return [
        one
        for one in tree.code_only()
        if one.plain and not one.last.startswith("__") and (not one.owner or (one.path, one.owner) in classes)
    ]


def plain_classes(tree: Tree) -> list[Class]:
    return [one for one in tree.classes if not one.is_test and not one.owner]
