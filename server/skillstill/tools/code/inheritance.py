"""What a class inherits: which definition of a name is meant by `Class.name`."""

import re
from collections.abc import Sequence

from anyio import to_thread

from skillstill.symbols import language_of
from skillstill.tools.code.definitions import (
    AS_IT_STANDS,
    SPELLINGS,
    CodeDefinition,
    NameLookup,
    basename,
    find_definitions,
)
from skillstill.tools.kit.redaction import text_lines
from skillstill.workspace import Workspace

CLASSES = {"class", "interface", "struct", "trait", "enum"}
SPREAD_LANGUAGES = {"go", "rust"}  # whose types may have methods in other files of a folder
NAME = re.compile(r"\w+(?:\.\w+)*(?: \w+){0,2}")  # of a class, perhaps in words: `dummy output`
MOST = 30  # classes that are looked at above one


class AmbiguousClass(Exception):
    """Several classes could be meant."""


async def inherited_definitions(
    workspace: Workspace, owner: str, members: Sequence[CodeDefinition]
) -> Sequence[CodeDefinition]:
    """Return those of the members that a class defines itself, else those of the first class above it that has any.

    Classes come in Python's order of resolution if their bases agree on one: a class before its bases, the bases as
    they are written, a shared base after all of these. Bases that the workspace does not define are passed over.
    Return nothing if no class has that name, or if several have it, or the name of a base.
    """
    try:
        match = await _find_class(workspace, owner)
        line = await _ancestors(workspace, match, []) if match else []
    except AmbiguousClass:
        return ()
    in_order = [ancestor for at, ancestor in enumerate(line) if ancestor not in line[at + 1 :]]
    own = ([member for member in members if _is_member(ancestor, member)] for ancestor in in_order)
    return next(filter(None, own), ())


async def _find_class(workspace: Workspace, owner: str) -> CodeDefinition | None:
    """Return the class of a name in the first spelling that has any. Raise AmbiguousClass if there are several."""
    if not NAME.fullmatch(owner):
        return None
    for spelling in SPELLINGS:
        lookup = await find_definitions(workspace, basename(owner), (spelling,))
        if classes := _classes(lookup, owner):
            return _single(classes)
        if not lookup.is_complete:
            break
    return None


async def _ancestors(
    workspace: Workspace, child: CodeDefinition, below: Sequence[CodeDefinition]
) -> Sequence[CodeDefinition]:
    """Return the class and all above it, depth first. Raise AmbiguousClass if a base could be several classes."""
    line = [child]
    for written in child.symbol.bases:
        base = await _resolve_base(workspace, child, written)
        if base and base not in (*below, child) and len(line) < MOST:
            line += await _ancestors(workspace, base, (*below, child))
    return line


async def _resolve_base(workspace: Workspace, child: CodeDefinition, written: str) -> CodeDefinition | None:
    """Return the class that a base names, of the same language. Of several, the one beside the child is meant."""
    match = re.match(r"[*&]?([\w.:]+)", written)
    name = match[1].replace("::", ".").strip(".") if match else ""
    if not name:
        return None
    candidates = [
        candidate
        for candidate in _classes(await find_definitions(workspace, basename(name), (AS_IT_STANDS,)), name)
        if language_of(candidate.path) == language_of(child.path)
    ]
    packages = await to_thread.run_sync(_imported_packages, workspace, child.path, basename(name))
    candidates = [
        candidate
        for candidate in candidates
        if candidate.path == child.path or not packages or packages & _path_parts(workspace, candidate.path)
    ]
    beside = [candidate for candidate in candidates if (candidate.path, candidate.owner) == (child.path, child.owner)]
    return _single(beside or candidates) if candidates else None


def _imported_packages(workspace: Workspace, path: str, name: str) -> set[str]:
    """Return what Python's `from shop.cart import Cart` names: `shop` and `cart`; empty if no such line is there."""
    taken = re.compile(rf"\s*from (\w[\w.]*) import (?:.*\W)?{re.escape(name)}\s*(?:[,#;]|$)")
    lines = text_lines(workspace.read(path)) if language_of(path) == "python" else ()
    return {part for line in lines if (match := taken.match(line)) for part in match[1].split(".")}


def _path_parts(workspace: Workspace, path: str) -> set[str]:
    """Return the names of a file and of all folders above it, the workspace's too."""
    return {workspace.root.name, *path.rpartition(".")[0].split("/")}


def _classes(lookup: NameLookup, name: str) -> Sequence[CodeDefinition]:
    return [definition for definition in lookup.with_ending(name) if definition.symbol.kind in CLASSES]


def _single(classes: Sequence[CodeDefinition]) -> CodeDefinition:
    if len(classes) > 1:
        raise AmbiguousClass
    return classes[0]


def _is_member(owner: CodeDefinition, member: CodeDefinition) -> bool:
    folders = {definition.path.rpartition("/")[0] for definition in (owner, member)}
    near = len(folders) == 1 and language_of(owner.path) in SPREAD_LANGUAGES
    return member.owner == owner.symbol.name and (member.path == owner.path or near)
