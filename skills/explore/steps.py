"""Steps of this skill: remove doc comments from Rust and Go, note Debian's changes to files of any language."""

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
    """Remove doc comments from the files. Note `doc_comments`, {path: {name: first sentence}}."""
    doc_comments: dict[str, JsonValue] = {}
    for file in sorted(tree.rglob("*")):
        language = language_of(file.name) if file.is_file() else None
        if language in DOC:
            lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
            documented = dict(_documented_symbols(lines, language))
            if sentences := {symbol.name: text for symbol, (_, text) in documented.items() if text}:
                doc_comments[file.relative_to(tree).as_posix()] = {**sentences}
            removed = {line for comment, _ in documented.values() for line in comment}
            file.write_text("\n".join(text for at, text in enumerate(lines) if at not in removed), encoding="utf-8")
    return {"doc_comments": doc_comments}


def _documented_symbols(lines: list[str], language: str) -> Iterator[tuple[Symbol, tuple[list[int], str]]]:
    """Yield each definition below a doc comment, with the comment's line numbers (from 0) and its first sentence."""
    for symbol in symbols("\n".join(lines).encode(), language):
        at = symbol.line - 2
        while at >= 0 and DECORATION.match(lines[at]):
            at -= 1
        comment: list[int] = []
        while at >= 0 and DOC[language].fullmatch(lines[at]) and not DECORATION.match(lines[at]):
            comment.insert(0, at)
            at -= 1
        if comment:
            yield symbol, (comment, _first_sentence([DOC[language].sub(r"\1", lines[at]) for at in comment]))


def _first_sentence(comment: list[str]) -> str:
    paragraph = " ".join(comment).partition("  ")[0].strip()
    for pattern, plain in MARKUP:
        paragraph = re.sub(pattern, plain, paragraph)
    return " ".join(SENTENCE.split(paragraph)[0].split())


def described_patches(tree: Path, _: Random) -> dict[str, JsonValue]:
    """Note `changes` as the built-in step `patches` does, but also of files in other languages, such as C."""
    from skillstill_training.workspaces import patch_description

    changes: dict[str, JsonValue] = {}
    for head, diff in _patches(tree / "debian" / "patches"):
        text, files = patch_description(head), _changed_sources(tree, diff)
        if text and files:
            changes[text.lower()] = {"description": text, "files": [*files]}
    shutil.rmtree(tree / "debian", ignore_errors=True)
    return {"changes": [*changes.values()]}


def _patches(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the header and the diff of each patch of the series."""
    series = folder / "series"
    for line in series.read_text(encoding="utf-8").splitlines() if series.is_file() else ():
        name = line.partition("#")[0].strip().partition(" ")[0]
        if name and (folder / name).is_file():
            text = (folder / name).read_text(encoding="utf-8", errors="replace")
            start = DIFF.search(text)
            yield (text[: start.start()], text[start.start() :]) if start else (text, "")


def _changed_sources(tree: Path, diff: str) -> list[str]:
    """Return the one or two source files of the tree that a diff changes; none if it adds files or changes more."""
    named = re.findall(r"^--- \S+\n\+\+\+ [^/\s]+/(\S+)", re.sub(r"\t.*", "", diff), re.MULTILINE)
    sources = sorted({path for path in named if Path(path).suffix in SOURCES})
    all_exist = all((tree / path).is_file() for path in sources)
    return sources if 1 <= len(sources) <= 2 and all_exist else []
