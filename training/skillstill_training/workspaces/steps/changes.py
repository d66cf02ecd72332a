"""Changes as notes: what was meant, which files of the tree it touches, and where in them as they are now."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue
from skillstill.errors import WorkspaceSourceError

from skillstill_training.workspaces.steps.prose import plain, sentence

if TYPE_CHECKING:
    from unidiff.patch import Hunk, PatchedFile

SUFFIXES = {".py", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".go", ".java", ".rs"}  # what our outlines read
FEWEST_WORDS = 4  # of a description: fewer say nothing that could be looked for
MOST_FILES = 2
# Of who tracks it where: `[PATCH 2/7]`, `CVE-2025-1 (1/2):`, `bpo-123:`, `(Closes: #1234)`, `(LP: #12)`, `(#34)`, URLs
TRACKED = re.compile(
    r"^(?:\[[^\]]*\]\s*)+|[(\[]?\bCVE-\d+-\d+[)\]]?(?:\s*\(\d+/\d+\))?(?:\.patch)?:?"
    r"|^(?:bpo|gh|issue)[- ]#?\d+:\s*|\bhttps?://\S+"
    r"|[(\[]?(?:\b(?:closes|fixes|lp|gh|bug|issue):?\s*)?#\d+[)\]]?|\bSigned-off-by:.*|\[PATCH[^\]]*\]|[(\[](?:closes|fixes)?:?\s*[)\]]?$",
    re.IGNORECASE,
)


def is_source(path: str) -> bool:
    return PurePosixPath(path).suffix in SUFFIXES


def describe_change(text: str) -> str | None:
    """Return its first sentence without tracking numbers; None if that is too short to look for."""
    told = sentence(" ".join(TRACKED.sub("", plain(text)).split()).strip(" :,;-"))
    return told if len(re.findall(r"[A-Za-z]\S*", told)) >= FEWEST_WORDS else None


def change(tree: Path, description: str | None, diff: str) -> dict[str, JsonValue] | None:
    """Return a change of one or two source files that the tree has, of which each changed place is found; else None."""
    touched = [(path, file) for file in patched_files(diff) if (path := _path(file, tree))]
    sources = {path: file for path, file in touched if is_source(path)}
    if not description or not 1 <= len(sources) <= MOST_FILES:
        return None
    lines: dict[str, JsonValue] = {}
    for path, file in sources.items():
        found = None if file.is_added_file else changed_lines(tree / path, file)
        if not found:
            return None
        lines[path] = [[first, last] for first, last in found]
    return {"description": description, "files": [*sources], "lines": lines}


def patched_files(diff: str) -> "list[PatchedFile]":
    """Return the files of a diff; none if it cannot be read."""
    try:
        from unidiff.errors import UnidiffParseError
        from unidiff.patch import PatchSet
    except ImportError as error:
        raise WorkspaceSourceError("reading patches needs more: type `pip install 'skillstill[goals]'`") from error
    try:
        return list(PatchSet(diff.splitlines(keepends=True)))
    except (UnidiffParseError, ValueError):
        return []


def changed_lines(file: Path, patched: Any) -> list[tuple[int, int]] | None:
    """Return the line ranges, 1-based with both ends, that its hunks change; None if a hunk does not fit the file.

    Lines that are only put in count as the line after which they go.
    """
    if not file.is_file():
        return None
    text = file.read_text(encoding="utf-8", errors="replace").split("\n")
    found: list[tuple[int, int]] = []
    for hunk in patched:
        start = _place(hunk, text)
        if start is None:
            return None
        found += [(start + first, start + last) for first, last in _ranges(hunk)]
    return sorted(set(found))


def _path(file: "PatchedFile", tree: Path) -> str:
    """Return its path in the tree: without the first folder, as patches are written; new files by their new name."""
    names = [name.split("\t")[0].strip() for name in (file.source_file, file.target_file)]
    paths = ["/".join(PurePosixPath(name).parts[1:]) for name in names if name != "/dev/null"]
    return next((path for path in paths if path and (tree / path).is_file()), paths[-1] if paths else "")


def _place(hunk: "Hunk", text: list[str]) -> int | None:
    """Return the index of its first line: where the diff says, else the only other place that reads so."""
    wanted = [str(line.value).rstrip("\r\n") for line in hunk if line.is_context or line.is_removed]
    said = max(hunk.source_start - 1, 0)
    if not wanted:
        return said if said <= len(text) else None
    have = [line.rstrip("\r") for line in text]
    if have[said : said + len(wanted)] == wanted:
        return said
    others = [start for start in range(len(have)) if have[start : start + len(wanted)] == wanted]
    return others[0] if len(others) == 1 else None


def _ranges(hunk: "Hunk") -> Iterator[tuple[int, int]]:
    """Yield relative to the hunk's first line, 1-based: its runs of changed lines."""
    at = 0
    for is_context, run in groupby(hunk, key=lambda line: line.is_context):
        old = sum(1 for line in run if not line.is_added and line.line_type != "\\")
        if not is_context:
            yield (at + 1, at + old) if old else (max(at, 1), max(at, 1))
        at += old


def distinct_changes(changes: Iterable[dict[str, JsonValue] | None]) -> list[JsonValue]:
    """Return those that are changes, each description once."""
    found = {str(one["description"]).lower(): one for one in changes if one}
    return [*found.values()]
