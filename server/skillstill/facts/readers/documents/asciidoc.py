"""AsciiDoc, line by line: titles, listing and literal blocks, links. Nothing is included or substituted."""

import re
from collections.abc import Iterator

from skillstill.facts.readers.documents.markup import CodeBlock, Heading, LineCounter, Link, Markup

_TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?\s*")
_VERBATIM = re.compile(r"(-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,})(\w*)\s*")
_SOURCE = re.compile(r"\[(?:source)?(?:%\w+)*,\s*([\w+#-]+).*\]\s*")
_COMMENTS = "/+"  # delimiters of blocks that show no code: comments, and what is passed through
_LINK = re.compile(r"(?:(?:link|xref):([^\s\[\]]+)|\b(https?://[^\s\[\]<>]+))(?:\[([^\]\n]*)\])?")
_REFERENCE = re.compile(r"<<([^,>\n]+)(?:,\s*([^>\n]+))?>>")
_IMAGE = re.compile(r"\bimage::?([^\s\[\]]+)\[([^\],\n]*)[^\]\n]*\]")


def read_asciidoc(text: str) -> Markup:
    lines = text.split("\n")
    markup = Markup()
    for block in _blocks(lines):
        delimiter = lines[block.body_first - 2].strip()
        lines[block.first - 1 : block.last] = [""] * (block.last - block.first + 1)
        if delimiter[0] not in _COMMENTS:
            markup.code_blocks.append(block)
    markup.headings = list(_headings(lines))
    markup.links = list(_links("\n".join(lines)))
    return markup


def _blocks(lines: list[str]) -> Iterator[CodeBlock]:
    opened, delimiter, language = 0, "", None
    for number, line in enumerate(lines, 1):
        match = _VERBATIM.fullmatch(line)
        if opened and line.strip() == delimiter:
            yield CodeBlock(language, opened, number, opened + 1, number - 1)
            opened = 0
        elif not opened and match is not None:
            source = _SOURCE.fullmatch(lines[number - 2]) if number > 1 else None
            opened, delimiter, language = number, match[1], match[2] or (source[1] if source else None)


def _headings(lines: list[str]) -> Iterator[Heading]:
    for number, line in enumerate(lines, 1):
        match = _TITLE.fullmatch(line)
        if match is not None:
            yield Heading(match[2], len(match[1]), number, number)


def _links(text: str) -> Iterator[Link]:
    counter = LineCounter(text)
    for match in _LINK.finditer(text):
        target = match[1] or match[2].rstrip(".,;:")
        yield Link((match[3] or "").strip("^") or target, target, "link", counter.line(match.start()))
    for match in _REFERENCE.finditer(text):
        yield Link(match[2] or match[1], match[1], "link", counter.line(match.start()))
    for match in _IMAGE.finditer(text):
        yield Link(match[2], match[1], "image", counter.line(match.start()))
