"""The tool that shows symbols: of one file, or wherever a name is defined: as it stands, else in any spelling."""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated

from anyio import to_thread
from pydantic import Field

from skillstill.errors import Refusal
from skillstill.symbols import SUFFIXES, Symbol, language_of, symbols, unread
from skillstill.tools.code.definitions import PARSED, Definition, Found, definitions, last, letters
from skillstill.tools.code.files import settle, text_lines
from skillstill.tools.code.inheritance import held
from skillstill.tools.code.ranking import NAME, SIGNATURE, Thing, ranked
from skillstill.tools.code.sources import symbols_of
from skillstill.tools.kit.listing import place, rows
from skillstill.tools.kit.tool import MAX_LINE, ROW, Line, Result, fitting
from skillstill.types import Copied, Span
from skillstill.util.text import shorten
from skillstill.workspace import Workspace

ROOM = 700  # characters that a file's outline aims at; a longer one is told in less detail
NAMES = 40  # symbols of a file that are told by their names only
SHOWN = 6  # definitions of one name
SAID_BEFORE = re.compile(r"(?:class|def|fn|func|function|interface|method|struct|trait|type) +(?=\S)")
JOINING_HASH = r"(?<=\w)(?<!\br)#|#(?!\w)"  # of `Cart#add`; others belong to the name: `#private`, `r#type`
A_NAME = re.compile(r"\S+(?: \S+){0,7}")  # in words too, as people say it: `retry back off`


async def outline(
    workspace: Workspace,
    target: Annotated[
        str, Field(min_length=1, max_length=160, description="a file, or a name like `Class.method`"), Copied()
    ],
    of: Annotated[
        str, Field(max_length=160, description="the class that has it, or what tells it from its namesakes"), Copied()
    ] = "",
) -> Result:
    """Show the symbols of a source file, or where a name is defined: signature, bases, raised exceptions."""
    if path := await _path(workspace, target):
        return await to_thread.run_sync(_of_file, workspace, path)
    name = _dotted(target)
    if not A_NAME.fullmatch(name):
        raise Refusal(f"{target!r} is neither a file nor a name: give a name such as Class.method, or use search")
    return await _of_name(workspace, name, of.strip(), target)


async def _path(workspace: Workspace, target: str) -> str | None:
    """The file that the target is; none where it is a name, as the method `Client.go` is. Raises Refusal."""
    if "/" not in target and language_of(target) is None:
        return None
    try:
        return await settle(workspace, target)
    except Refusal:
        if "/" in target or not (await definitions(workspace, last(target))).ending_in(target):
            raise
    return None


def _of_file(workspace: Workspace, path: str) -> Result:
    real = workspace.resolve(path)
    name, language = workspace.relative(real), language_of(real.name)
    if real.is_dir():
        raise Refusal(f"{path!r} is a folder: use list")
    if language is None:
        raise Refusal(f"no outline for {name}: only for {' '.join(SUFFIXES)}; use read")
    data = workspace.read(path)
    found = symbols(data, language)
    body, remark = _in_detail(name, found)
    head = f"{name}: {len(text_lines(data))} lines, {len(found)} symbols{remark}"
    return Result((Line(head, (Span(path=name),)), *body))


def _in_detail(path: str, found: Sequence[Symbol]) -> tuple[Sequence[Line], str]:
    """The symbols in as much detail as there is room for, and a remark on it."""
    for detail, remark in ((_everything, ""), (_members_by_name, "; members by name")):
        lines = [*detail(path, found)]
        if len(fitting(lines, ROOM)) == len(lines):
            return lines, remark
    return [*_named(path, _outermost(found))], "; outermost names, outline one for more"


def _everything(path: str, found: Sequence[Symbol]) -> Iterable[Line]:
    for symbol in found:
        indent = "  " * symbol.name.count(".")
        yield Line(shorten(f"{symbol.line}: {indent}{symbol.signature}", ROW), (place(path, symbol.line),))
        for raised in symbol.raises:
            yield Line(f"{raised.line}: {indent}  raises {raised.name}", (place(path, raised.line),))


def _members_by_name(path: str, found: Sequence[Symbol]) -> Iterable[Line]:
    for symbol in _outermost(found):
        yield Line(shorten(f"{symbol.line}: {symbol.signature}", ROW), (place(path, symbol.line),))
        yield from _members(path, symbol, found)


def _outermost(found: Sequence[Symbol]) -> Sequence[Symbol]:
    return [symbol for symbol in found if "." not in symbol.name]


def _members(path: str, symbol: Symbol, found: Sequence[Symbol]) -> Iterable[Line]:
    """The names of what a symbol holds, with their lines, several to a row."""
    inside = [one for one in found if one.name.rpartition(".")[0] == symbol.name]
    return _named(path, inside, indent="  ")


def _named(path: str, found: Sequence[Symbol], indent: str = "") -> Iterable[Line]:
    yield from rows([(f"{last(one.name)}:{one.line}", place(path, one.line)) for one in found[:NAMES]], indent)
    if rest := found[NAMES:]:
        yield Line(f"{indent}… {len(rest)} more from line {rest[0].line} on: use search with this path")


