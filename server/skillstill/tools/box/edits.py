"""The tools that write files."""

from pathlib import PurePosixPath
from typing import Annotated

from pydantic import Field

from skillstill.errors import Refusal
from skillstill.tools.box.output import sandbox_of
from skillstill.tools.kit.listing import place
from skillstill.tools.kit.tool import ROW, Line, Result
from skillstill.types import Span
from skillstill.util.text import shorten
from skillstill.workspace import MAX_BYTES, Workspace

SHOWN = 12  # lines of an edit
FilePath = Annotated[str, Field(min_length=1, max_length=200, description="path from the workspace root")]
Text = Annotated[str, Field(max_length=200_000)]


async def write(workspace: Workspace, path: FilePath, content: Text) -> Result:
    """Write a file, whatever was in it before. Folders above it are made. To change a part of a file use edit."""
    file = _writable(workspace, path)
    await sandbox_of(workspace).write(file, content.encode())
    last = len(content.splitlines())
    return Result((Line(f"{file}: written, {last} lines", (Span(path=file, first=min(1, last), last=last),)),))


async def edit(
    workspace: Workspace,
    path: FilePath,
    old: Annotated[str, Field(min_length=1, max_length=20_000, description="the text to replace, exactly as it is")],
    new: Text,
) -> Result:
    """Replace a text in a file. It must be there exactly once, with its spaces and line ends."""
    file, sandbox = _writable(workspace, path), sandbox_of(workspace)
    before = await _text(workspace, file)
    if (count := before.count(old)) != 1:
        raise Refusal(f"{file}: {_where(before, old, count)}")
    start = before.count("\n", 0, before.index(old)) + 1
    after = before.replace(old, new)
    await sandbox.write(file, after.encode())
    return Result((Line(f"{file}: edited"), *_shown(file, after, start, new)))


def _writable(workspace: Workspace, path: str) -> str:
    """Return the path of a file that may be written. Raise Refusal."""
    file = PurePosixPath(path)
    if file.is_absolute() or ".." in file.parts or "\0" in path:
        raise Refusal(f"{path!r} may not begin with '/' or contain '..' or NUL: give a path from the workspace root")
    if workspace.is_secret(path):
        raise Refusal(f"{path!r} may hold secrets and is not written")
    return str(file)


async def _text(workspace: Workspace, file: str) -> str:
    data = await sandbox_of(workspace).read(file, MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise Refusal(f"{file}: more than {MAX_BYTES:,} bytes are not edited: use python")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Refusal(f"{file} is no UTF-8 text: use python") from error


def _where(text: str, old: str, count: int) -> str:
    """Return why the text cannot be replaced, and what to do."""
    if count:
        lines = [number for number, line in enumerate(text.splitlines(), 1) if old.splitlines()[0] in line][:5]
        return f"this text is there {count} times (lines {', '.join(map(str, lines))}): give more of what is around it"
    if len(found := [line for line in text.splitlines() if line.strip() == old.strip()]) == 1:
        return f"no such text; one line is so but for spaces: {found[0]!r}"
    return "no such text: read the file and give it exactly as it is"


def _shown(file: str, text: str, start: int, new: str) -> list[Line]:
    """Return the lines that are new, as far as they have room."""
    lines = text.split("\n")[start - 1 :][: max(1, len(new.split("\n")))]
    shown = [Line.at(file, number, shorten(line, ROW)) for number, line in enumerate(lines[:SHOWN], start)]
    rest = len(lines) - len(shown)
    return [*shown, *([Line(f"… {rest} more lines", (place(file, start),), omits=rest)] if rest else [])]
