"""What delegation has seen of a folder: how often each subagent answered there, and how often it handed back.

Counts alone, by a hash of the folder's path: no task, no answer and no path. `skillstill forget` forgets them.
"""

import hashlib
import logging
import math
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from pydantic import Field, ValidationError

from skillstill.types import Frozen, Status
from skillstill.util.storage import locked, state_folder, write_atomically

FILE = "delegated.json"
FOLDERS = 1_000  # kept, the last used
WEIGHT, MOST = 0.5, 1.0  # nats that a folder's experience counts beside a task's words: it only decides close cases
log = logging.getLogger(__name__)


class Count(Frozen):
    answered: int = Field(default=0, ge=0)
    handed_back: int = Field(default=0, ge=0)

    @property
    def prior(self) -> float:
        """Return what it speaks for a subagent, in nats."""
        odds = math.log((self.answered + 1) / (self.handed_back + 1))
        return max(-MOST, min(MOST, WEIGHT * odds))


class _Document(Frozen):
    folders: dict[str, dict[str, Count]] = Field(default_factory=dict)


def experience(folder: Path) -> Mapping[str, Count]:
    """Return the counts of a folder by subagent."""
    return _read().folders.get(_key(folder), {})


def remember(folder: Path, subagent: str, status: Status) -> None:
    """Count a run. A failure of the machine says nothing of the subagent; what cannot be written is logged."""
    if status == "failed":
        return
    try:
        with _locked():
            folders = dict(_read().folders)
            counts = folders.pop(_key(folder), {})
            before = counts.get(subagent, Count())
            field = "answered" if status == "answered" else "handed_back"
            after = before.model_copy(update={field: getattr(before, field) + 1})
            folders[_key(folder)] = {**counts, subagent: after}
            _write(dict(list(folders.items())[-FOLDERS:]))
    except OSError as error:
        log.warning("what was delegated is not counted: %s", error)


def forget_experience(folder: Path | None) -> int:
    """Forget the counts of a folder, or of all. Return of how many folders. Raise OSError."""
    if not (state_folder() / FILE).exists():
        return 0
    with _locked():
        folders = _read().folders
        left = {key: counts for key, counts in folders.items() if folder and key != _key(folder)}
        _write(left)
    return len(folders) - len(left)


def _key(folder: Path) -> str:
    return hashlib.sha256(str(folder.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _read() -> _Document:
    """Return what is stored; nothing if it is not there or damaged: it is only ever a hint."""
    try:
        return _Document.model_validate_json((state_folder() / FILE).read_bytes())
    except (OSError, ValidationError):
        return _Document()


def _locked() -> AbstractContextManager[None]:
    state_folder().mkdir(parents=True, exist_ok=True, mode=0o700)
    return locked(state_folder() / f"{FILE}.lock")


def _write(folders: dict[str, dict[str, Count]]) -> None:
    write_atomically(state_folder() / FILE, _Document(folders=folders).model_dump_json() + "\n")
