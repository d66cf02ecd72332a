"""The tool `locate`: the likeliest places of a workspace for any text, without a model."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated

from anyio import to_thread
from pydantic import Field

from skillstill.facts.index import LIKELIEST, FactIndex
from skillstill.facts.locate.places import Place
from skillstill.tools.kit.indexing import fresh_index
from skillstill.tools.kit.tool import Line, Result, Tool, tool
from skillstill.types import PROMPT_CHARACTERS, Copied, Span
from skillstill.workspace import Workspace


def locate_tool(references: tuple[str, ...]) -> Tool:
    """Return the tool over the files and definitions that these readers know."""

    async def locate(
        workspace: Workspace,
        text: Annotated[
            str,
            Field(min_length=1, max_length=PROMPT_CHARACTERS, description="a question, issue, traceback, description"),
            Copied(),
        ],
    ) -> Result:
        """Show the five likeliest places for a text: what it names, defines or describes, values and settings, entries
        of logs, tables and columns. Tests and documents follow unless it asks for them."""
        index = await fresh_index(workspace, references)
        return await to_thread.run_sync(located, index, text)

    return tool(locate)


def located(index: FactIndex, text: str, count: int = LIKELIEST) -> Result:
    """Return the likeliest places for a text as lines, at most so many."""
    return shown_places(index.locate(text, count))


def shown_places(found: Sequence[Place]) -> Result:
    """Return places as lines."""
    if not found:
        return Result((Line("no file has a word of it"),), empty=True, guess=True)
    lines = (line for place in found for line in _lines(place))
    return Result((Line("likeliest places:"), *lines), guess=True, is_folded=True)


def _lines(place: Place) -> Iterator[Line]:
    """Yield the line of a place, then others of it that may hold what is asked for."""
    said = f"{place.name}: {place.text}" if place.name else place.text
    text = f"{said} ({place.alike.times} times)" if place.alike.times > 1 else said
    span = Span(path=place.path, first=place.first, last=place.last)
    if not place.line:
        yield Line(f"{place.path}:{text}", (span,))
        return
    yield replace(Line.at(place.path, place.line, text), spans=(span,))
    yield from (Line.at(place.path, line, other) for line, other in place.more)
