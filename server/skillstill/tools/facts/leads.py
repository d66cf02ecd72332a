"""What the index holds to be likeliest for a text, for a run that hands its question on: in time, or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass
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

ROW_SECONDS = 10.0  # for reading tables and finding rows in them


@dataclass(frozen=True, slots=True)
class Located:
    """The likeliest places for a text as `locate` shows them, what they say, and what is not there.

    `extracts` are the likeliest first. `beyond` is how likely no file tells what it asks for.
    """

    shown: Result
    extracts: Sequence[ExtractiveAnswer]
    absence: Absence | None
    beyond: float


async def locate_within(
    seconds: float, workspace: Workspace, readers: tuple[str, ...], text: str, lines_of: LinesOf
) -> Located | None:
    """Return the likeliest places for a text; None if reading what changed in the folder takes longer than that.

    `readers` are those of the skill, or none for all. `lines_of` reads a file of the folder by its path. Raise
    SkillstillError and Refusal.
    """
    references = (*(readers or BUNDLED.values()), WORDS)
    with anyio.move_on_after(seconds):
        paths = await visible_files(workspace)
        # A thread that waits for somebody else's reading is left behind; its own ends with its time.
        if await to_thread.run_sync(_is_fresh, workspace.root, references, paths, seconds, abandon_on_cancel=True):
            asked = text[:PROMPT_CHARACTERS]
            shown, extracts, unknown = await to_thread.run_sync(_asked, workspace, references, paths, asked, lines_of)
            absence = await find_absence(workspace, paths, asked, unknown)
            return Located(shown, extracts, absence, chance_beyond(asked))
    return None


def _asked(
    workspace: Workspace, references: tuple[str, ...], paths: Sequence[str], text: str, lines_of: LinesOf
) -> tuple[Result, Sequence[ExtractiveAnswer], Sequence[UnknownWord]]:
    """Return what the index tells: the likeliest places, what they say, and which words no file has."""
    index = OPENED.get(workspace.root, references)
    places = index.locate(text)
    is_of_tables = bool(places) and places[0].is_column
    found = _from_tables(text, places, workspace, paths) if is_of_tables else _from_lines(text, places, index, lines_of)
    extracts = sorted(filter(None, found), key=lambda one: -one.chance)
    return shown_places(places), extracts, index.unknown_words(text)


def _from_lines(
    text: str, places: Sequence[Place], index: FactIndex, lines_of: LinesOf
) -> tuple[ExtractiveAnswer | None, ...]:
    """Return the log that the likeliest line is in, if that is asked for, else what the likeliest lines say."""
    lines = extract_lines(text, places, lines_of)
    return (extract_log(text, index, places, lines, lines_of) or lines,)


def _from_tables(
    text: str, places: Sequence[Place], workspace: Workspace, paths: Sequence[str]
) -> tuple[ExtractiveAnswer | None, ...]:
    """Return what tables and columns say of themselves, and what the rows say that the text names."""
    deadline = Deadline(ROW_SECONDS)
    try:
        named = find_named_rows(text, KNOWN_VALUES.of(workspace, paths, deadline), workspace, deadline)
    except Refusal:  # no time is left
        named = ()
    return extract_columns(text, places), extract_rows(text, named)


def _is_fresh(root: Path, references: tuple[str, ...], paths: Sequence[str], seconds: float) -> bool:
    """Return whether the index knows the files as they are now, once what changed has been read."""
    return not OPENED.get(root, references).refresh(paths, seconds).left
