"""Which of the functions that a stretch of source calls this workspace defines: where a reader may look next."""

import re
from collections.abc import Sequence

from anyio import to_thread

from skillstill.symbols import Symbol, language_of, symbols
from skillstill.tools.ripgrep import matching_lines
from skillstill.workspace import Workspace

WORDS = "def|class|fn|func|function|struct|enum|interface|record"  # that stand before a name that is defined
HEAD = rf"\b(?:{WORDS})\s+(?:\([^)]*\)\s*)?"
DEFINED = re.compile(HEAD + r"(\w+)")
CALLED = re.compile(r"(?<![\w@])([A-Za-z_]\w{2,})\(")
MOST = 40  # names that are looked for
SHOWN = 6


async def called_here(workspace: Workspace, path: str, lines: Sequence[str], window: range, line: int) -> Sequence[str]:
    """In the order of the calls in those lines (numbered from 1) of the window that belong to the function at a line.

    None for what is no source. Known are the definitions of languages that write a word before them.
    """
    inside = await to_thread.run_sync(_around, path, lines, line)
    shown = "\n".join(lines[number - 1] for number in window if number in inside)
    called = [name for name in dict.fromkeys(CALLED.findall(shown)) if name not in DEFINED.findall(shown)]
    if not called:
        return ()
    pattern = rf"{HEAD}(?:{'|'.join(called[:MOST])})\b"
    hits = await matching_lines(workspace, pattern, workspace.root, "--case-sensitive")
    defined = {name for hit in hits.found for name in DEFINED.findall(hit.text)}
    return [name for name in called if name in defined][:SHOWN]


def _around(path: str, lines: Sequence[str], line: int) -> range:
    """The lines of the smallest definition that holds a line; all of them where none does."""
    language = language_of(path)
    if language is None:
        return range(0)
    whole = Symbol("", "module", 1, len(lines), "")
    holding = [one for one in symbols("\n".join(lines).encode(), language) if one.line <= line <= one.end]
    inner = min([whole, *holding], key=lambda one: one.end - one.line)
    return range(inner.line, inner.end + 1)
