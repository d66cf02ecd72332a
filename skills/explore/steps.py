"""Steps of our own: doc comments taken out of Rust and Go, and Debian's changes to files of any language."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

from pydantic import JsonValue
from skillstill_training.authoring.reading import Symbol, language_of, symbols

DOC = {"rust": re.compile(r"\s*///\s?(.*)"), "go": re.compile(r"//\s?(.*)")}
DECORATION = re.compile(r"\s*(#\[|//go:|//nolint)")
MARKUP = ((r"\[([^\]]+)\](?:\([^)]*\))?", r"\1"), (r"`([^`]*)`", r"\1"), (r"\*\*?([^*]+)\*\*?", r"\1"))
SENTENCE = re.compile(r"(?<!\be\.g)(?<!\bi\.e)[.!?](?:\s|$)")
DIFF = re.compile(r"^(?:diff --git |Index: |--- \S)", re.MULTILINE)
SOURCES = {".py", ".js", ".ts", ".go", ".java", ".rs", ".c", ".h", ".cc", ".cpp", ".pl", ".sh"}


def strip_doc_comments(tree: Path, _: Random) -> dict[str, JsonValue]:
    """Notes `doc_comments`, {path: {name: first sentence}}, and takes those comments out of the files."""
    told: dict[str, JsonValue] = {}
    for file in sorted(tree.rglob("*")):
        language = language_of(file.name) if file.is_file() else None
        if language in DOC:
            lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
            documented = dict(_documented(lines, language))
            if named := {one.name: text for one, (_, text) in documented.items() if text}:
                told[file.relative_to(tree).as_posix()] = {**named}
            gone = {line for held, _ in documented.values() for line in held}
            file.write_text("\n".join(text for at, text in enumerate(lines) if at not in gone), encoding="utf-8")
    return {"doc_comments": told}


def _documented(lines: list[str], language: str) -> Iterator[tuple[Symbol, tuple[list[int], str]]]:
    """Each definition under a doc comment, with the numbers (from 0) and the first sentence of that."""
    for one in symbols("\n".join(lines).encode(), language):
        at = one.line - 2
        while at >= 0 and DECORATION.match(lines[at]):
            at -= 1
        held: list[int] = []
        while at >= 0 and DOC[language].fullmatch(lines[at]) and not DECORATION.match(lines[at]):
            held.insert(0, at)
            at -= 1
        if held:
            yield one, (held, _sentence([DOC[language].sub(r"\1", lines[at]) for at in held]))


def _sentence(comment: list[str]) -> str:
    paragraph = " ".join(comment).partition("  ")[0].strip()
    for pattern, plain in MARKUP:
        paragraph = re.sub(pattern, plain, paragraph)
    return " ".join(SENTENCE.split(paragraph)[0].split())


def described_patches(tree: Path, _: Random) -> dict[str, JsonValue]:
    """Notes `changes` as the built-in step `patches` does, of files in C too, whose lines our search finds as well."""
    from skillstill_training.workspaces import patch_description

    found: dict[str, JsonValue] = {}
    for head, diff in _patches(tree / "debian" / "patches"):
        told, files = patch_description(head), _touched(tree, diff)
        if told and files:
            found[told.lower()] = {"description": told, "files": [*files]}
    shutil.rmtree(tree / "debian", ignore_errors=True)
    return {"changes": [*found.values()]}


def _patches(folder: Path) -> Iterator[tuple[str, str]]:
    """The header and the diff of each patch of the series."""
    series = folder / "series"
    for line in series.read_text(encoding="utf-8").splitlines() if series.is_file() else ():
        name = line.partition("#")[0].strip().partition(" ")[0]
        if name and (folder / name).is_file():
            text = (folder / name).read_text(encoding="utf-8", errors="replace")
            start = DIFF.search(text)
            yield (text[: start.start()], text[start.start() :]) if start else (text, "")


def _touched(tree: Path, diff: str) -> list[str]:
    """The one or two source files of the tree that a diff changes; none where it makes others or changes more."""
    named = re.findall(r"^--- \S+\n\+\+\+ [^/\s]+/(\S+)", re.sub(r"\t.*", "", diff), re.MULTILINE)
    sources = sorted({path for path in named if Path(path).suffix in SOURCES})
    there = all((tree / path).is_file() for path in sources)
    return sources if 1 <= len(sources) <= 2 and there else []
