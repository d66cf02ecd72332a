"""What a teacher is shown of a workspace before it asks about it: what our own tools show, and pieces of some files."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from skillstill.errors import Refusal
from skillstill.tools import TOOLS
from skillstill.util.text import clean, one_line, shorten
from skillstill.workspace import Workspace

WHOLE, FILES, LINES, WIDTH = 9_000, 4, 40, 160  # characters in all; files, their lines, characters of a line
LARGEST = 400_000  # bytes of a file that is opened for it
FIRST = ("describe", "list")  # tools that need no argument


async def glimpse(root: Path, tools: Sequence[str], rng: Random) -> str:
    """Return another one for another state of the random generator."""
    workspace = Workspace(root)
    shown = [
        f"`{name}` shows:\n{await _shown_text(name, workspace)}" for name in FIRST if name in tools or name == "list"
    ]
    return shorten("\n\n".join([*shown, *_pieces(root, rng)]), WHOLE)


async def _shown_text(name: str, workspace: Workspace) -> str:
    try:
        return (await TOOLS[name].call(workspace, {})).text
    except Refusal as refusal:
        return str(refusal)


def _pieces(root: Path, rng: Random) -> Iterator[str]:
    files = [file for file in sorted(root.rglob("*")) if file.is_file() and file.stat().st_size <= LARGEST]
    rng.shuffle(files)
    texts = ((file, text) for file in files if (text := _text(file)))
    for _, (file, text) in zip(range(FILES), texts, strict=False):
        lines = text.split("\n")
        first = rng.randrange(max(1, len(lines) - LINES))
        path = file.relative_to(root).as_posix()
        yield "\n".join(
            f"{path}:{at}: {one_line(lines[at - 1], WIDTH)}"
            for at in range(first + 1, min(len(lines), first + LINES) + 1)
        )


def _text(file: Path) -> str:
    """Return the text of a file; empty if it is none."""
    try:
        text = file.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    return clean(text) if "\0" not in text else ""
