"""The tool `likeliest`: the likeliest places for a question in short, and its words that stand nowhere."""

import re
from collections.abc import Iterator, Sequence

from anyio import to_thread

from skillstill.facts.index import FactIndex
from skillstill.facts.locate.places import Place
from skillstill.tools.kit.indexing import fresh_index
from skillstill.tools.kit.tool import Line, Result, Tool, tool
from skillstill.types import QuestionText
from skillstill.util.text import shorten
from skillstill.workspace import Workspace

PLACES = 3  # that are shown: each costs tokens of every run
LOOKED = 10  # that are looked at for three of different kinds
WIDTH = 120  # characters of one
UNKNOWN = 6


def likeliest_tool(references: tuple[str, ...]) -> Tool:
    """Return the tool over what these readers find."""

    async def likeliest(
        workspace: Workspace,
        text: QuestionText,
    ) -> Result:
        """Show the three likeliest lines for a text, how often there are such, and which words no file has."""
        index = await fresh_index(workspace, references)
        return await to_thread.run_sync(_likeliest, index, text)

    return tool(likeliest)


def _likeliest(index: FactIndex, text: str) -> Result:
    places = _unlike([place for place in index.locate(text, LOOKED) if place.line])
    lines = (*map(_line, places[:PLACES]), *_unknown(index, text))
    return Result(lines or (Line("no file has a word of it"),), guess=True, is_folded=True)


def _unlike(places: Sequence[Place]) -> Sequence[Place]:
    """Return the first place of each kind: those that differ in numbers alone are of one."""
    first: dict[str, Place] = {}
    for place in places:
        first.setdefault(re.sub(r"[0-9a-f]*\d[0-9a-f]*", "", place.text), place)
    return [*first.values()]


def _line(place: Place) -> Line:
    times = f" ({place.alike.times} times)" if place.alike.times > 1 else ""
    return Line.at(place.path, place.line, f"{shorten(place.text, WIDTH)}{times}")


def _unknown(index: FactIndex, text: str) -> Iterator[Line]:
    if words := [word.text for word in index.unknown_words(text)][:UNKNOWN]:
        yield Line(f"in no file: {', '.join(words)}")
