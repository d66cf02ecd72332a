"""Where a workspace defines a name: as it stands, else in any spelling."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from anyio import to_thread

from skillstill.symbols import Symbol, language_of
from skillstill.tools.code.callees import HEAD
from skillstill.tools.code.sources import symbols_of
from skillstill.tools.kit.ripgrep import Case, files_with_word, matching_lines
from skillstill.workspace import Workspace

PARSED = 300  # files that are parsed for one name


@dataclass(frozen=True, slots=True)
class Definition:
    path: str
    symbol: Symbol

    @property
    def name(self) -> str:
        """Its whole name, the file's path taken for that of a module: `shop.cart.Cart.add`."""
        return f"{self.path.rpartition('.')[0].replace('/', '.')}.{self.symbol.name}".replace(".__init__.", ".", 1)

    @property
    def owner(self) -> str:
        """What holds it inside its file: `Cart` of `Cart.add`; empty at the top."""
        return self.symbol.name.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class Spelling:
    """Names are the `same` where this makes the same of both; the `pattern` of one matches wherever it can stand."""

    remark: str
    same: Callable[[str], str]
    pattern: Callable[[str], str]
    case: Case


@dataclass(frozen=True, slots=True)
class Found:
    """The definitions of a name in the first spelling that has any, and where the word stands in it."""

    spelling: Spelling
    named: Sequence[Definition]
    files: Sequence[str]
    sources: int

    @property
    def is_whole(self) -> bool:
        """Whether all of the sources with the word were parsed."""
        return self.sources <= PARSED

    def ending_in(self, ending: str) -> list[Definition]:
        wanted = "." + self.spelling.same(ending)
        return [one for one in self.named if ("." + self.spelling.same(one.name)).endswith(wanted)]


def letters(name: str) -> str:
    """What is left of a name however it is joined: `HTTPServer.get_item` is httpserver.getitem."""
    return re.sub(r"[\s_-]", "", name).casefold()


def _underscored(name: str) -> str:
    return "_*".join(map(re.escape, letters(name)))


AS_IT_STANDS = Spelling("", str, re.escape, "--case-sensitive")
SPELLINGS = (
    AS_IT_STANDS,
    Spelling("in other case", str.casefold, re.escape, "--ignore-case"),
    Spelling("in another spelling", letters, _underscored, "--ignore-case"),
)


async def definitions(workspace: Workspace, word: str, spellings: Sequence[Spelling] = SPELLINGS) -> Found:
    """Of a name without an owner, in any file. No other spelling is tried where files with the word stay unread."""
    found = Found(AS_IT_STANDS, (), (), 0)
    for spelling in spellings:
        found = await _spelled(workspace, word, spelling)
        if found.named or not found.is_whole:
            break
    return found


async def _spelled(workspace: Workspace, word: str, spelling: Spelling) -> Found:
    pattern = spelling.pattern(word)
    files = await files_with_word(workspace, pattern, spelling.case) if pattern else []
    sources = [path for path in files if language_of(path)]
    if len(sources) > PARSED:
        hits = await matching_lines(workspace, _definition_of(pattern), workspace.root, spelling.case)
        likely = {hit.path for hit in hits.found}
        sources.sort(key=lambda path: path not in likely)
    named = await to_thread.run_sync(_defined, workspace, sources[:PARSED], word, spelling.same)
    return Found(spelling, named, files, len(sources))


def _definition_of(pattern: str) -> str:
    """Matches lines that look as if they defined the name: in which files to try first."""
    words = rf"\b(?:type|trait|const|let|var|mod)\s+{pattern}\b"
    return rf"{HEAD}{pattern}\b|{words}|^{pattern}\s*[:=]|\b{pattern}\(.*\{{\s*$"


def last(name: str) -> str:
    """What stands behind the last dot."""
    return name.rpartition(".")[2]


def _defined(workspace: Workspace, paths: Iterable[str], word: str, same: Callable[[str], str]) -> list[Definition]:
    return [
        Definition(path, symbol)
        for path in paths
        for symbol in symbols_of(workspace, path)
        if same(last(symbol.name)) == same(word)
    ]
