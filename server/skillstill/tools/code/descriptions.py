"""What a description in plain words means: the definitions, or stretches of files without any, that share its words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from anyio import from_thread

from skillstill.errors import Refusal
from skillstill.symbols import Symbol, language_of, symbols
from skillstill.tools.code.definitions import Definition
from skillstill.tools.code.files import text_lines
from skillstill.tools.code.outline import told
from skillstill.tools.code.ranking import BODY, NAME, OWNER, SIGNATURE, Thing, ranked, stems
from skillstill.tools.kit.listing import place
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


def described(workspace: Workspace, files: Sequence[str], description: str) -> Result:
    """The likeliest of all definitions in these files. In a worker thread only: a cancelled run ends here."""
    sources = [path for path in files if language_of(path) or path.endswith(SUFFIXES)]
    known = {thing: symbol for path in sources[:READ] for thing, symbol in _held(workspace, path)}
    found = sorted(ranked(description, [*known]), key=lambda thing: TESTS.search(thing.path) is not None)
    if not found:
        none = f"no hits for {description!r}, and none of {len(known)} definitions shares its words"
        missed = f"only {READ} of {len(sources)} sources were read" if len(sources) > READ else ""
        return Result((Line(none),), missed)
    head = f"no hits; {min(SHOWN, len(found))} of {len(known)} definitions by these words, likeliest first"
    asked = {*stems(description)}
    return Result((Line(head), *(_row(workspace, thing, known[thing], asked) for thing in found[:SHOWN])))


def _held(workspace: Workspace, path: str) -> Sequence[tuple[Thing, Symbol | None]]:
    from_thread.check_cancelled()
    try:
        return _things(path, workspace.read(path))
    except Refusal:
        return ()


@lru_cache(maxsize=REMEMBERED)
def _things(path: str, data: bytes) -> Sequence[tuple[Thing, Symbol | None]]:
    """What a file holds: its functions, or stretches where they are not known."""
    lines, language = text_lines(data), language_of(path)
    if language is None:
        return [(thing, None) for thing in _stretches(path, lines)]
    functions = [one for one in symbols(data, language) if one.kind in KINDS]
    return [(Thing.of(path, one.line, _fields(path, lines, one)), one) for one in functions]


def _fields(path: str, lines: Sequence[str], symbol: Symbol) -> Iterable[tuple[str, float]]:
    owner, _, name = symbol.name.rpartition(".")
    yield name, NAME
    yield f"{owner} {path}", OWNER
    yield f"{symbol.signature}\n{_remark(lines, symbol.line)}", SIGNATURE
    yield "\n".join(lines[symbol.line : symbol.end]), BODY


def _remark(lines: Sequence[str], line: int) -> str:
    """The lines of comment above a definition."""
    first = line - 1
    while first > 0 and COMMENT.match(lines[first - 1]):
        first -= 1
    return "\n".join(lines[first : line - 1])


def _stretches(path: str, lines: Sequence[str]) -> Iterator[Thing]:
    for first in range(0, len(lines), STRETCH):
        text = "\n".join(lines[first : first + STRETCH])
        yield Thing.of(path, first + 1, ((text, BODY), (path, OWNER)))


def _row(workspace: Workspace, thing: Thing, symbol: Symbol | None, asked: set[str]) -> Line:
    """A definition as `outline` tells it; of a stretch the line that shares most words."""
    if symbol:
        return told(Definition(thing.path, symbol), ROW)
    lines = text_lines(workspace.read(thing.path))
    stretch = range(thing.line, min(thing.line + STRETCH, len(lines) + 1))
    best = max(stretch, key=lambda number: len(asked.intersection(stems(lines[number - 1]))))
    text = f"{thing.path}:{best}: {one_line(lines[best - 1].strip(), ROW)}"
    return Line(shorten(text, ROW), (place(thing.path, best),))
