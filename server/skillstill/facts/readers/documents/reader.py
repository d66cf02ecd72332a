"""Documents: sections with the titles above them, links, and code blocks."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

from skillstill.facts.reader import Facts, Source, Unreadable
from skillstill.facts.readers.documents.asciidoc import read_asciidoc
from skillstill.facts.readers.documents.markdown import read_markdown
from skillstill.facts.readers.documents.markup import Heading, Markup
from skillstill.facts.readers.documents.restructured import read_restructured
from skillstill.facts.table import FactColumn, FactTable, Row

LIMIT = 4_000_000  # bytes
_TEXT = 300

SECTIONS = FactTable(
    "sections",
    "a section of a Markdown, reStructuredText or AsciiDoc file, up to the next title",
    (
        FactColumn("title", "text", "null for what stands before the first title"),
        FactColumn("level", "integer", "1 is the highest; 0 before the first title"),
        FactColumn("parent", "text", "titles above, joined by ' > '"),
        FactColumn("text", "excerpt", "without title and subsections"),
    ),
)
LINKS = FactTable(
    "links",
    "a link or image of a document",
    (
        FactColumn("text", "text"),
        FactColumn("target", "text", "address or path as written"),
        FactColumn("kind", "word", values=("link", "image")),
    ),
)
CODE_BLOCKS = FactTable(
    "code_blocks",
    "a block of code in a document",
    (FactColumn("language", "word", "as written; null if not said"), FactColumn("text", "excerpt")),
    indexed=("language",),
)

_READERS: dict[str, Callable[[str], Markup]] = {
    **dict.fromkeys((".md", ".markdown", ".mdx"), read_markdown),
    **dict.fromkeys((".rst", ".rest"), read_restructured),
    **dict.fromkeys((".adoc", ".asciidoc"), read_asciidoc),
}
_PLAIN = re.compile(r"(?:readme|changes|changelog|history|news|install|contributing)(?:\.txt)?", re.IGNORECASE)
_FRONT_MATTER = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*\r?\n(.*?\r?\n)?\1[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title[ \t]*[:=](.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DocumentsReader:
    """Reads files by their suffix. Plain texts such as README have the titles of reStructuredText."""

    name: str = "documents"
    version: int = 1
    tables: tuple[FactTable, ...] = (SECTIONS, LINKS, CODE_BLOCKS)

    def takes(self, name: str, head: bytes) -> bool:
        return _reader_of(name) is not None

    def read(self, source: Source) -> Iterator[Facts]:
        data = source.whole(LIMIT)
        if b"\0" in data:
            raise Unreadable("binary")
        text = data.decode("utf-8", "replace").replace("\r\n", " \n").replace("\r", " ")  # no line breaks but \n
        read = _reader_of(source.name) or read_restructured
        front = _FRONT_MATTER.match(text)
        front_lines = front[0].count("\n") if front else 0
        blank = "\n" * front_lines + text[front.end() :] if front else text
        title = _FRONT_TITLE.search(front[2] or "") if front else None
        yield _Rows(data, read(blank), front_lines, title[1].strip(" \t\r\"'") if title else None).facts()


def _reader_of(name: str) -> Callable[[str], Markup] | None:
    plain = read_restructured if _PLAIN.fullmatch(name) else None
    return _READERS.get(PurePath(name).suffix.lower(), plain)


class _Rows:
    """Rows of a file's markup; excerpts are places in its bytes."""

    def __init__(self, data: bytes, markup: Markup, front_lines: int, title: str | None) -> None:
        self._data, self._markup, self._front_lines, self._title = data, markup, front_lines, title
        self._starts = [0, *(match.end() for match in re.finditer(b"\n", data))]

    def facts(self) -> Facts:
        links = [
            (link.line, link.line, link.text[:_TEXT], link.target[:_TEXT], link.kind)
            for link in sorted(self._markup.links, key=lambda link: link.line)
        ]
        code = [
            (block.first, block.last, block.language, self._excerpt(block.body_first, block.body_last))
            for block in self._markup.code_blocks
        ]
        return Facts({"sections": list(self._sections()), "links": links, "code_blocks": code})

    def _sections(self) -> Iterator[Row]:
        headings = sorted(self._markup.headings, key=lambda heading: heading.first)
        ends = [*(heading.first - 1 for heading in headings), len(self._starts)]
        first, last = self._trimmed(self._front_lines + 1, ends[0])
        if last >= first or self._title:
            yield (1, max(last, self._front_lines, 1), self._title, 0, "", self._excerpt(first, last))
        above: list[Heading] = []
        for heading, end in zip(headings, ends[1:], strict=True):
            while above and above[-1].level >= heading.level:
                above.pop()
            first, last = self._trimmed(heading.last + 1, end)
            parent = " > ".join(other.title for other in above)
            shown = (heading.first, max(last, heading.last), heading.title[:_TEXT], heading.level)
            yield (*shown, parent[:_TEXT], self._excerpt(first, last))
            above.append(heading)

    def _trimmed(self, first: int, last: int) -> tuple[int, int]:
        """Return a range of lines without blank ones at both ends; the last before the first if all are blank."""
        while last >= first and not self._line(last).strip():
            last -= 1
        while first <= last and not self._line(first).strip():
            first += 1
        return first, last

    def _line(self, number: int) -> bytes:
        return self._data[self._starts[number - 1] : self._end(number)]

    def _end(self, number: int) -> int:
        return self._starts[number] if number < len(self._starts) else len(self._data)

    def _excerpt(self, first: int, last: int) -> tuple[int, int]:
        if last < first:
            return (0, 0)
        start = self._starts[first - 1]
        return start, self._end(last) - start


DOCUMENTS = DocumentsReader()
