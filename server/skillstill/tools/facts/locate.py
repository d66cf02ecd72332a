"""The tool `locate`: the likeliest places of a workspace for any text, without a model."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated

from anyio import to_thread
from pydantic import Field

from skillstill.facts.index import FactIndex
from skillstill.facts.locate.places import Place
from skillstill.tools.kit.indexing import fresh_index
from skillstill.tools.kit.tool import Line, Result, Tool, tool
from skillstill.types import PROMPT_CHARACTERS, Copied, Span
from skillstill.util.text import one_line
from skillstill.workspace import Workspace

WIDTH = 120  # characters of the line that is shown


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
        """Show the five likeliest places for a text: what it names, defines or describes. Tests and documents follow
        unless it asks for them."""
        index = await fresh_index(workspace, references)
        return await to_thread.run_sync(_located, workspace, index, text)

    return tool(locate)


def _located(workspace: Workspace, index: FactIndex, text: str) -> Result:
    found = index.locate(text)
    if not found:
        return Result((Line("no file has a word of it"),), empty=True)
    return Result((Line("likeliest places:"), *_lines(workspace, found)))


def _lines(workspace: Workspace, found: Sequence[Place]) -> Iterator[Line]:
    for place in found:
        name = f"{place.name}: " if place.name else ""
        shown = Line.at(place.path, place.line, name + _source_line(workspace, place))
        yield replace(shown, spans=(Span(path=place.path, first=place.line, last=place.last),))


def _source_line(workspace: Workspace, place: Place) -> str:
    lines = workspace.read(place.path).decode("utf-8", "replace").split("\n")
    return one_line(lines[place.line - 1], WIDTH) if place.line <= len(lines) else ""
