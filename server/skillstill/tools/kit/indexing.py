"""The index of a workspace, brought to the state of its visible files.

The room of facts is imported once it is needed: a server answers its client before that.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import from_thread, to_thread

from skillstill.tools.kit.ripgrep import visible_files
from skillstill.util.waiting import Listener, present_listener
from skillstill.workspace import Workspace

if TYPE_CHECKING:
    from skillstill.facts.index import FactIndex

EVERY = 1.0  # seconds after which who waits for a reading is told how far it is
STATE_SECONDS, STATE_BYTES = 2.0, 1_000_000_000  # for telling a folder's state: a second or two


async def fresh_index(workspace: Workspace, references: tuple[str, ...]) -> "FactIndex":
    """Return the index of these readers' facts in its present state. Raise SkillstillError and Refusal."""
    return await to_thread.run_sync(_refresh, workspace.root, references, await visible_files(workspace))


async def folder_state(workspace: Workspace) -> bytes:
    """Return the hash of the folder's root: of the names and contents of all files that tools may see.

    Empty if that takes longer than a question should wait. Raise SkillstillError and Refusal if it cannot be told.
    """
    from skillstill.facts.opened import OPENED

    paths = await visible_files(workspace)
    index = OPENED.get(workspace.root, ())
    done = await to_thread.run_sync(index.refresh, paths, STATE_SECONDS, STATE_BYTES)
    return b"" if done.left else done.root


def forget_folder(root: Path | None) -> int:
    """Remove the indexes of a folder, or of all if it is None. Return how many there were."""
    from skillstill.facts.home import forget, forget_all, index_folder

    home = index_folder()
    return forget_all(home) if root is None else forget(home, root)


def keep_no_index() -> None:
    """Hold indexes in memory from now on, and write nothing."""
    from skillstill.facts.opened import OPENED

    OPENED.home = lambda: None


def _refresh(root: Path, references: tuple[str, ...], paths: Sequence[str]) -> "FactIndex":
    from skillstill.facts.opened import OPENED

    index = OPENED.get(root, references)
    if listener := present_listener():
        index.refresh(paths, told=ReadingTeller(listener))
    else:
        index.refresh(paths)
    return index


class ReadingTeller:
    """Tells a listener, from a thread of its event loop, how many files are read."""

    def __init__(self, listener: Listener) -> None:
        self._listener, self._last = listener, time.monotonic()

    def __call__(self, done: int, of: int) -> None:
        if time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            from_thread.run(self._listener, f"reading files: {done:,} of {of:,}")
