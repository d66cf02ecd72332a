"""Documentation as families read it: blocks of lines under their titles. The tools split it in a way of their own."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

SUFFIXES = {".md", ".mdx", ".markdown", ".rst", ".adoc"}
NO_MANUAL = re.compile(
    r"(?:^|/)(?:change(?:s|log)?|history|news|release[^/]*|whatsnew|contribut\w*|code_of_conduct|authors|security|blog|_posts"
    r"|license\w*|maintain\w*|governance|acknowledg\w*|threat\w*|powered_by)(?:[./_-]|$)|(?:^|/)[a-z]{2,3}[-_][A-Z]{2}/|(?:^|/)(?:tests?|vendor|node_modules)/",
    re.IGNORECASE,
)
LARGEST = 1_000_000  # bytes of a file
HEADING = re.compile(r"(#{1,6}|={2,6})\s+(\S.*?)\s*#*\s*$")
UNDERLINE = re.compile(r"([=\-~^\"'*+#`:.])\1{2,}\s*$")
BEGINS = re.compile(r"\s*(?:[-*+]|\d{1,2}[.)])\s|\s*\||\.\. ")
FENCE = re.compile(r"\s*(?:```|~~~|-{4,}$)")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"(*])")
MARKUP = (
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), ""),
    (re.compile(r"\[([^\[\]]*)\]\([^)\s]*(?:\s\"[^\"]*\")?\)"), r"\1"),
    (
        re.compile(r"(?::[a-z]+)?:[a-z]+:`(?:([^`<]+?)\s*<[^`>]*>|~?([^`]+))`"),
        lambda found: f"`{found[1] or found[2]}`",
    ),
    (re.compile(r"\*\*"), ""),
    (re.compile(r"``"), "`"),
    (re.compile(r"</?[a-z][^<>]*>"), ""),
)


@dataclass(frozen=True)
class Block:
    """A paragraph, an item, a row or a directive with what is indented below it. `raw` are its lines as they stand."""

    path: str
    first: int
    last: int
    titles: tuple[str, ...]
    raw: tuple[str, ...]

    @cached_property
    def text(self) -> str:
        return plain(" ".join(line.strip() for line in self.raw))

    @cached_property
    def sentences(self) -> Sequence[str]:
        return SENTENCE.split(self.text)


@lru_cache(maxsize=64)
def blocks_of(root: Path) -> Sequence[Block]:
    """Return the blocks of all documents of a folder, without changelogs, translations and tests."""
    files = sorted(file for file in root.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    found = [(file.relative_to(root).as_posix(), file) for file in files if file.stat().st_size < LARGEST]
    return [block for path, file in found if not NO_MANUAL.search(path) for block in _blocks(path, file)]


def _blocks(path: str, file: Path) -> Iterator[Block]:
    lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    titles: list[tuple[int, str]] = []
    styles: list[str] = []
    gathered: list[int] = []
    fenced = False

    def done() -> Iterator[Block]:
        if gathered:
            raw = tuple(lines[number] for number in gathered)
            yield Block(path, gathered[0] + 1, gathered[-1] + 1, tuple(title for _, title in titles), raw)
            gathered.clear()

    for number, line in enumerate(lines):
        if FENCE.match(line):
            yield from done()
            fenced = not fenced
        elif fenced:
            continue
        elif title := _title(lines, number, styles):
            yield from done()
            titles[:] = [*(above for above in titles if above[0] < title[0]), title]
        elif not line.strip() and not _goes_on(lines, number, gathered):
            yield from done()
        elif not UNDERLINE.match(line):
            if BEGINS.match(line) and not (gathered and line.startswith("  ")):
                yield from done()
            if line.strip():
                gathered.append(number)
    yield from done()


def _title(lines: Sequence[str], number: int, styles: list[str]) -> tuple[int, str] | None:
    """Return the level and the text of a title at this line, if there is one."""
    line = lines[number]
    if found := HEADING.match(line):
        return len(found[1]), plain(found[2])
    under = lines[number + 1] if number + 1 < len(lines) else ""
    if (
        line.strip()
        and line[0] not in " |.-*"
        and UNDERLINE.match(under)
        and len(under.strip()) + 1 >= len(line.strip())
    ):
        if under[0] not in styles:
            styles.append(under[0])
        return 1 + styles.index(under[0]), plain(line)
    return None


def _goes_on(lines: Sequence[str], number: int, gathered: Sequence[int]) -> bool:
    """Return whether a directive goes on behind this empty line."""
    return (
        bool(gathered)
        and lines[gathered[0]].startswith(".. ")
        and number + 1 < len(lines)
        and lines[number + 1].startswith("   ")
    )


def plain(text: str) -> str:
    for pattern, replacement in MARKUP:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())
