"""What a class has from those above it: which definition of a name is meant by `Class.name`."""

import re
from collections.abc import Sequence

from anyio import to_thread

from skillstill.symbols import language_of
from skillstill.tools.code.definitions import AS_IT_STANDS, SPELLINGS, Definition, Found, definitions, last
from skillstill.tools.code.files import text_lines
from skillstill.workspace import Workspace

CLASSES = {"class", "interface", "struct", "trait", "enum"}
SPREAD = {"go", "rust"}  # languages whose types may have methods in other files of a folder
NAME = re.compile(r"\w+(?:\.\w+)*(?: \w+){0,2}")  # of a class, perhaps in words: `dummy output`
MOST = 30  # classes that are looked at above one


class Unclear(Exception):
    """Several classes could be meant."""


async def held(workspace: Workspace, owner: str, members: Sequence[Definition]) -> Sequence[Definition]:
    """Those of the members that a class holds itself, else those of the first class above it that holds any.

    Classes come in Python's order where their bases agree on one: each before its own bases, the bases as they are
    written, one that several share behind all of these. Bases from elsewhere are unknown here, and passed over.
    Nothing where no class of that name is found, or where several are, of it or of a base.
    """
    try:
        one = await _called(workspace, owner)
        line = await _above(workspace, one, []) if one else []
    except Unclear:
        return ()
    in_order = [holder for at, holder in enumerate(line) if holder not in line[at + 1 :]]
    inside = ([one for one in members if _holds(holder, one)] for holder in in_order)
    return next(filter(None, inside), ())


async def _called(workspace: Workspace, owner: str) -> Definition | None:
    """The one class of a name in the first spelling in which there is any. Raises Unclear where there are several."""
    if not NAME.fullmatch(owner):
        return None
    for spelling in SPELLINGS:
        found = await definitions(workspace, last(owner), (spelling,))
        if classes := _classes(found, owner):
            return _only(classes)
        if not found.is_whole:
            break
    return None


async def _above(workspace: Workspace, holder: Definition, below: Sequence[Definition]) -> Sequence[Definition]:
    """The class and all above it, depth first. Raises Unclear."""
    line = [holder]
    for written in holder.symbol.bases:
        base = await _base(workspace, holder, written)
        if base and base not in (*below, holder) and len(line) < MOST:
            line += await _above(workspace, base, (*below, holder))
    return line


async def _base(workspace: Workspace, holder: Definition, written: str) -> Definition | None:
    """The class that a base means, of the same language; one beside the class where several are called so."""
    found = re.match(r"[*&]?([\w.:]+)", written)
    name = found[1].replace("::", ".").strip(".") if found else ""
    if not name:
        return None
    named = _classes(await definitions(workspace, last(name), (AS_IT_STANDS,)), name)
    alike = [one for one in named if language_of(one.path) == language_of(holder.path)]
    packages = await to_thread.run_sync(_imported_from, workspace, holder.path, last(name))
    alike = [one for one in alike if one.path == holder.path or not packages or packages & _parts(workspace, one.path)]
    beside = [one for one in alike if (one.path, one.owner) == (holder.path, holder.owner)]
    return _only(beside or alike) if alike else None


def _imported_from(workspace: Workspace, path: str, name: str) -> set[str]:
    """What Python's `from shop.cart import Cart` names before it, `shop` and `cart`; empty where nobody can tell."""
    taken = re.compile(rf"\s*from (\w[\w.]*) import (?:.*\W)?{re.escape(name)}\s*(?:[,#;]|$)")
    lines = text_lines(workspace.read(path)) if language_of(path) == "python" else ()
    return {part for line in lines if (found := taken.match(line)) for part in found[1].split(".")}


def _parts(workspace: Workspace, path: str) -> set[str]:
    """The names of a file and of all folders above it, that of the workspace too."""
    return {workspace.root.name, *path.rpartition(".")[0].split("/")}


def _classes(found: Found, name: str) -> Sequence[Definition]:
    return [one for one in found.ending_in(name) if one.symbol.kind in CLASSES]


def _only(classes: Sequence[Definition]) -> Definition:
    if len(classes) > 1:
        raise Unclear
    return classes[0]


def _holds(holder: Definition, member: Definition) -> bool:
    folders = {one.path.rpartition("/")[0] for one in (holder, member)}
    near = len(folders) == 1 and language_of(holder.path) in SPREAD
    return member.owner == holder.symbol.name and (member.path == holder.path or near)
