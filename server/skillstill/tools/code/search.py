"""The tool that searches text: definitions first, then the other hits by path and line."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated

from anyio import to_thread
from pydantic import Field

from skillstill.errors import Refusal
from skillstill.symbols import language_of
from skillstill.tools.code.callees import DEFINED
from skillstill.tools.code.definitions import symbols_of
from skillstill.tools.code.descriptions import is_description, search_by_description
from skillstill.tools.code.files import FilePath, resolve_fuzzy
from skillstill.tools.kit.listing import left_out
from skillstill.tools.kit.pattern_variants import NOT_READ, lacking, readings
from skillstill.tools.kit.redaction import BODY, redact, text_lines
from skillstill.tools.kit.ripgrep import BadPattern, Case, Hit, Hits, matching_lines, nothing_to_look_in, visible_files
from skillstill.tools.kit.tool import Line, Result
from skillstill.util.text import one_line
from skillstill.workspace import Workspace

SHOWN = 5  # hits
WIDTH = 80  # characters of a hit's text
LEAD = 30  # of them that stand before a match that lies too far right
PARSED = 100  # files that are parsed to tell definitions from other hits


async def search(
    workspace: Workspace,
    pattern: Annotated[
        str, Field(min_length=1, max_length=200, description="text, regular expression, or what a function does")
    ],
    path: FilePath = ".",
) -> Result:
    """Search file contents. Shows definitions first, then other lines; for words found nowhere, likely definitions."""
    if "\n" in pattern:
        raise Refusal("a pattern has no line break: search for the most telling of its lines")
    under = workspace.resolve(await resolve_fuzzy(workspace, path))
    name = workspace.relative(under)
    hits, case, remark = await _first_hits(workspace, pattern, under)
    if not hits.found and is_description(pattern):
        files = [name] if under.is_file() else await visible_files(workspace, name)
        return await to_thread.run_sync(search_by_description, workspace, files, pattern)
    if not hits.found:
        text = f"no hits for {pattern!r}{'' if name == '.' else f' in {name}'}, in any case{remark}"
        return Result((Line(text),), NOT_READ if remark else await nothing_to_look_in(workspace), empty=True)
    defined = await to_thread.run_sync(_definition_hits, workspace, pattern, hits.found, case)
    first = set(defined)
    others = [hit for hit in hits.found if hit not in first]
    more = "" if hits.complete else "more than "
    total = f"{more}{len(hits.found)} hits in {len({hit.path for hit in hits.found})} files{remark}"
    kind = "a definition" if len(defined) == 1 else f"{len(defined)} definitions"
    head = f"{total}; {kind} first" if defined else total
    ordered = [*defined, *others]
    return Result(
        (
            Line(head),
            *await to_thread.run_sync(_lines, workspace, ordered[:SHOWN]),
            *left_out([hit.path for hit in ordered[SHOWN:]]),
        )
    )


async def _first_hits(workspace: Workspace, pattern: str, under: Path) -> tuple[Hits, Case, str]:
    """Return the hits of the first reading of the pattern that has any, its case, and a remark on that reading.

    If none has any, the remark is on what could not be read.
    """
    visible = await _visible_below(workspace, under)
    unread = ""
    for reading in readings(pattern):
        try:
            hits = await matching_lines(workspace, reading.pattern, under, reading.case, literal=reading.literal)
        except BadPattern as error:
            unread = lacking(error)
            continue
        if shown := tuple(hit for hit in hits.found if visible is None or hit.path in visible):
            return Hits(shown, hits.complete), reading.case, reading.remark
    return Hits(()), "--ignore-case", unread


async def _visible_below(workspace: Workspace, under: Path) -> frozenset[str] | None:
    """Return the visible files of a folder, or None if ripgrep knows them by itself. Raise Refusal if there is none.

    The ignore files of the folders above it count too, and ripgrep reads those only from the root on.
    """
    if under == workspace.root or not under.is_dir():
        return None
    name = workspace.relative(under)
    if files := await visible_files(workspace, name):
        return frozenset(files)
    raise Refusal(f"{name} holds no files but ignored ones: search another folder")


def _definition_hits(workspace: Workspace, pattern: str, hits: Sequence[Hit], case: Case) -> list[Hit]:
    """Return the hits on a line where a symbol begins that the pattern names as a whole word."""
    same = str if case == "--case-sensitive" else str.casefold
    words = {same(word) for word in re.findall(r"\w+", re.sub(r"\\[a-zA-Z]", " ", pattern))}
    sources = (hit for hit in hits if language_of(hit.path))
    telling = [hit for hit in sources if not words.isdisjoint(re.findall(r"\w+", same(hit.text)))]
    likely = sorted(telling, key=lambda hit: not _looks_like_a_definition(hit.text))  # if too many are to be parsed
    places = {
        (path, symbol.line)
        for path in islice(dict.fromkeys(hit.path for hit in likely), PARSED)
        for symbol in symbols_of(workspace, path)
        if same(symbol.name.rpartition(".")[2]) in words
    }
    return [hit for hit in telling if (hit.path, hit.line) in places]


def _looks_like_a_definition(text: str) -> bool:
    return DEFINED.match(text) is not None or text.rstrip().endswith("{")


def _lines(workspace: Workspace, hits: Sequence[Hit]) -> list[Line]:
    """Return a line for each hit: its place and its text, keys redacted."""
    return [Line.at(hit.path, hit.line, one_line(_text_from_match(_redact(workspace, hit)), WIDTH)) for hit in hits]


def _redact(workspace: Workspace, hit: Hit) -> Hit:
    """Return the hit with its keys redacted. Only the lines above tell whether a line belongs to a private key."""
    text = redact(hit.text)
    if BODY.match(text):
        with suppress(Refusal, IndexError):  # a file of more than is read, or that has just changed
            text = text_lines(workspace.read(hit.path))[hit.line - 1]
    return hit if text == hit.text else replace(hit, text=text, column=0)


def _text_from_match(hit: Hit) -> str:
    """Return the line, cut to begin shortly before the match if that lies too far right to be seen."""
    text = hit.text.lstrip()
    column = hit.column - (len(hit.text) - len(text))
    return "…" + text[column - LEAD :] if len(text) > WIDTH and WIDTH - LEAD <= column < len(text) else text
