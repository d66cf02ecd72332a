"""reStructuredText, line by line: sections by their adornments, code, literal and doctest blocks, links.

No directive is executed and no role resolved. docutils would do more, but takes a hundred times as long, and it drops
what stands in the directives of Sphinx, which it does not know.
"""

import re
from collections.abc import Iterator

from skillstill.facts.readers.documents.markup import (
    BARE_ADDRESS,
    CodeBlock,
    Heading,
    LineCounter,
    Link,
    Markup,
    bare_address,
)

_ADORNMENT = re.compile(r"""([!-/:-@\[-`{-~])\1*[ \t\r]*""")
_DIRECTIVE = re.compile(r"(\s*)\.\. (?:code|code-block|sourcecode|parsed-literal|highlight)::\s*([\w+#.-]*)\s*")
_OPTION = re.compile(r"\s+:[\w-]+:")
_HYPERLINK = re.compile(r"`([^`<>]*)<([^`<>]+)>`__?(?!\w)")
_TARGET = re.compile(r"^[ \t]*\.\. _((?:[^:\n\\]|\\.|:(?!\s))+):[ \t]+(\S+)[ \t\r]*$", re.MULTILINE)
_ROLE = re.compile(r":(?:doc|ref|any|numref|download):`(?:([^`<>]*)<([^`<>]+)>|([^`<>]+))`")
_IMAGE = re.compile(r"^[ \t]*\.\. (?:\|[^|\n]+\| )?(?:image|figure)::[ \t]*(\S+)", re.MULTILINE)
_MARKED = re.compile(r"(?::[\w:.-]+:)?(`{1,2})([^`]+)\1_{0,2}")
_SHORTEST = 4  # characters of an adornment that may be shorter than its title


def read_restructured(text: str) -> Markup:
    lines = text.split("\n")
    markup = Markup()
    markup.code_blocks = list(_code_blocks(lines))
    for block in markup.code_blocks:
        lines[block.body_first - 1 : block.body_last] = [""] * (block.body_last - block.body_first + 1)
    markup.headings = list(_headings(lines))
    markup.links = list(_links("\n".join(lines)))
    return markup


def _headings(lines: list[str]) -> Iterator[Heading]:
    """Yield the titles. Their levels are the order in which their adornments come."""
    styles: list[tuple[str, bool]] = []
    number = 0
    while number + 1 < len(lines):
        heading = _overlined(lines, number) or _underlined(lines, number)
        if heading is None:
            number += 1
            continue
        title, style, length = heading
        if style not in styles:
            styles.append(style)
        yield Heading(_MARKED.sub(r"\2", title), styles.index(style) + 1, number + 1, number + length)
        number += length


def _overlined(lines: list[str], number: int) -> tuple[str, tuple[str, bool], int] | None:
    over = _ADORNMENT.fullmatch(lines[number])
    if over is None or number + 2 >= len(lines):
        return None
    title, under = lines[number + 1].strip(), lines[number + 2].strip()
    if title and over[0].strip() == under and _is_long_enough(under, title) and not _ADORNMENT.fullmatch(title):
        return title, (over[1], True), 3
    return None


def _underlined(lines: list[str], number: int) -> tuple[str, tuple[str, bool], int] | None:
    title, under = lines[number].rstrip(), _ADORNMENT.fullmatch(lines[number + 1])
    if under is None or not title or title[0].isspace() or title.startswith(".. "):
        return None
    before = lines[number - 1] if number else ""
    begins = not before.strip() or before.startswith((" ", "\t", "..")) or _ADORNMENT.fullmatch(before)
    if begins and _is_long_enough(under[0].strip(), title) and not _ADORNMENT.fullmatch(title):
        return title, (under[1], False), 2
    return None


def _is_long_enough(adornment: str, title: str) -> bool:
    return len(adornment) >= min(len(title), _SHORTEST)


def _code_blocks(lines: list[str]) -> Iterator[CodeBlock]:
    number, default = 0, None
    while number < len(lines):
        line = lines[number]
        directive = _DIRECTIVE.fullmatch(line)
        if directive is not None and ".. highlight::" in line:
            default = directive[2] or None
            block = None
        elif directive is not None:
            block = _directive(lines, number, directive[2] or default)
        elif line.rstrip().endswith("::") and not line.lstrip().startswith(".."):
            block = _literal(lines, number, default)
        elif line.lstrip().startswith(">>> "):
            block = _doctest(lines, number)
        else:
            block = None
        if block is not None:
            yield block
        number = number + 1 if block is None else max(block.last, number + 1)


def _directive(lines: list[str], number: int, language: str | None) -> CodeBlock | None:
    begin = number + 1
    while begin < len(lines) and _OPTION.match(lines[begin]):
        begin += 1
    body = _indented(lines, begin, _indent(lines[number]))
    return CodeBlock(language, number + 1, body[1], *body) if body else None


def _literal(lines: list[str], number: int, language: str | None) -> CodeBlock | None:
    if number + 1 < len(lines) and lines[number + 1].strip():
        return None
    body = _indented(lines, number + 1, _indent(lines[number]))
    return CodeBlock(language, *body, *body) if body else None


def _doctest(lines: list[str], number: int) -> CodeBlock:
    end = number
    while end < len(lines) and lines[end].strip():
        end += 1
    return CodeBlock("pycon", number + 1, end, number + 1, end)


def _indented(lines: list[str], begin: int, indent: int) -> tuple[int, int] | None:
    """Return first and last number of the lines that are deeper than an indent, or None if there are none."""
    numbers = []
    for number in range(begin, len(lines)):
        if not lines[number].strip():
            continue
        if _indent(lines[number]) <= indent:
            break
        numbers.append(number + 1)
    return (numbers[0], numbers[-1]) if numbers else None


def _indent(line: str) -> int:
    expanded = line.expandtabs()
    return len(expanded) - len(expanded.lstrip())


def _links(text: str) -> Iterator[Link]:
    counter = LineCounter(text)
    taken: list[tuple[int, int]] = []
    for pattern in (_HYPERLINK, _TARGET, _ROLE, _IMAGE):
        for match in pattern.finditer(text):
            taken.append(match.span())
            words = [" ".join(group.split()) for group in match.groups() if group is not None]
            kind = "image" if pattern is _IMAGE else "link"
            shown = "" if pattern is _IMAGE else words[0] or words[-1]
            yield Link(shown, words[-1].replace(" ", ""), kind, counter.line(match.start()))
    spans = iter(sorted(taken))
    span = next(spans, None)
    for match in BARE_ADDRESS.finditer(text):
        while span is not None and span[1] <= match.start():
            span = next(spans, None)
        if span is None or match.start() < span[0]:
            yield Link(bare_address(match), bare_address(match), "link", counter.line(match.start()))
