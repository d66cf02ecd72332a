"""A folder of files as a value: what is in it, what stays in it, what it hashes to."""

import os
import shutil
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from pathspec import GitIgnoreSpec
from skillstill.errors import WorkspaceSourceError

from skillstill_training.util.hashes import files_sha256

MAX_FILES = 50_000
MAX_BYTES = 500_000_000  # of one workspace
MAX_FILE = 5_000_000  # of one file: what the tools of a workspace read at most

# Compiled, fetched or written by a machine: it would answer a search with noise.
UNWANTED = (
    "*.pyc", "*.pyo", "*.so", "*.so.*", "*.pyd", "*.dll", "*.dylib", "*.exe", "*.o", "*.a", "*.lib", "*.class",
    "*.jar", "*.whl", "*.egg", "*.gguf", "*.pkl", "*.pickle",
    "__pycache__/", ".git", ".hg/", ".svn/", ".venv/", ".tox/", ".mypy_cache/", ".pytest_cache/", ".ruff_cache/",
    "node_modules/", "*.egg-info/", "*.dist-info/", "/PKG-INFO",
)  # fmt: skip


class Allowance:
    """What a source may still bring: raises WorkspaceSourceError if it brings more than a workspace holds."""

    def __init__(self) -> None:
        self.files, self.bytes = MAX_FILES, MAX_BYTES

    def take(self, size: int) -> None:
        self.files, self.bytes = self.files - 1, self.bytes - size
        if self.files < 0:
            raise WorkspaceSourceError(f"it holds more than {MAX_FILES:,} files")
        if self.bytes < 0:
            raise WorkspaceSourceError(f"it unpacks to more than {MAX_BYTES:,} bytes")


def is_wanted(path: str, size: int) -> bool:
    """Return whether a file of that relative path is text or data of the workspace itself."""
    named = path.encode("utf-8", "ignore").decode() == path  # else no note could speak of it
    return named and size <= MAX_FILE and not _unwanted().match_file(path)


def files(root: Path) -> Iterator[str]:
    """Yield the relative paths of the regular files, with `/`, sorted. Links are passed over."""
    return iter(sorted(_walk(root)))


def copy_into(folder: Path, tree: Path) -> None:
    """Copy the wanted regular files; links are left out."""
    allowance = Allowance()
    for name in files(folder):
        size = (folder / name).stat().st_size
        if is_wanted(name, size):
            allowance.take(size)
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / name, tree / name)


def prune(root: Path, keep: Iterable[str], always: str = "\0") -> None:
    """Remove what no pattern of `keep` names, or nothing without patterns. What lies in the folder `always` stays."""
    spec = GitIgnoreSpec.from_lines(keep)
    if not len(spec):
        return
    held = {Path(name).parts[0] for name in files(root)}
    for name in [name for name in files(root) if not (spec.match_file(name) or name.startswith(f"{always}/"))]:
        (root / name).unlink()
    remove_empty(root)
    if not any(root.iterdir()):
        raise WorkspaceSourceError(
            f"nothing is left of it by `keep`: its top level holds {', '.join(sorted(held)[:12])}"
        )


def lift(root: Path, inner: str) -> None:
    """Make a folder of the tree the whole tree. Raise WorkspaceSourceError if it is not there."""
    folder = root / inner
    if not folder.is_dir() or not folder.resolve().is_relative_to(root.resolve()):
        raise WorkspaceSourceError(f"there is no folder {inner} in it to be its `root`")
    aside = root.with_name(f"{root.name}.root")
    folder.rename(aside)
    shutil.rmtree(root)
    aside.rename(root)


def remove_empty(root: Path) -> None:
    """Remove the folders without a file in them."""
    for folder, _, _ in os.walk(root, topdown=False):
        if Path(folder) != root and not os.listdir(folder):  # noqa: PTH208 - of every folder: the fast way
            Path(folder).rmdir()


def sha256(root: Path) -> str:
    """Return one hash of all paths and contents, sorted by path."""
    return files_sha256(root, files(root))


def measure(root: Path) -> dict[str, int]:
    """Return how many files and bytes: a cheap look whether any is lacking."""
    sizes = [(root / name).stat().st_size for name in _walk(root)]
    return {"files": len(sizes), "bytes": sum(sizes)}


def freeze(root: Path) -> None:
    """Take away the right to write from all files and folders."""
    for folder, _, names in os.walk(root, topdown=False):
        for file in [Path(folder, name) for name in names]:
            if not file.is_symlink():
                file.chmod(0o444)
        Path(folder).chmod(0o555)


def _walk(root: Path) -> Iterator[str]:
    for folder, inner, names in os.walk(root):
        # Told once for a whole folder: the inside of a .git or node_modules is never listed.
        inner[:] = [one for one in inner if not _unwanted().match_file(_relative(root, folder, one) + "/")]
        for name in names:
            if (path := Path(folder, name)).is_file() and not path.is_symlink():
                yield _relative(root, folder, name)


def _relative(root: Path, folder: str, name: str) -> str:
    return Path(folder, name).relative_to(root).as_posix()


@cache
def _unwanted() -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(UNWANTED)
