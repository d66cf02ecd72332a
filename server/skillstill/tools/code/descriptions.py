"""Search by a description in plain words: the definitions, or stretches of files without any, that share its words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from anyio import from_thread

from skillstill.errors import Refusal
from skillstill.symbols import Symbol, language_of, symbols
from skillstill.tools.code.definitions import CodeDefinition
from skillstill.tools.code.outline import definition_line
from skillstill.tools.code.ranking import BODY, NAME, OWNER, SIGNATURE, RankedText, rank, stems
from skillstill.tools.kit.redaction import text_lines
from skillstill.tools.kit.tool import ROW, Line, Result
from skillstill.util.text import one_line, shorten
from skillstill.workspace import Workspace

SHOWN = 5
FEWEST = 3  # words that describe something; fewer are looked for as they stand
SAID = re.compile(r"[\w ,;:'\"/.()-]+")  # a description; anything else is a pattern
READ = 600  # files
REMEMBERED = 1_200  # files, by their bytes: the next search in a tree need not parse them again
STRETCH = 24  # lines of a file whose definitions are not known
KINDS = {"function", "method"}
# Sources that no grammar of ours reads.
SUFFIXES = (
    ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".m", ".swift", ".rb", ".php", ".pl", ".pm", ".sh", ".lua", ".cs", ".kt",
    ".scala", ".ex", ".exs", ".erl", ".hs", ".ml", ".r", ".jl", ".dart", ".zig", ".vim", ".el",
)  # fmt: skip
COMMENT = re.compile(r"\s*(?:#|//|/\*|\*)")
TESTS = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_|conftest)|_test\.")


def is_description(text: str) -> bool:
    return len(text.split()) >= FEWEST and SAID.fullmatch(text) is not None


def search_by_description(workspace: Workspace, files: Sequence[str], description: str) -> Result:
    """Return the likeliest of all definitions in these files.

    Call it in a worker thread only: it ends with the run if that is cancelled.
    """
    sources = [path for path in files if language_of(path) or path.endswith(SUFFIXES)]
    symbol_of = {text: symbol for path in sources[:READ] for text, symbol in _texts_in(workspace, path)}
    ranked = sorted(rank(description, [*symbol_of]), key=lambda text: TESTS.search(text.path) is not None)
    if not ranked:
        none = f"no hits for {description!r}, and none of {len(symbol_of)} definitions shares its words"
        missed = f"only {READ} of {len(sources)} sources were read" if len(sources) > READ else ""
        return Result((Line(none),), missed, empty=True)
    head = f"no hits; {min(SHOWN, len(ranked))} of {len(symbol_of)} definitions by these words, likeliest first"
    asked = {*stems(description)}
    return Result((Line(head), *(_text_line(workspace, text, symbol_of[text], asked) for text in ranked[:SHOWN])))


def _texts_in(workspace: Workspace, path: str) -> Sequence[tuple[RankedText, Symbol | None]]:
    from_thread.check_cancelled()
    try:
        return _parse_texts(path, workspace.read(path))
    except Refusal:
        return ()


@lru_cache(maxsize=REMEMBERED)
def _parse_texts(path: str, data: bytes) -> Sequence[tuple[RankedText, Symbol | None]]:
    """Return the functions of a file, or its stretches if nothing parses its language."""
    lines, language = text_lines(data), language_of(path)
    if language is None:
        return [(text, None) for text in _stretch_texts(path, lines)]
    functions = [symbol for symbol in symbols(data, language) if symbol.kind in KINDS]
    return [(RankedText.of(path, symbol.line, _fields(path, lines, symbol)), symbol) for symbol in functions]


def _fields(path: str, lines: Sequence[str], symbol: Symbol) -> Iterable[tuple[str, float]]:
    owner, _, name = symbol.name.rpartition(".")
    yield name, NAME
    yield f"{owner} {path}", OWNER
    yield f"{symbol.signature}\n{_comment_above(lines, symbol.line)}", SIGNATURE
    yield "\n".join(lines[symbol.line : symbol.end]), BODY


def _comment_above(lines: Sequence[str], line: int) -> str:
    """Return the lines of comment above a definition."""
    first = line - 1
    while first > 0 and COMMENT.match(lines[first - 1]):
        first -= 1
    return "\n".join(lines[first : line - 1])


def _stretch_texts(path: str, lines: Sequence[str]) -> Iterator[RankedText]:
    for first in range(0, len(lines), STRETCH):
        text = "\n".join(lines[first : first + STRETCH])
        yield RankedText.of(path, first + 1, ((text, BODY), (path, OWNER)))


def _text_line(workspace: Workspace, ranked: RankedText, symbol: Symbol | None, asked: set[str]) -> Line:
    """Return a definition as `outline` shows it, or the line of a stretch that shares most words."""
    if symbol:
        return definition_line(CodeDefinition(ranked.path, symbol), ROW)
    lines = text_lines(workspace.read(ranked.path))
    stretch = range(ranked.line, min(ranked.line + STRETCH, len(lines) + 1))
    best = max(stretch, key=lambda number: len(asked.intersection(stems(lines[number - 1]))))
    line = Line.at(ranked.path, best, one_line(lines[best - 1].strip(), ROW))
    return replace(line, text=shorten(line.text, ROW))
