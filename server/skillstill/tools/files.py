"""The tools that show files: list, find, read."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from anyio import to_thread
from pathspec import GitIgnoreSpec
from pydantic import Field

from skillstill.errors import Refusal
from skillstill.text import shorten
from skillstill.tools.listing import left_out, place, rows
from skillstill.tools.ripgrep import visible_files
from skillstill.tools.tool import ROW, Line, Result
from skillstill.types import Span
from skillstill.workspace import Workspace

WINDOW = 30  # lines of every `read`: one size, so that a model learns one
BEFORE = 4  # lines of it that stand before the line asked for
SHOWN = 20  # paths of a listing

FilePath = Annotated[str, Field(max_length=160, description="path from the workspace root")]


async def list(workspace: Workspace, path: FilePath = ".") -> Result:
    """List a folder: its folders with their number of files, then its files."""
    real = workspace.resolve(path)
    if not real.is_dir():
        raise Refusal(f"{path!r} is a file: use outline or read")
    folder = workspace.relative(real)
    prefix = "" if folder == "." else folder + "/"
    inside = [file.removeprefix(prefix) for file in await visible_files(workspace, folder)]
    if not inside:
        return Result((Line(f"{folder}: no files", (Span(path=folder),)),))
    folders = Counter(file.split("/")[0] for file in inside if "/" in file)
    files = [file for file in inside if "/" not in file]
    return Result((
        Line(f"{folder}: {len(inside)} files", (Span(path=folder),)),
        *rows([(f"{name}/ ({count})", Span(path=prefix + name)) for name, count in sorted(folders.items())]),
        *rows([(name, Span(path=prefix + name)) for name in files]),
    ))  # fmt: skip


async def find(workspace: Workspace, glob: Annotated[str, Field(min_length=1, max_length=120)]) -> Result:
    """Find files by name: a name, a part of one, or a glob such as `*.py` or `src/**/test_*.py`."""
    files = await visible_files(workspace)
    for pattern, remark in ((glob, ""), (f"*{glob}*", ", as a part of the name")):
        if found := _matching(files, pattern):
            shown = (Line(path, (Span(path=path),)) for path in found[:SHOWN])
            rest = left_out([path.rpartition("/")[0] or "." for path in found[SHOWN:]])
            return Result((Line(f"{len(found)} files match{remark}"), *shown, *rest))
    return Result((Line(f"no file matches {glob!r} among {len(files)} files"),))


async def read(workspace: Workspace, path: FilePath, line: Annotated[int, Field(ge=1)] = 1) -> Result:
    """Read 30 numbered lines of a file, from 4 lines before `line` on."""
    path = await settle(workspace, path)
    lines = await to_thread.run_sync(lambda: text_lines(workspace.read(path)))
    if line > max(len(lines), 1):
        raise Refusal(f"{path} has {len(lines)} lines: there is no line {line}")
    first = max(1, line - BEFORE)
    shown = lines[first - 1 : first - 1 + WINDOW]
    name = workspace.relative(workspace.resolve(path))
    head = f"{name} lines {first}-{first + len(shown) - 1} of {len(lines)}" if lines else f"{name} is empty"
    body = (Line(shorten(f"{number}: {text}", ROW), (place(name, number),)) for number, text in enumerate(shown, first))
    return Result((Line(head, (Span(path=name),)), *body))


async def settle(workspace: Workspace, path: str) -> str:
    """The path itself; else the one visible file that ends like it. Raises Refusal."""
    try:
        workspace.resolve(path)
    except Refusal:
        ending = "/" + path.strip("/")
        near = [file for file in await visible_files(workspace) if ("/" + file).endswith(ending)]
        if len(near) > 1:
            raise Refusal(f"{path!r} may be {' or '.join(near[:5])}: give the whole path") from None
        if not near:
            raise
        return near[0]
    return path


def text_lines(data: bytes) -> Sequence[str]:
    """The lines as ripgrep and editors number them: only a line feed ends one."""
    lines = data.decode("utf-8-sig", "replace").split("\n")
    return [line.rstrip("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]


def _matching(files: Sequence[str], glob: str) -> Sequence[str]:
    literal = "\\" + glob if glob[0] in "!#" else glob  # in gitignore's language these two would mean something else
    try:
        spec = GitIgnoreSpec.from_lines([literal])
    except ValueError as error:
        raise Refusal(f"not a glob: {glob!r}; examples: *.py, src/**/test_*.py") from error
    return [file for file in files if spec.match_file(file)]
