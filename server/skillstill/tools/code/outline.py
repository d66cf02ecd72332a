"""The tool that shows the symbols of a file, or where a name is defined: as it is written, else in any spelling."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated

from anyio import to_thread
from pydantic import Field

from skillstill.errors import Refusal
from skillstill.symbols import SUFFIXES, Symbol, is_unparsed, language_of, symbols
from skillstill.tools.code.definitions import (
    PARSED,
    CodeDefinition,
    NameLookup,
    basename,
    find_definitions,
    fold_name,
    symbols_of,
)
from skillstill.tools.code.files import resolve_fuzzy
from skillstill.tools.code.inheritance import inherited_definitions
from skillstill.tools.code.ranking import NAME, SIGNATURE, RankedText, rank
from skillstill.tools.kit.listing import place, rows
from skillstill.tools.kit.redaction import text_lines
from skillstill.tools.kit.ripgrep import nothing_to_look_in
from skillstill.tools.kit.tool import MAX_LINE, ROW, Line, Result, fitting
from skillstill.types import Copied, Span
from skillstill.util.text import shorten
from skillstill.workspace import Workspace

ROOM = 700  # characters that a file's outline aims at; a longer one has less detail
NAMES = 40  # symbols of a file that are shown by their names only
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
    if path := await _file_of_target(workspace, target):
        return await to_thread.run_sync(_outline_file, workspace, path)
    name = _dotted_name(target)
    if not A_NAME.fullmatch(name):
        raise Refusal(f"{target!r} is neither a file nor a name: give a name such as Class.method, or use search")
    return await _outline_name(workspace, name, of.strip(), target)


async def _file_of_target(workspace: Workspace, target: str) -> str | None:
    """Return the file that the target names, or None if it names a symbol, as `Client.go` does. Raise Refusal."""
    if "/" not in target and language_of(target) is None:
        return None
    try:
        return await resolve_fuzzy(workspace, target)
    except Refusal:
        if "/" in target or not (await find_definitions(workspace, basename(target))).with_ending(target):
            raise
    return None


def _outline_file(workspace: Workspace, path: str) -> Result:
    real = workspace.resolve(path)
    name, language = workspace.relative(real), language_of(real.name)
    if real.is_dir():
        raise Refusal(f"{path!r} is a folder: use list")
    if language is None:
        raise Refusal(f"no outline for {name}: only for {' '.join(SUFFIXES)}; use read")
    data = workspace.read(path)
    file_symbols = symbols(data, language)
    body, remark = _symbol_lines(name, file_symbols)
    head = f"{name}: {len(text_lines(data))} lines, {len(file_symbols)} symbols{remark}"
    return Result((Line(head, (Span(path=name),)), *body))


def _symbol_lines(path: str, file_symbols: Sequence[Symbol]) -> tuple[Sequence[Line], str]:
    """Return the symbols in as much detail as there is room for, and a remark on the detail."""
    for detail, remark in ((_full_lines, ""), (_members_by_name, "; members by name")):
        lines = [*detail(path, file_symbols)]
        if len(fitting(lines, ROOM)) == len(lines):
            return lines, remark
    return [*_name_rows(path, _outermost(file_symbols))], "; outermost names, outline one for more"


def _full_lines(path: str, file_symbols: Sequence[Symbol]) -> Iterable[Line]:
    for symbol in file_symbols:
        indent = "  " * symbol.name.count(".")
        yield Line(shorten(f"{symbol.line}: {indent}{symbol.signature}", ROW), (place(path, symbol.line),))
        for raised in symbol.raises:
            yield Line(f"{raised.line}: {indent}  raises {raised.name}", (place(path, raised.line),))


def _members_by_name(path: str, file_symbols: Sequence[Symbol]) -> Iterable[Line]:
    for symbol in _outermost(file_symbols):
        yield Line(shorten(f"{symbol.line}: {symbol.signature}", ROW), (place(path, symbol.line),))
        yield from _member_rows(path, symbol, file_symbols)


def _outermost(file_symbols: Sequence[Symbol]) -> Sequence[Symbol]:
    return [symbol for symbol in file_symbols if "." not in symbol.name]


def _member_rows(path: str, symbol: Symbol, file_symbols: Sequence[Symbol]) -> Iterable[Line]:
    """Return the names of the symbols inside a symbol, with their lines, several to a row."""
    inside = [member for member in file_symbols if member.name.rpartition(".")[0] == symbol.name]
    return _name_rows(path, inside, indent="  ")


def _name_rows(path: str, file_symbols: Sequence[Symbol], indent: str = "") -> Iterable[Line]:
    shown = [(f"{basename(symbol.name)}:{symbol.line}", place(path, symbol.line)) for symbol in file_symbols[:NAMES]]
    yield from rows(shown, indent)
    if rest := file_symbols[NAMES:]:
        yield Line(
            f"{indent}… {len(rest)} more from line {rest[0].line} on: use search with this path", omits=len(rest)
        )


async def _outline_name(workspace: Workspace, name: str, of: str, target: str) -> Result:
    lookup = await find_definitions(workspace, basename(name))
    if lookup.definitions:
        return await _outline_definitions(workspace, name, of, lookup)
    if before := SAID_BEFORE.match(name):
        return await _outline_name(workspace, name[before.end() :], of, target)
    if target in {path.name for path in workspace.root.iterdir()}:
        return await to_thread.run_sync(_outline_file, workspace, target)
    where = " in any spelling" if lookup.is_complete else f" in {PARSED} of {lookup.sources} files with the word"
    occurs = f"; the word stands in {len(lookup.files)} files: use search" if lookup.files else ""
    text = f"no definition of {name!r}{where}{occurs}"
    missed = _why_unproven(lookup) or await nothing_to_look_in(workspace)
    return Result((Line(text),), missed=missed, empty=True)


def _why_unproven(lookup: NameLookup) -> str:
    """Return where the word stands though nothing defines it, or "" if it stands nowhere."""
    if foreign := [path for path in lookup.files if is_unparsed(path)]:
        return f"the word stands in {foreign[0]}, whose language is not parsed here"
    if not lookup.is_complete:
        return f"only {PARSED} of {lookup.sources} files with the word were parsed"
    if not lookup.files:
        return ""
    others = f" and {len(lookup.files) - 1} more" if len(lookup.files) > 1 else ""
    return f"the word stands in {lookup.files[0]}{others}"


async def _outline_definitions(workspace: Workspace, name: str, of: str, lookup: NameLookup) -> Result:
    """Return the definitions of a name: those of its class if one is named, else those of its longest known ending."""
    exact, ending = _longest_match(name, lookup)
    lost = "" if "." in ending else name.rpartition(".")[0]
    remarks = [lookup.spelling.remark] if lookup.spelling.remark else []
    owner = _bare_name(of) or lost
    if owner and (inside := await inherited_definitions(workspace, owner, exact)):
        above = inside[0].owner
        own = fold_name(basename(owner)) == fold_name(basename(above))
        return await _definitions_result(
            workspace, inside, [*remarks, *([] if own else [f"{owner} has {ending} from {above}"])]
        )
    remarks += [f"none of them is {name!r}"] if lost else []
    if of:
        exact, by = await to_thread.run_sync(_rank_by_description, of, exact)
        remarks += by
    head = [f"{len(exact)} definitions of {ending!r}", *remarks]
    return await _definitions_result(workspace, exact, head if remarks or len(exact) > 1 else [])


def _bare_name(said: str) -> str:
    """Return a name without what people write around it: `class Dog`, `zoo::Dog`, `Dog()`."""
    bare = _dotted_name(said.strip(" `'\""))
    before = SAID_BEFORE.match(bare)
    return bare[before.end() :] if before else bare


def _dotted_name(said: str) -> str:
    """Return a name with dots between its parts, and without parentheses behind it."""
    return re.sub(rf"::|{JOINING_HASH}", ".", said).strip(".").removesuffix("()")


def _longest_match(name: str, lookup: NameLookup) -> tuple[Sequence[CodeDefinition], str]:
    """Return the definitions of the longest ending that has any, and the ending: `a.Class.method`, `Class.method`, …"""
    endings = [".".join(name.split(".")[start:]) for start in range(name.count(".") + 1)]
    return next((named, ending) for ending in endings if (named := lookup.with_ending(ending)))


async def _definitions_result(
    workspace: Workspace, definitions: Sequence[CodeDefinition], remarks: Sequence[str]
) -> Result:
    """Return one definition in full, or a line for each of several."""
    head = [Line("; ".join(remarks))] if remarks else []
    if len(definitions) == 1:
        return Result((*head, *await to_thread.run_sync(lambda: [*_definition_in_full(workspace, definitions[0])])))
    shown, rest = definitions[:SHOWN], len(definitions[SHOWN:])
    more = [Line(f"… {rest} more: name one as Class.method", omits=rest)] if rest else []
    return Result((*head, *(definition_line(definition, ROW) for definition in shown), *more))


def _rank_by_description(
    said: str, definitions: Sequence[CodeDefinition]
) -> tuple[Sequence[CodeDefinition], list[str]]:
    """Return the definitions with the likeliest by a description first, and a remark on it."""
    by_text = {RankedText.of(each.path, each.symbol.line, _weighted_texts(each)): each for each in definitions}
    if not (likely := [by_text[text] for text in rank(said, [*by_text])]):
        return definitions, [f"none by {said!r}"]
    first = {*likely}
    remark = [f"the likeliest by {said!r} first"] if len(definitions) > 1 else []
    return [*likely, *(other for other in definitions if other not in first)], remark


def _weighted_texts(definition: CodeDefinition) -> Iterable[tuple[str, float]]:
    yield f"{definition.path.rpartition('.')[0]} {definition.owner}", NAME
    yield definition.symbol.signature, SIGNATURE


def _definition_in_full(workspace: Workspace, definition: CodeDefinition) -> Iterable[Line]:
    """Return one definition with what it raises and the names of its members."""
    yield definition_line(definition, MAX_LINE)
    yield from _raise_rows(definition)
    yield from _member_rows(definition.path, definition.symbol, symbols_of(workspace, definition.path))


def _raise_rows(definition: CodeDefinition) -> Iterable[Line]:
    """Return all that a definition raises in as few lines as hold it, so that an answer by lines forgets none."""
    path = definition.path
    raised = [(f"{at.line}: {at.name}", place(path, at.line)) for at in definition.symbol.raises]
    for row in rows(raised, f"{path}:", between="; ", width=MAX_LINE - len(f"{path}: raises")):
        yield Line(row.text.replace(": ", ": raises ", 1), row.spans, place=row.spans[0])


def definition_line(definition: CodeDefinition, width: int) -> Line:
    """Return the line that shows a definition: its place, owner and signature."""
    symbol = definition.symbol
    owner = f"{symbol.name}: " if "." in symbol.name else ""
    until = f" (to line {symbol.end})" if symbol.end > symbol.line else ""
    line = Line.at(definition.path, symbol.line, f"{owner}{symbol.signature}")
    return replace(line, text=shorten(line.text, width - len(until)) + until)
