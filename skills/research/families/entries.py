"""What documentation defines by name: options, settings, parameters and variables, each with what is said of it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from .pages import Block, blocks_of, plain

NAME = r"(?:--?)?[A-Za-z_$@:][\w.:$@/-]{0,49}[\w$]"
ROW = re.compile(rf"\s*\|\s*`{{1,2}}({NAME})(?:[ =,][^`|]*)?`{{1,2}}[^|]*\|(.*)\|\s*$")
ITEM = re.compile(
    rf"\s*[-*+]\s+(?:\*\*`{{0,2}}(?P<bold>{NAME})`{{0,2}}\*\*|`{{1,2}}(?P<code>{NAME})(?:[ =,][^`]*)?`{{1,2}})"
    r"[^:—–-]{0,40}(?:\s*[:—–]|\s+-)\s+(?P<text>.*)"
)
DIRECTIVE = re.compile(rf"\.\. (?:[\w-]+:)?(?:option|confval|envvar|setting|cmdoption)::\s*({NAME})")
HEADING_NAME = re.compile(rf"`?({NAME})`?(?:\([^)]*\))?")
CODE_LIKE = re.compile(r"[._]\w|[a-z][A-Z]|^--?\w|^[a-z]+-[a-z-]+$")
DEFAULT = re.compile(
    r"(?i:\bdefaults?\b(?: value)?(?:\s+(?:is|to)\s+|\s*[:=]\s*|\s+(?=`)))"
    r"(?:\"?`([^`]{1,40})`\"?|(\d[\w.,]*|true|false|yes|no|none|null|[A-Z_]{3,})\b)"
)
BORDER = re.compile(r"[\s|:-]+")
CELLS = re.compile(r"\s*\|\s*")
VERSION = re.compile(
    r"(?:versionadded::|\b[Nn]ew in(?: version)?|\b[Aa]dded in(?: version)?|\b[Ii]ntroduced in(?: version)?"
    r"|\b[Ss]ince(?: version)?):?\s+`?v?(\d+\.\d+(?:\.\d+)*)"
)
META = re.compile(
    r"[-+*] (?:Type|Default|Related|Required|Values?|Experimental)\b"
)  # what is said of a name beside its meaning
COMMON = re.compile(
    r"(?:.* )?(?:options?|configuration|settings|parameters|arguments|properties|usage|api|reference|notes?)",
    re.IGNORECASE,
)
SECTION_BLOCKS = 6  # of an entry that is a title


@dataclass(frozen=True, slots=True)
class Entry:
    """A named thing: the lines that say what it is, its default and the version that brought it, if they say so."""

    name: str
    path: str
    first: int
    last: int
    titles: tuple[str, ...]
    text: str
    default: str = ""
    version: str = ""
    is_alone: bool = True

    @property
    def topic(self) -> str:
        """Return the title that tells it from others of its name; empty if none does."""
        return next(
            (title for title in reversed(self.titles) if not COMMON.fullmatch(title) and title != self.name), ""
        )

    @property
    def said(self) -> str:
        """Return its name as one would ask for it."""
        return self.name if self.is_alone else f"{self.name} of {self.topic}"

    @property
    def sentence(self) -> str:
        """Return its first sentence without the full stop."""
        return re.split(r"(?<=[.!?])\s", self.text)[0].rstrip(".!: ")


@lru_cache(maxsize=64)
def entries_of(root: Path) -> Sequence[Entry]:
    """Return the entries that can be asked for: by their names, or by those and the titles above."""
    found = [entry for entry in _entries(blocks_of(root)) if len(entry.text) >= 12]
    alone = Counter(entry.name.lower() for entry in found)
    in_topic = Counter((entry.name.lower(), entry.topic.lower()) for entry in found)
    named = [replace(entry, is_alone=alone[entry.name.lower()] == 1) for entry in found]
    return [one for one in named if one.is_alone or (one.topic and in_topic[one.name.lower(), one.topic.lower()] == 1)]


def _entries(blocks: Sequence[Block]) -> Iterator[Entry]:
    header: Sequence[str] = ()
    for at, block in enumerate(blocks):
        line = block.raw[0]
        if line.lstrip().startswith("|") and not ROW.match(line) and not BORDER.fullmatch(line):
            header = [cell.lower() for cell in CELLS.split(plain(line).strip("| "))]
        if row := ROW.match(line):
            yield _of_row(block, row[1], header)
        elif item := ITEM.match(line):
            said = plain(" ".join((item["text"], *(one.strip() for one in block.raw[1:]))))
            yield _made(block, item["bold"] or item["code"], said)
        elif (directive := DIRECTIVE.match(line)) and len(block.raw) > 1:
            yield _made(block, directive[1], plain(" ".join(one.strip() for one in block.raw[1:])))
        elif block.titles and (at == 0 or blocks[at - 1].titles != block.titles):
            yield from _of_title(blocks[at : at + SECTION_BLOCKS], block)


def _of_row(block: Block, name: str, header: Sequence[str]) -> Entry:
    cells = CELLS.split(plain(block.raw[0]).strip().strip("|").strip())
    column = next((at for at, title in enumerate(header) if "default" in title), -1)
    default = cells[column].strip('`" ') if 0 < column < len(cells) else ""
    text = max(cells[1:], key=len, default="")
    version = VERSION.search(text)
    is_value = re.fullmatch(r"[\w.:/@%+-][\w.:/@%+ -]{0,39}", default) is not None
    return Entry(
        name,
        block.path,
        block.first,
        block.last,
        block.titles,
        text,
        default if is_value else "",
        version[1] if version else "",
    )


def _of_title(following: Sequence[Block], block: Block) -> Iterator[Entry]:
    """Yield the entry whose name is the title of these blocks."""
    name = HEADING_NAME.fullmatch(block.titles[-1])
    own = [one for one in following if one.titles == block.titles and one.path == block.path]
    if name and CODE_LIKE.search(name[1]):
        whole = Block(block.path, block.first, own[-1].last, block.titles, block.raw)
        told = _made(whole, name[1], " ".join(one.text for one in own))
        yield replace(told, text=" ".join(one.text for one in own if not META.match(one.text)))


def _made(block: Block, name: str, text: str) -> Entry:
    default, version = DEFAULT.search(text), VERSION.search(text)
    value = (default[1] or default[2]).strip('" ') if default else ""
    return Entry(name, block.path, block.first, block.last, block.titles, text, value, version[1] if version else "")
