"""What a fetcher is asked for, and the cache of what was fetched once.

errand -> in the cache by its pin, else fetched, hashed and kept under its hash -> the pin holds, or an error says why
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from platformdirs import user_cache_path
from skillstill.errors import WorkspaceSourceError
from skillstill.util import storage

from skillstill_training.util.hashes import file_sha256


class Unpinned(WorkspaceSourceError):
    """A source whose declaration lacks the hash that it has."""

    def __init__(self, sha256: str) -> None:
        super().__init__(f'it is not pinned: look at it, then add the line `sha256 = "{sha256}"`')
        self.sha256 = sha256


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """`wanted`: the source without its scheme. `pin`: the SHA-256 that it must have; None is an error that says it.

    `keep` are the patterns of what is left of it later: a fetcher may leave out the rest.
    """

    wanted: str
    pin: str | None
    skill_folder: Path
    offline: bool = False
    keep: tuple[str, ...] = ()

    def check(self, found: str) -> None:
        """Raise WorkspaceSourceError unless the pin is that hash."""
        if self.pin is None:
            raise Unpinned(found)
        if self.pin != found:
            raise WorkspaceSourceError(f"it is not what was pinned: expected sha256 {self.pin}, got {found}")

    def need_network(self) -> None:
        """Raise WorkspaceSourceError if this run is offline."""
        if self.offline:
            raise WorkspaceSourceError("it is not in the cache and this run is offline: run it once online")


Fetcher = Callable[[FetchRequest, Path], None]  # fills an empty folder


def cache_folder() -> Path:
    return user_cache_path("skillstill") / "workspaces"


def download(request: FetchRequest, download: Callable[[Path], Path]) -> Path:
    """Return the pinned file, among what else its download brought.

    `download` fills a folder and says which file counts.
    """
    folder = cache_folder() / "downloads"
    if request.pin and (found := _hold_lock(folder / request.pin, request.pin)):
        return found
    request.need_network()
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder, prefix=".part-", ignore_cleanup_errors=True) as part:
        (work := Path(part, "files")).mkdir()
        file = download(work)
        found_hash = file_sha256(file)
        move_into_place(work, folder / found_hash)
    request.check(found_hash)
    return folder / found_hash / file.name


def move_into_place(work: Path, home: Path) -> None:
    """Move a finished folder to its place, in one step. If another process was first, its folder stays."""
    try:
        work.rename(home)
    except OSError:
        if not home.is_dir():
            raise


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes of ours out of a folder meanwhile: apt and git do not share theirs."""
    folder.mkdir(parents=True, exist_ok=True)
    with storage.locked(folder / ".lock"):
        yield


def _hold_lock(folder: Path, sha256: str) -> Path | None:
    if not folder.is_dir():
        return None
    return next((file for file in sorted(folder.iterdir()) if file_sha256(file) == sha256), None)
