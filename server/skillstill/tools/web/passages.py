"""A document as passages: a few sentences, rows or lines of code each, under the titles that they stand below.

A passage is short enough to be shown whole and to be quoted, and long enough to answer from.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

LONGEST = 220  # characters of a passage: some 35 words
TITLES = 70  # characters of the titles above it that are shown
LONGEST_LINE = 10_000  # characters of a line that are read: what is longer is data
LINE_END = " ⏎ "  # between lines of code, which are shown in one line

_FENCE = re.compile(r"\s*(?:```|~~~).*|[-.+=]{4,}")
_UNDER_HEADER = re.compile(r"\s*\|[\s:|-]*-[\s:|-]*")  # below the head of a table, which says nothing alone
_RULE = re.compile(r"[\W_]*|\.\. _[^:]*:.*")  # an underline, a border of a table, a label: no text
_BEGINS = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)]|#\.)\s|\s*\||\.\. ")  # an item, a row, a directive
# What begins something that has an explanation of its own: an option, a parameter, a row, an item about a name.
_DEFINES = re.compile(
    r"\s*(?:\.\. [\w:-]*(?:option|confval|setting|envvar|function|class|method|attribute|property|data|exception)::"
    r"|:param\b|\||[-*+] +(?:`|\*\*|--?\w))"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(\[*:])|(?<=:)\s+(?=[-*`])")
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_TARGET = r"\(\s*(?:<[^>]*>|[^()\s]*(?:\([^()]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\s*\)"
_LINK = re.compile(rf"\[([^\[\]]*)\](?:{_TARGET}|\[[^\]]*\])")
_ROLE = re.compile(r"(?::[a-z]+)?:[a-z]+:`(?:([^`<]+?)\s*<[^`>]*>|~?([^`]+))`")
_TAG = re.compile(
    r"</?(?:a|abbr|b|br|code|details|div|em|h[1-6]|i|img|kbd|li|ol|p|pre|small|span|strong|sub|summary|sup|table|tbody|td"
    r"|th|thead|tr|u|ul)\b[^<>]*>|<!--.*?-->",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Section:
    """Lines of a document below one title, up to the next one: 1-based, both ends included."""

    first: int
    last: int
    title: str
    above: str

    @property
    def titles(self) -> str:
        """Return the titles, the highest first, without the title of the whole document if there are many."""
        parts = [*filter(None, (*self.above.split(" > "), self.title))]
        while len(parts) > 1 and len(" > ".join(parts)) > TITLES:
            parts.pop(0)
        return plain(" > ".join(parts))[:TITLES]


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a document and their text without markup. `section` is the number of its section in the document."""

    path: str
    first: int
    last: int
    titles: str
    text: str
    is_code: bool = False
    section: int = 0

    def is_beside(self, other: "Passage") -> bool:
        """Return whether both are of one section."""
        return self.section == other.section and self.path == other.path


@dataclass(frozen=True, slots=True)
class _Block:
    lines: Sequence[tuple[int, str]]
    is_code: bool
    defines: bool = False


def passages_of(
    path: str, lines: Sequence[str], sections: Sequence[Section], code: Collection[tuple[int, int]]
) -> Iterator[Passage]:
    """Yield the passages of a document. `code` are the first and the last lines of its blocks of code."""
    in_code = frozenset(line for first, last in code for line in range(first, last + 1))
    for number, section in enumerate(sections):
        for block in _merged(_blocks(lines, section, in_code)):
            for first, last, text in _pieces(block):
                yield Passage(path, first, last, section.titles, text, block.is_code, number)


def _blocks(lines: Sequence[str], section: Section, in_code: Collection[int]) -> Iterator[_Block]:
    """Yield paragraphs, items, rows and blocks of code, without the title and without lines that say nothing."""
    gathered: list[tuple[int, str]] = []
    was_code, defines, title = False, False, bool(section.title)
    for number in range(section.first, min(section.last, len(lines)) + 1):
        line, is_code = lines[number - 1][:LONGEST_LINE].rstrip(), number in in_code
        if title and not _RULE.fullmatch(line):
            title = False
            continue
        empty = _FENCE.fullmatch(line) if is_code else _RULE.fullmatch(line) or _is_header(lines, number)
        if gathered and (is_code != was_code or (not is_code and (empty or _BEGINS.match(line)))):
            yield _Block(tuple(gathered), was_code, defines)
            gathered = []
        was_code = is_code
        if not empty and (text := line if is_code else plain(line)):
            defines = defines if gathered else not is_code and _DEFINES.match(line) is not None
            gathered.append((number, text))
    if gathered:
        yield _Block(tuple(gathered), was_code, defines)


def _is_header(lines: Sequence[str], number: int) -> bool:
    return number < len(lines) and _UNDER_HEADER.fullmatch(lines[number]) is not None


def _merged(blocks: Iterator[_Block]) -> Iterator[_Block]:
    """Yield blocks of text that follow each other as one, as long as that is short enough and explains one thing."""
    waiting: _Block | None = None
    for block in blocks:
        if waiting and not block.defines and not (block.is_code or waiting.is_code) and _fits(waiting, block):
            waiting = _Block((*waiting.lines, *block.lines), waiting.is_code, waiting.defines)
            continue
        if waiting:
            yield waiting
        waiting = block
    if waiting:
        yield waiting


def _fits(one: _Block, other: _Block) -> bool:
    return sum(len(text) + 1 for _, text in (*one.lines, *other.lines)) <= LONGEST


def _pieces(block: _Block) -> Iterator[tuple[int, int, str]]:
    """Yield a block in parts that are short enough, cut between sentences or lines: first line, last line, text."""
    if block.is_code:
        yield from _packed([(number, number, text.strip()) for number, text in block.lines if text.strip()], LINE_END)
    else:
        yield from _packed([*_sentences(block)], " ")


def _sentences(block: _Block) -> Iterator[tuple[int, int, str]]:
    starts: list[int] = []
    joined = ""
    for _, text in block.lines:
        starts.append(len(joined))
        joined += text + " "
    begin = 0
    for end in (*(match.end() for match in _SENTENCE_END.finditer(joined)), len(joined)):
        text = joined[begin:end].strip()
        if text:
            first, last = bisect_right(starts, begin) - 1, bisect_right(starts, begin + len(text) - 1) - 1
            yield block.lines[first][0], block.lines[last][0], text
        begin = end


def _packed(parts: Sequence[tuple[int, int, str]], between: str) -> Iterator[tuple[int, int, str]]:
    """Yield neighbours as one, as long as that is short enough."""
    held: tuple[int, int, str] | None = None
    for first, last, text in parts:
        if held and len(held[2]) + len(between) + len(text) <= LONGEST:
            held = (held[0], last, held[2] + between + text)
            continue
        if held:
            yield held
        held = (first, last, text)
    if held:
        yield held


def plain(text: str) -> str:
    """Return a line of a document as it is read: without links, images, roles and tags, and bold type."""
    text = _LINK.sub(r"\1", _IMAGE.sub("", text))
    text = _ROLE.sub(lambda match: f"`{match[1] or match[2]}`", text)
    text = _TAG.sub("", text).replace("**", "").replace("``", "`")
    return " ".join(text.split())
