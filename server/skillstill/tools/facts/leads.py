"""What the index holds to be likeliest for a text, for a run that hands its question on: in time, or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from anyio import to_thread

from skillstill.errors import Refusal
from skillstill.facts.index import FactIndex
from skillstill.facts.locate.places import Place
from skillstill.facts.locate.unknown import UnknownWord
from skillstill.facts.opened import OPENED
from skillstill.facts.readers import BUNDLED, WORDS
from skillstill.tools.facts.absence import Absence, find_absence
from skillstill.tools.facts.beyond import chance_beyond
from skillstill.tools.facts.extract import ExtractiveAnswer
from skillstill.tools.facts.extract_columns import extract_columns
from skillstill.tools.facts.extract_lines import LinesOf, extract_lines
from skillstill.tools.facts.extract_logs import extract_log
from skillstill.tools.facts.extract_rows import extract_rows
from skillstill.tools.facts.locate import shown_places
from skillstill.tools.kit.ripgrep import visible_files
from skillstill.tools.kit.tool import Result
from skillstill.tools.tables.database import Deadline
from skillstill.tools.tables.known_values import KNOWN_VALUES
from skillstill.tools.tables.named_rows import find_named_rows
from skillstill.types import PROMPT_CHARACTERS
from skillstill.workspace import Workspace

ROW_SECONDS = 6.0  # for reading tables and finding rows in them


@dataclass(frozen=True, slots=True)
class Located:
    """The likeliest places for a text as `locate` shows them, what they say, and what is not there.

    `extracts` are the likeliest first. `beyond` is how likely no file tells what it asks for.
    """

    shown: Result
    extracts: Sequence[ExtractiveAnswer]
    absence: Absence | None
    beyond: float
    is_of_tables: bool


async def locate_within(
    seconds: float, workspace: Workspace, readers: tuple[str, ...], text: str, lines_of: LinesOf
) -> Located | None:
    """Return the likeliest places for a text; None if reading what changed in the folder takes longer than that.

    Tables are read for some seconds more if the places are some of them. `readers` are those of the skill, or none for
    all. `lines_of` reads a file of the folder by its path. Raise SkillstillError and Refusal.
    """
    references = (*(readers or BUNDLED.values()), WORDS)
    asked, located = text[:PROMPT_CHARACTERS], None
    with anyio.move_on_after(seconds):
        paths = await visible_files(workspace)
        # A thread that waits for somebody else's reading is left behind; its own ends with its time.
        if await to_thread.run_sync(_is_fresh, workspace.root, references, paths, seconds, abandon_on_cancel=True):
            located = await _located(workspace, references, paths, asked, lines_of)
    if located is None or not located.is_of_tables:
        return located
    rows = await to_thread.run_sync(_rows_named_in, asked, workspace, paths)
    return replace(located, extracts=_likeliest_first([*located.extracts, rows]))


async def _located(
    workspace: Workspace, references: tuple[str, ...], paths: Sequence[str], text: str, lines_of: LinesOf
) -> Located:
    index = OPENED.get(workspace.root, references)
    places, extract, unknown = await to_thread.run_sync(_asked, index, text, lines_of)
    absence = await find_absence(workspace, paths, text, unknown)
    return Located(
        shown_places(places), _likeliest_first([extract]), absence, chance_beyond(text), _are_columns(places)
    )


def _asked(
    index: FactIndex, text: str, lines_of: LinesOf
) -> tuple[Sequence[Place], ExtractiveAnswer | None, Sequence[UnknownWord]]:
    """Return what the index tells: the likeliest places, what they say, and which words no file has.

    A log that is asked for as a whole is told in place of lines.
    """
    places = index.locate(text)
    if _are_columns(places):
        found = extract_columns(text, places)
    else:
        lines = extract_lines(text, places, lines_of)
        found = extract_log(text, index, places, lines, lines_of) or lines
    return places, found, index.unknown_words(text)


def _are_columns(places: Sequence[Place]) -> bool:
    return bool(places) and places[0].is_column


def _likeliest_first(extracts: Sequence[ExtractiveAnswer | None]) -> Sequence[ExtractiveAnswer]:
    return sorted(filter(None, extracts), key=lambda one: -one.chance)


def _rows_named_in(text: str, workspace: Workspace, paths: Sequence[str]) -> ExtractiveAnswer | None:
    """Return what the rows say that a text names; None if there are none, or no time is left to find them."""
    deadline = Deadline(ROW_SECONDS)
    try:
        values = KNOWN_VALUES.of(workspace, paths, deadline)
        return extract_rows(text, find_named_rows(text, values, workspace, deadline))
    except Refusal:
        return None


def _is_fresh(root: Path, references: tuple[str, ...], paths: Sequence[str], seconds: float) -> bool:
    """Return whether the index knows the files as they are now, once what changed has been read."""
    return not OPENED.get(root, references).refresh(paths, seconds).left
