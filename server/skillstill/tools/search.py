"""The tool that searches text: definitions first, then the other hits by path and line."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Annotated

from anyio import to_thread
from pydantic import Field

from skillstill.errors import Refusal
from skillstill.symbols import language_of, symbols
from skillstill.text import one_line
from skillstill.tools.files import FilePath
from skillstill.tools.listing import left_out, place
from skillstill.tools.ripgrep import Hit, Hits, matching_lines
from skillstill.tools.tool import Line, Result
from skillstill.workspace import Workspace

SHOWN = 8  # hits
WIDTH = 100  # characters of a hit's text
PARSED = 60  # files that are parsed to tell definitions from other hits


async def search(
    workspace: Workspace,
    pattern: Annotated[str, Field(min_length=1, max_length=120, description="text or regular expression")],
    path: FilePath = ".",
) -> Result:
    """Search file contents. Shows definitions of the name first, then other lines, each as `path:line: text`."""
    under = workspace.relative(workspace.resolve(path))
    hits, remark = await _widening(workspace, pattern, under)
    if not hits.found:
        return Result((Line(f"no hits for {pattern!r}{'' if under == '.' else f' in {under}'}, in any case"),))
    defined = await to_thread.run_sync(_definitions, workspace, pattern, hits.found)
    others = [hit for hit in hits.found if hit not in defined]
    more = "" if hits.complete else "more than "
    total = f"{more}{len(hits.found)} hits in {len({hit.path for hit in hits.found})} files{remark}"
    kind = "a definition" if len(defined) == 1 else f"{len(defined)} definitions"
    head = f"{total}; {kind} first" if defined else total
    ordered = [*defined, *others]
    return Result((Line(head), *map(_row, ordered[:SHOWN]), *left_out([hit.path for hit in ordered[SHOWN:]])))


async def _widening(workspace: Workspace, pattern: str, under: str) -> tuple[Hits, str]:
    """The hits of the first reading of the pattern that has any, and a remark on that reading."""
    try:
        exact, literal = await matching_lines(workspace, pattern, under, "--case-sensitive"), False
    except Refusal:
        literal = True
        exact = await matching_lines(workspace, pattern, under, "--case-sensitive", literal=True)
    remark = " (taken literally)" if literal else ""
    if exact.found:
        return exact, remark
    loose = await matching_lines(workspace, pattern, under, "--ignore-case", literal=literal)
    return loose, f" (none in this case; in other case){remark}"


def _definitions(workspace: Workspace, pattern: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits on whose line a symbol begins that the pattern names as a whole word."""
    words = set(re.findall(r"\w+", pattern.casefold()))
    files = dict.fromkeys(hit.path for hit in hits if language_of(hit.path))
    places = {
        (path, symbol.line)
        for path in islice(files, PARSED)
        for symbol in symbols(_bytes(workspace, path), language_of(path) or "")
        if symbol.name.rpartition(".")[2].casefold() in words
    }
    return [hit for hit in hits if (hit.path, hit.line) in places]


def _bytes(workspace: Workspace, path: str) -> bytes:
    try:
        return workspace.read(path)
    except Refusal:
        return b""


def _row(hit: Hit) -> Line:
    text = f"{hit.path}:{hit.line}: {one_line(hit.text, WIDTH)}"
    return Line(text, (place(hit.path, hit.line),))
