"""Where a workspace defines a name: as it is written, else in any spelling."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from anyio import from_thread, to_thread

from skillstill.errors import Refusal
from skillstill.symbols import Symbol, language_of, symbols
from skillstill.tools.code.callees import HEAD
from skillstill.tools.kit.ripgrep import Case, files_with_word, matching_lines
from skillstill.workspace import Workspace

PARSED = 300  # files that are parsed for one name


@dataclass(frozen=True, slots=True)
class CodeDefinition:
    """A symbol and the file that defines it."""

    path: str
    symbol: Symbol

    @property
    def name(self) -> str:
        """Return the whole name, with the file's path as that of a module: `shop.cart.Cart.add`."""
        return f"{self.path.rpartition('.')[0].replace('/', '.')}.{self.symbol.name}".replace(".__init__.", ".", 1)

    @property
    def owner(self) -> str:
        """Return what holds the symbol inside its file: `Cart` of `Cart.add`; empty at the top level."""
        return self.symbol.name.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class Spelling:
    """A way to compare names: two are the same if `normalise` makes the same of both.

    The regular expression that `pattern` makes of a name matches every name that may be the same.
    """

    remark: str
    normalise: Callable[[str], str]
    pattern: Callable[[str], str]
    case: Case


@dataclass(frozen=True, slots=True)
class NameLookup:
    """The definitions of a name in the first spelling that has any.

    `files` are all files that hold the word, `sources` is the number of those in a known language.
    """

    spelling: Spelling
    definitions: Sequence[CodeDefinition]
    files: Sequence[str]
    sources: int

    @property
    def is_complete(self) -> bool:
        """Return whether all sources that hold the word were parsed."""
        return self.sources <= PARSED

    def with_ending(self, ending: str) -> list[CodeDefinition]:
        """Return the definitions whose whole name ends with these parts."""
        normalise = self.spelling.normalise
        wanted = "." + normalise(ending)
        return [definition for definition in self.definitions if ("." + normalise(definition.name)).endswith(wanted)]


def fold_name(name: str) -> str:
    """Return a name without case and without what joins its words: `HTTPServer.get_item` is httpserver.getitem."""
    return re.sub(r"[\s_-]", "", name).casefold()


def _folded_pattern(name: str) -> str:
    return "_*".join(map(re.escape, fold_name(name)))


AS_IT_STANDS = Spelling("", str, re.escape, "--case-sensitive")
SPELLINGS = (
    AS_IT_STANDS,
    Spelling("in other case", str.casefold, re.escape, "--ignore-case"),
    Spelling("in another spelling", fold_name, _folded_pattern, "--ignore-case"),
)


async def find_definitions(workspace: Workspace, word: str, spellings: Sequence[Spelling] = SPELLINGS) -> NameLookup:
    """Return the definitions of a name without an owner, in any file.

    No other spelling is tried if files that hold the word were left unparsed.
    """
    lookup = NameLookup(AS_IT_STANDS, (), (), 0)
    for spelling in spellings:
        lookup = await _find_spelled(workspace, word, spelling)
        if lookup.definitions or not lookup.is_complete:
            break
    return lookup


async def _find_spelled(workspace: Workspace, word: str, spelling: Spelling) -> NameLookup:
    pattern = spelling.pattern(word)
    files = await files_with_word(workspace, pattern, spelling.case) if pattern else []
    sources = [path for path in files if language_of(path)]
    if len(sources) > PARSED:
        hits = await matching_lines(workspace, _definition_pattern(pattern), workspace.root, spelling.case)
        likely = {hit.path for hit in hits.found}
        sources.sort(key=lambda path: path not in likely)
    definitions = await to_thread.run_sync(_definitions_in, workspace, sources[:PARSED], word, spelling.normalise)
    return NameLookup(spelling, definitions, files, len(sources))


def _definition_pattern(pattern: str) -> str:
    """Return a pattern of lines that look as if they defined the name: it decides which files are parsed first."""
    words = rf"\b(?:type|trait|const|let|var|mod)\s+{pattern}\b"
    return rf"{HEAD}{pattern}\b|{words}|^{pattern}\s*[:=]|\b{pattern}\(.*\{{\s*$"


def basename(name: str) -> str:
    """Return what follows the last dot."""
    return name.rpartition(".")[2]


def _definitions_in(
    workspace: Workspace, paths: Iterable[str], word: str, normalise: Callable[[str], str]
) -> list[CodeDefinition]:
    return [
        CodeDefinition(path, symbol)
        for path in paths
        for symbol in symbols_of(workspace, path)
        if normalise(basename(symbol.name)) == normalise(word)
    ]


def symbols_of(workspace: Workspace, path: str) -> tuple[Symbol, ...]:
    """Return the symbols of a file, none if it is refused or of no known language.

    Call it in a worker thread only: it ends with the run if that is cancelled.
    """
    from_thread.check_cancelled()
    language = language_of(path)
    try:
        return symbols(workspace.read(path), language) if language else ()
    except Refusal:
        return ()
