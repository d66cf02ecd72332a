"""What lies beside a SKILL.md: hashed, scripts told from other files, and nothing of it run."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skillstill.library.definition import Bundled
from skillstill.library.scanning.files import read_content, sha256
from skillstill.library.scanning.trees import Folder, TreeEntry
from skillstill.util.suspicion import Finding, suspicions

FILES, BYTES, LARGEST = 2_000, 200_000_000, 50_000_000  # the largest of 17 public libraries: 1,103 files
READ = 1_000_000  # bytes of a bundled text that are looked at for passages
_SCRIPTS = {
    ".py",
    ".sh",
    ".bash",
    ".zsh",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".rb",
    ".pl",
    ".ps1",
    ".bat",
    ".cmd",
    ".lua",
    ".r",
}
_TEXTS = {".md", ".txt", ".mdx"}


@dataclass(frozen=True, slots=True)
class Bundle:
    files: tuple[Bundled, ...] = ()
    findings: tuple[Finding, ...] = ()


def bundle_of(root: Path, folder: Folder, every: Mapping[PurePosixPath, Folder], main: str) -> Bundle:
    """Return all below the folder but what other skills in it bring; links to folders of the source are followed.

    `every` are the folders of the source by path, `main` the name of the SKILL.md.
    """
    files: list[Bundled] = []
    findings: list[Finding] = []
    left: dict[str, int] = {}
    size = 0
    for path, entry, real in _entries(folder, every, main):
        if len(files) == FILES or size + entry.size > BYTES or entry.size > LARGEST:
            left["beyond the limits"] = left.get("beyond the limits", 0) + 1
            if len(files) == FILES:
                break
            continue
        try:
            files.append(one := _file(root / real, str(path), entry))
            findings += _suspicious(root / real, one)
        except OSError:
            left["unreadable"] = left.get("unreadable", 0) + 1
        size += entry.size
    refused = sum(len(inner.refused) for inner in folder.every())
    if refused:
        left["links or unreadable"] = refused
    said = ", ".join(f"{count} {why}" for why, count in left.items())
    cut = (Finding(kind="lint", text=f"bundle-cut: left out {said}"),) if left else ()
    return Bundle(tuple(files), (*cut, *findings))


def _entries(
    folder: Folder, every: Mapping[PurePosixPath, Folder], main: str
) -> Iterator[tuple[PurePosixPath, TreeEntry, PurePosixPath]]:
    """Yield path in the bundle, entry, and where its content lies. Each folder once, so that links in circles end."""
    waiting, seen = [(PurePosixPath(), folder)], {folder.path}
    while waiting:
        path, here = waiting.pop()
        for entry in here.files:
            if path.parts or entry.name != main:
                yield path / entry.name, entry, entry.target or here.path / entry.name
        inner = [(one.path.name, one) for one in here.folders]
        linked = [(name, every[target]) for name, target in here.links.items() if target in every]
        for name, one in sorted([*inner, *linked], key=lambda pair: pair[0], reverse=True):
            if one.path not in seen and not holds_skill(one) and one.path not in folder.path.parents:
                seen.add(one.path)
                waiting.append((path / name, one))


def holds_skill(folder: Folder) -> bool:
    return any(entry.name.lower() == "skill.md" for entry in folder.files)


def mode(entry: TreeEntry) -> int:
    """Return the mode as git keeps it: whether its owner may execute it."""
    return 0o755 if entry.mode & 0o100 else 0o644


def _file(file: Path, path: str, entry: TreeEntry) -> Bundled:
    suffix = Path(path).suffix.lower()
    script = suffix in _SCRIPTS or read_content(file, 1)[:2] == b"#!"
    return Bundled(path=path, size=entry.size, sha256=sha256(file), script=script, mode=mode(entry))


def _suspicious(file: Path, one: Bundled) -> tuple[Finding, ...]:
    if Path(one.path).suffix.lower() not in _TEXTS or one.size > READ:
        return ()
    return suspicions(read_content(file, READ).decode("utf-8", "replace"), one.path)
