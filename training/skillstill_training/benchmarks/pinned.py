"""Files of public repositories at a commit, through the same clones and the same cache as training's workspaces."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from skillstill.errors import WorkspaceSourceError

from skillstill_training.util.hashes import hash_parts
from skillstill_training.workspaces import Source, build_workspace
from skillstill_training.workspaces.requests import cache_folder, move_into_place
from skillstill_training.workspaces.tree import sha256


@dataclass(frozen=True, slots=True)
class Pinned:
    """Those files of a repository that `keep` names, or all. `root` is the folder that becomes the top.

    `repository` is an address or a path. `sha256` is one hash of their paths and contents; without it, the commit is
    the pin.
    """

    repository: str
    commit: str
    keep: tuple[str, ...] = ()
    root: str = ""
    sha256: str = ""

    @property
    def version(self) -> str:
        return f"{self.commit[:12]} sha256:{self.sha256[:12]}" if self.sha256 else self.commit[:12]

    def folder(self) -> Path:
        """Return the files, read-only. They are fetched the first time. Raise WorkspaceSourceError."""
        source = Source(
            name="benchmark",
            split="test",
            source=f"git:{self.repository}@{self.commit}",
            keep=self.keep,
            root=self.root,
        )
        folder = build_workspace(source, Path.cwd()).root
        if self.sha256 and (found := sha256(folder)) != self.sha256:
            raise WorkspaceSourceError(f"{self.repository}: expected files with sha256 {self.sha256}, got {found}")
        return folder


def written(files: Mapping[str, str]) -> Path:
    """Return a folder of the cache with exactly these files, by name and text."""
    home = cache_folder() / "benchmarks" / hash_parts(*(part for item in sorted(files.items()) for part in item))
    if not home.is_dir():
        home.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=home.parent, prefix=".part-", ignore_cleanup_errors=True) as part:
            (work := Path(part, "files")).mkdir()
            for name, text in files.items():
                (work / name).write_text(text, encoding="utf-8")
            move_into_place(work, home)
    return home
