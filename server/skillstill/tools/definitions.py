"""Where a workspace defines a name: as it stands, else in any spelling."""

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from anyio import to_thread

from skillstill.symbols import Symbol, language_of
from skillstill.tools.ripgrep import files_with_spelling, files_with_word
from skillstill.tools.sources import symbols_of
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
    """Names are the `same` where this makes the same of both; `files` are those in which one can stand."""

    remark: str
    same: Callable[[str], str]
    files: Callable[[Workspace, str], Awaitable[list[str]]]


@dataclass(frozen=True, slots=True)
class Found:
    """The definitions of a name in the first spelling that has any, and where the word stands in it."""

    spelling: Spelling
    named: Sequence[Definition]
    files: Sequence[str]
    sources: int

    def ending_in(self, ending: str) -> list[Definition]:
        wanted = "." + self.spelling.same(ending)
        return [one for one in self.named if ("." + self.spelling.same(one.name)).endswith(wanted)]


def letters(name: str) -> str:
    """What is left of a name however it is joined: `HTTPServer.get_item` is httpserver.getitem."""
    return re.sub(r"[\s_-]", "", name).casefold()


async def _with_letters(workspace: Workspace, word: str) -> list[str]:
    return await files_with_spelling(workspace, letters(word)) if letters(word) else []


AS_IT_STANDS = Spelling("", str, partial(files_with_word, case="--case-sensitive"))
SPELLINGS = (
    AS_IT_STANDS,
    Spelling("in other case", str.casefold, partial(files_with_word, case="--ignore-case")),
    Spelling("in another spelling", letters, _with_letters),
)


async def definitions(workspace: Workspace, word: str, spellings: Sequence[Spelling] = SPELLINGS) -> Found:
    """Of a name without an owner, in any file."""
    found = Found(AS_IT_STANDS, (), (), 0)
    for spelling in spellings:
        files = await spelling.files(workspace, word)
        sources = [path for path in files if language_of(path)]
        named = await to_thread.run_sync(_defined, workspace, sources[:PARSED], word, spelling.same)
        found = Found(spelling, named, files, len(sources))
        if named:
            break
    return found


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
