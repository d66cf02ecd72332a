"""The tool that shows symbols: of one file, or wherever a name is defined: as it stands, else in any spelling."""

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from anyio import to_thread
from pydantic import Field

from skillstill.errors import Refusal
from skillstill.symbols import SUFFIXES, Symbol, language_of, symbols
from skillstill.text import shorten
from skillstill.tools.files import settle, text_lines
from skillstill.tools.listing import place, rows
from skillstill.tools.ripgrep import files_with_spelling, files_with_word
from skillstill.tools.sources import symbols_of
from skillstill.tools.tool import MAX_LINE, ROW, Line, Result, fitting
from skillstill.types import Copied, Span
from skillstill.workspace import Workspace

ROOM = 700  # characters that a file's outline aims at; a longer one is told in less detail
NAMES = 40  # symbols of a file that are told by their names only
PARSED = 300  # files that are parsed for one name
SHOWN = 6  # definitions of one name
SAID_BEFORE = re.compile(r"(?:class|def|fn|func|function|interface|method|struct|trait|type) +(?=\S)")
NAME = re.compile(r"\S+(?: \S+){0,7}")  # in words too, as people say it: `retry back off`


@dataclass(frozen=True, slots=True)
class Definition:
    path: str
    symbol: Symbol

    @property
    def name(self) -> str:
        """Its whole name, the file's path taken for that of a module: `shop.cart.Cart.add`."""
        return f"{self.path.rpartition('.')[0].replace('/', '.')}.{self.symbol.name}".replace(".__init__.", ".", 1)


@dataclass(frozen=True, slots=True)
class Spelling:
    """Names are the `same` where this makes the same of both; `files` are those in which one can stand."""

    remark: str
    same: Callable[[str], str]
    files: Callable[[Workspace, str], Awaitable[list[str]]]


def _letters(name: str) -> str:
    """What is left of a name however it is joined: `HTTPServer.get_item` is httpserver.getitem."""
    return re.sub(r"[\s_-]", "", name).casefold()


async def _with_letters(workspace: Workspace, word: str) -> list[str]:
    return await files_with_spelling(workspace, _letters(word)) if _letters(word) else []


SPELLINGS = (
    Spelling("", str, partial(files_with_word, case="--case-sensitive")),
    Spelling("in other case", str.casefold, partial(files_with_word, case="--ignore-case")),
    Spelling("in another spelling", _letters, _with_letters),
)


async def outline(
    workspace: Workspace,
    target: Annotated[
        str, Field(min_length=1, max_length=160, description="a file, or a name like `Class.method`"), Copied()
    ],
) -> Result:
    """Show the symbols of a source file, or where a name is defined: signature, bases, raised exceptions."""
    if _is_path(target):
        path = await settle(workspace, target)
        return await to_thread.run_sync(_of_file, workspace, path)
    name = re.sub(r"::|#", ".", target).strip(".").removesuffix("()")
    if not NAME.fullmatch(name):
        raise Refusal(f"{target!r} is neither a file nor a name: give a name such as Class.method, or use search")
    return await _of_name(workspace, name, target)


def _is_path(target: str) -> bool:
    return "/" in target or language_of(target) is not None


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
    yield from rows([(f"{_last(one.name)}:{one.line}", place(path, one.line)) for one in found[:NAMES]], indent)
    if rest := found[NAMES:]:
        yield Line(f"{indent}… {len(rest)} more from line {rest[0].line} on: use search with this path")


async def _of_name(workspace: Workspace, name: str, target: str) -> Result:
    word = _last(name)
    for spelling in SPELLINGS:
        files = await spelling.files(workspace, word)
        sources = [path for path in files if language_of(path)]
        named = await to_thread.run_sync(_definitions, workspace, sources[:PARSED], word, spelling.same)
        if named:
            return await to_thread.run_sync(_told, workspace, name, named, spelling)
    if before := SAID_BEFORE.match(name):
        return await _of_name(workspace, name[before.end() :], target)
    if target in {path.name for path in workspace.root.iterdir()}:
        return await to_thread.run_sync(_of_file, workspace, target)
    where = f" in the first {PARSED} of {len(sources)} files with the word" if len(sources) > PARSED else ""
    occurs = f"; the word stands in {len(files)} files: use search" if files else ""
    return Result((Line(f"no definition of {name!r} in any spelling{where}{occurs}"),))


def _definitions(workspace: Workspace, paths: Sequence[str], word: str, same: Callable[[str], str]) -> list[Definition]:
    return [
        Definition(path, symbol)
        for path in paths
        for symbol in symbols_of(workspace, path)
        if same(_last(symbol.name)) == same(word)
    ]


def _told(workspace: Workspace, name: str, named: Sequence[Definition], spelling: Spelling) -> Result:
    """The definitions under the longest ending of the name that has any: `pkg.Class.method`, `Class.method`, …"""
    endings = [".".join(name.split(".")[start:]) for start in range(name.count(".") + 1)]
    exact, ending = next((found, ending) for ending in endings if (found := _ending_in(ending, named, spelling.same)))
    remarks = [spelling.remark] if spelling.remark else []
    if "." in name and "." not in ending:
        remarks.append(f"none of them is {name!r}")
    head = "; ".join([f"{len(exact)} definitions of {ending!r}", *remarks])
    if len(exact) == 1:
        return Result((*([Line(head)] if remarks else []), *_alone(workspace, exact[0])))
    rest = [Line(f"… {len(exact) - SHOWN} more: name one as Class.method")] if len(exact) > SHOWN else []
    return Result((Line(head), *(told(one, ROW) for one in exact[:SHOWN]), *rest))


def _ending_in(ending: str, named: Sequence[Definition], same: Callable[[str], str]) -> list[Definition]:
    return [one for one in named if ("." + same(one.name)).endswith("." + same(ending))]


def _alone(workspace: Workspace, one: Definition) -> Iterable[Line]:
    """One definition with what it raises and what it holds."""
    yield told(one, MAX_LINE)
    for raised in one.symbol.raises:
        yield Line(f"{one.path}:{raised.line}: raises {raised.name}", (place(one.path, raised.line),))
    yield from _members(one.path, one.symbol, symbols_of(workspace, one.path))


def told(one: Definition, width: int) -> Line:
    """The line that shows a definition: its place, owner and signature."""
    symbol = one.symbol
    owner = f"{symbol.name}: " if "." in symbol.name else ""
    until = f" (to line {symbol.end})" if symbol.end > symbol.line else ""
    text = f"{one.path}:{symbol.line}: {owner}{symbol.signature}"
    return Line(shorten(text, width - len(until)) + until, (place(one.path, symbol.line),))


def _last(name: str) -> str:
    return name.rpartition(".")[2]
