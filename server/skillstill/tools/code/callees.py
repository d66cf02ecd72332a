"""The functions that a stretch of source calls and this workspace defines: where a reader may look next."""

import re
from collections.abc import Sequence

from anyio import to_thread

from skillstill.errors import Refusal
from skillstill.symbols import language_of, symbols
from skillstill.tools.kit.ripgrep import matching_lines
from skillstill.tools.kit.tool import ROW
from skillstill.workspace import Workspace

WORDS = "def|class|fn|func|function|struct|enum|interface|record"  # that stand before a name that is defined
BEFORE = (
    r"(?:(?:export|default|pub|async|static|public|private|protected|abstract|final|const|unsafe)(?:\([a-z]+\))? +)*"
)
HEAD = rf"^\s*{BEFORE}(?:{WORDS})\s+(?:\([^)\n]{{0,80}}\)\s*)?"
DEFINED = re.compile(HEAD + r"(\w+)", re.MULTILINE)
CALLED = re.compile(r"(?<![\w@])([A-Za-z_]\w{2,60})\(")
REMARK = re.compile(r"^\s*(?:#|//|\*).*", re.MULTILINE)
PARSED = 300_000  # characters of a file; in a longer one nobody looks where the function ends
MOST = 40  # names that are looked for
SHOWN = 6


async def calls_defined_here(
    workspace: Workspace, path: str, lines: Sequence[str], window: range, line: int
) -> Sequence[str]:
    """Return the names that the function around a line calls and this workspace defines, in the order of the calls.

    Only calls in the lines of the window count; lines are numbered from 1. Return nothing if the file is no source, or
    if looking takes too long. Names alone are compared: `json.loads` is taken for a `loads` of this workspace.
    Definitions are found in languages that write a word before them, such as `def`.
    """
    if not (language := language_of(path)):
        return ()
    inside = await to_thread.run_sync(_enclosing_lines, language, lines, line)
    shown = REMARK.sub("", "\n".join(lines[number - 1][:ROW] for number in window if number in inside))
    own = {*DEFINED.findall(shown)}
    called = [name for name in dict.fromkeys(CALLED.findall(shown)) if name not in own][:MOST]
    if not called:
        return ()
    try:
        hits = await matching_lines(workspace, rf"{HEAD}(?:{'|'.join(called)})\b", workspace.root, "--case-sensitive")
    except Refusal:
        return ()
    defined = {name for hit in hits.found if language_of(hit.path) for name in DEFINED.findall(hit.text)}
    return [name for name in called if name in defined][:SHOWN]


def _enclosing_lines(language: str, lines: Sequence[str], line: int) -> range:
    """Return the lines of the smallest definition around a line, or all lines if it is in none."""
    text = "\n".join(lines)
    parsed = symbols(text.encode(), language) if len(text) <= PARSED else ()
    around = (range(symbol.line, symbol.end + 1) for symbol in parsed if symbol.line <= line <= symbol.end)
    return min((range(1, len(lines) + 1), *around), key=len)
