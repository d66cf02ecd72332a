"""What the tool `locate` says to a text, for a run that hands its question on: in little time, or not at all."""

from collections.abc import Sequence
from pathlib import Path

import anyio
from anyio import to_thread

from skillstill.facts.opened import OPENED
from skillstill.facts.readers import BUNDLED, WORDS
from skillstill.tools.facts.locate import locate_tool
from skillstill.tools.kit.ripgrep import visible_files
from skillstill.tools.kit.tool import Result
from skillstill.types import PROMPT_CHARACTERS
from skillstill.workspace import Workspace


async def locate_within(seconds: float, workspace: Workspace, readers: tuple[str, ...], text: str) -> Result | None:
    """Return the likeliest places for a text; None if reading what changed in the folder takes longer than that.

    `readers` are those of the skill, or none for all. Raise SkillstillError and Refusal.
    """
    references = (*(readers or BUNDLED.values()), WORDS)
    with anyio.move_on_after(seconds):
        paths = await visible_files(workspace)
        # A thread that waits for somebody else's reading is left behind; its own ends with its time.
        if await to_thread.run_sync(_is_fresh, workspace.root, references, paths, seconds, abandon_on_cancel=True):
            return await locate_tool(references).call(workspace, {"text": text[:PROMPT_CHARACTERS]})
    return None


def _is_fresh(root: Path, references: tuple[str, ...], paths: Sequence[str], seconds: float) -> bool:
    """Return whether the index knows the files as they are now, once what changed has been read."""
    return not OPENED.get(root, references).refresh(paths, seconds).left