async def _of_name(workspace: Workspace, name: str, of: str, target: str) -> Result:
    found = await definitions(workspace, last(name))
    if found.named:
        return await _told(workspace, name, of, found)
    if before := SAID_BEFORE.match(name):
        return await _of_name(workspace, name[before.end() :], of, target)
    if target in {path.name for path in workspace.root.iterdir()}:
        return await to_thread.run_sync(_of_file, workspace, target)
    where = " in any spelling" if found.is_whole else f" in {PARSED} of {found.sources} files with the word"
    occurs = f"; the word stands in {len(found.files)} files: use search" if found.files else ""
    text = f"no definition of {name!r}{where}{occurs}"
    return Result((Line(text),), missed=_missed(found))


def _missed(found: Found) -> str:
    """Where the word stands in what was not parsed."""
    foreign = [path for path in found.files if unread(path)]
    if foreign:
        return f"the word stands in {foreign[0]}, whose language is not parsed here"
    return "" if found.is_whole else f"only {PARSED} of {found.sources} files with the word were parsed"


async def _told(workspace: Workspace, name: str, of: str, found: Found) -> Result:
    """What a class has of that name, if one is named; else all under the longest ending of the name that has any."""
    exact, ending = _under_its_longest(name, found)
    lost = "" if "." in ending else name.rpartition(".")[0]
    remarks = [found.spelling.remark] if found.spelling.remark else []
    owner = _as_name(of) or lost
    if owner and (inside := await held(workspace, owner, exact)):
        above = inside[0].owner
        own = letters(last(owner)) == letters(last(above))
        return await _shown(workspace, inside, [*remarks, *([] if own else [f"{owner} has {ending} from {above}"])])
    remarks += [f"none of them is {name!r}"] if lost else []
    if of:
        exact, by = await to_thread.run_sync(_fitting_first, of, exact)
        remarks += by
    head = [f"{len(exact)} definitions of {ending!r}", *remarks]
    return await _shown(workspace, exact, head if remarks or len(exact) > 1 else [])


def _as_name(said: str) -> str:
    """A name without what people write around it: `class Dog`, `zoo::Dog`, `Dog()`."""
    bare = _dotted(said.strip(" `'\""))
    before = SAID_BEFORE.match(bare)
    return bare[before.end() :] if before else bare


def _dotted(said: str) -> str:
    """A name with dots between its parts, and no parentheses behind it."""
    return re.sub(rf"::|{JOINING_HASH}", ".", said).strip(".").removesuffix("()")


def _under_its_longest(name: str, found: Found) -> tuple[Sequence[Definition], str]:
    """The definitions under the longest ending that has any, and that: `pkg.Class.method`, `Class.method`, …"""
    endings = [".".join(name.split(".")[start:]) for start in range(name.count(".") + 1)]
    return next((named, ending) for ending in endings if (named := found.ending_in(ending)))


async def _shown(workspace: Workspace, found: Sequence[Definition], remarks: Sequence[str]) -> Result:
    """One definition with all that is known of it, or a line for each of several."""
    head = [Line("; ".join(remarks))] if remarks else []
    if len(found) == 1:
        return Result((*head, *await to_thread.run_sync(lambda: [*_alone(workspace, found[0])])))
    rest = [Line(f"… {len(found) - SHOWN} more: name one as Class.method")] if len(found) > SHOWN else []
    return Result((*head, *(told(one, ROW) for one in found[:SHOWN]), *rest))


def _fitting_first(said: str, found: Sequence[Definition]) -> tuple[Sequence[Definition], list[str]]:
    """Those first that share most with what was said, and a remark on it."""
    things = {Thing.of(one.path, one.symbol.line, _fields(one)): one for one in found}
    if not (likely := [things[thing] for thing in ranked(said, [*things])]):
        return found, [f"none by {said!r}"]
    first = {*likely}
    remark = [f"the likeliest by {said!r} first"] if len(found) > 1 else []
    return [*likely, *(one for one in found if one not in first)], remark


def _fields(one: Definition) -> Iterable[tuple[str, float]]:
    yield f"{one.path.rpartition('.')[0]} {one.owner}", NAME
    yield one.symbol.signature, SIGNATURE


def _alone(workspace: Workspace, one: Definition) -> Iterable[Line]:
    """One definition with what it raises and what it holds."""
    yield told(one, MAX_LINE)
    yield from _raised(one)
    yield from _members(one.path, one.symbol, symbols_of(workspace, one.path))


def _raised(one: Definition) -> Iterable[Line]:
    """All that it raises, in as few lines as hold it: who answers by lines forgets none."""
    raised = [(f"{at.line}: {at.name}", place(one.path, at.line)) for at in one.symbol.raises]
    room = MAX_LINE - len(f"{one.path}: raises")
    for row in rows(raised, f"{one.path}:", between="; ", width=room):
        yield Line(row.text.replace(": ", ": raises ", 1), row.spans)


def told(one: Definition, width: int) -> Line:
    """The line that shows a definition: its place, owner and signature."""
    symbol = one.symbol
    owner = f"{symbol.name}: " if "." in symbol.name else ""
    until = f" (to line {symbol.end})" if symbol.end > symbol.line else ""
    text = f"{one.path}:{symbol.line}: {owner}{symbol.signature}"
    return Line(shorten(text, width - len(until)) + until, (place(one.path, symbol.line),))
