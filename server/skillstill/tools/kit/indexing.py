"""The index of a workspace, brought to the state of its visible files.

The room of facts is imported once it is needed: a server answers its client before that.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from skillstill.tools.kit.ripgrep import visible_files
from skillstill.workspace import Workspace

if TYPE_CHECKING:
    from skillstill.facts.index import FactIndex


async def fresh_index(workspace: Workspace, references: tuple[str, ...]) -> "FactIndex":
    """Return the index of these readers' facts in its present state. Raise SkillstillError and Refusal."""
    index, _ = await _refreshed(workspace, references)
    return index


async def folder_state(workspace: Workspace) -> bytes:
    """Return the hash of the folder's root: of the names and contents of all files that tools may see.

    Raise SkillstillError and Refusal if it cannot be told.
    """
    _, root = await _refreshed(workspace, ())
    return root


def forget_folder(root: Path | None) -> int:
    """Remove the indexes of a folder, or of all if it is None. Return how many there were."""
    from skillstill.facts.home import forget, forget_all, index_folder

    home = index_folder()
    return forget_all(home) if root is None else forget(home, root)


def keep_no_index() -> None:
    """Hold indexes in memory from now on, and write nothing."""
    from skillstill.facts.opened import OPENED

    OPENED.home = lambda: None


async def _refreshed(workspace: Workspace, references: tuple[str, ...]) -> "tuple[FactIndex, bytes]":
    return await to_thread.run_sync(_refresh, workspace.root, references, await visible_files(workspace))


def _refresh(root: Path, references: tuple[str, ...], paths: Sequence[str]) -> "tuple[FactIndex, bytes]":
    from skillstill.facts.opened import OPENED

    index = OPENED.get(root, references)
    return index, index.refresh(paths).root
