"""Which of the functions that a stretch of source calls this workspace defines: where a reader may look next."""

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


async def called_here(workspace: Workspace, path: str, lines: Sequence[str], window: range, line: int) -> Sequence[str]:
    """In the order of the calls in those lines (numbered from 1) of the window that belong to the function at a line.

    Empty for what is no source, and where looking takes too long. By name alone, in languages that write a word before
    what they define: `json.loads` is taken for a `loads` of this workspace.
    """
    if not (language := language_of(path)):
        return ()
    inside = await to_thread.run_sync(_around, language, lines, line)
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


def _around(language: str, lines: Sequence[str], line: int) -> range:
    """The lines of the smallest definition that holds a line; all of them where none does."""
    text = "\n".join(lines)
    known = symbols(text.encode(), language) if len(text) <= PARSED else ()
    holding = (range(one.line, one.end + 1) for one in known if one.line <= line <= one.end)
    return min((range(1, len(lines) + 1), *holding), key=len)
