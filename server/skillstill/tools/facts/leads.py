"""What the index holds to be likeliest for a text, for a run that hands its question on: in time, or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio import to_thread

from skillstill.facts.locate.unknown import UnknownWord
from skillstill.facts.opened import OPENED
from skillstill.facts.readers import BUNDLED, WORDS
from skillstill.tools.facts.absence import Absence, find_absence
from skillstill.tools.facts.beyond import chance_beyond
from skillstill.tools.facts.extract import ExtractiveAnswer
from skillstill.tools.facts.extract_columns import extract_columns
from skillstill.tools.facts.extract_lines import LinesOf, extract_lines
from skillstill.tools.facts.locate import shown_places
from skillstill.tools.kit.ripgrep import visible_files
from skillstill.tools.kit.tool import Result
from skillstill.types import PROMPT_CHARACTERS
from skillstill.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Located:
    """The likeliest places for a text as `locate` shows them, what they say, and what is not there.

    `beyond` is how likely no file tells what it asks for.
    """

    shown: Result
    extract: ExtractiveAnswer | None
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
            shown, extract, unknown = await to_thread.run_sync(_asked, workspace.root, references, asked, lines_of)
            absence = await find_absence(workspace, paths, asked, unknown)
            return Located(shown, extract, absence, chance_beyond(asked))
    return None


def _asked(
    root: Path, references: tuple[str, ...], text: str, lines_of: LinesOf
) -> tuple[Result, ExtractiveAnswer | None, Sequence[UnknownWord]]:
    """Return what the index tells: the likeliest places, what they say, and which words no file has."""
    index = OPENED.get(root, references)
    places = index.locate(text)
    is_of_tables = bool(places) and places[0].is_column
    extract = extract_columns(text, places) if is_of_tables else extract_lines(text, places, lines_of)
    return shown_places(places), extract, index.unknown_words(text)


def _is_fresh(root: Path, references: tuple[str, ...], paths: Sequence[str], seconds: float) -> bool:
    """Return whether the index knows the files as they are now, once what changed has been read."""
    return not OPENED.get(root, references).refresh(paths, seconds).left
