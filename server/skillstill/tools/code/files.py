"""The tools that show files: list, find, read."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Annotated

from anyio import to_thread
from pydantic import Field

from skillstill.errors import Refusal
from skillstill.symbols import language_of
from skillstill.tools.code.callees import calls_defined_here
from skillstill.tools.kit.listing import left_out, place, quoted_name, rows
from skillstill.tools.kit.redaction import text_lines
from skillstill.tools.kit.ripgrep import BadPattern, matching_files, visible_files
from skillstill.tools.kit.tool import MAX_RESULT, ROW, Line, Result, fitting
from skillstill.tools.logs.stack_traces import innermost_call
from skillstill.types import Context, Copied, Grammar, PlaceReference, Rules, Span
from skillstill.util.text import clean, shorten
from skillstill.workspace import Workspace

WINDOW = 12  # lines of every `read`: one size, so that a model learns one; some 150 tokens of source
BEFORE = 2  # lines of it that stand before the line asked for
LISTED = 60  # names of a folder
SHOWN = 10  # paths that match
WORD = re.compile(r"[^\s:;,\"'`‘’“”<>|=*?!]+")
# With a folder, with an ending, or one of the files that have neither.
LIKE_A_FILE = re.compile(
    r"[^/]*/.*\w|.*\.[A-Za-z]\w*|[A-Z][a-z]*file|LICENSE|README|COPYING|NOTICE|AUTHORS|CHANGELOG", re.DOTALL
)

FilePath = Annotated[str, Field(max_length=200, description="path from the workspace root")]


async def list(workspace: Workspace, path: FilePath = ".") -> Result:
    """List a folder: its folders with their number of files, then its files."""
    real = workspace.resolve(await resolve_fuzzy(workspace, path))
    folder = workspace.relative(real)
    if not real.is_dir():
        raise Refusal(f"{folder} is a file: use outline or read")
    prefix = "" if folder == "." else folder + "/"
    inside = [file.removeprefix(prefix) for file in await visible_files(workspace, folder)]
    if not inside:
        return Result((Line(f"{folder}: no files but ignored ones", (Span(path=folder),)),), empty=True)
    folders = Counter(file.split("/")[0] for file in inside if "/" in file)
    files = [file for file in inside if "/" not in file]
    names = [
        (quoted_name(f"{name}/") + f" ({count})", Span(path=prefix + name)) for name, count in sorted(folders.items())
    ]
    names += [(quoted_name(name), Span(path=prefix + name)) for name in files]
    rest = [PurePosixPath(span.path).suffix or "other names" for _, span in names[LISTED:]]
    return Result((
        Line(f"{folder}: {len(inside)} files", (Span(path=folder),)),
        *rows(names[: min(LISTED, len(folders))]),
        *rows(names[len(folders) : LISTED]),
        *left_out(rest),
    ))  # fmt: skip


async def find(workspace: Workspace, glob: Annotated[str, Field(min_length=1, max_length=120)]) -> Result:
    """Find files by name: a name, a part of one, or a glob such as `*.py` or `src/**/test_*.py`."""
    bare = glob.removeprefix("./").strip("/")
    if not bare.strip():
        raise Refusal(f"{glob!r} names nothing: give a name, a part of one or a glob such as *.py")
    try:
        paths, remark = await _files_called(workspace, bare) or await matching_files(workspace, bare, "--glob"), ""
        if not paths:
            paths = await matching_files(workspace, f"**/*{bare}*", "--iglob")
            remark = ", as a part of the name in any case"
    except BadPattern as error:
        raise Refusal(f"not a glob: {glob!r}; examples: *.py, src/**/test_*.py, *.{{ts,tsx}}") from error
    if not paths:
        none = f"no file matches {glob!r} among {len(await visible_files(workspace))} files"
        return Result((Line(none),), empty=True)
    shown = (Line(path, (Span(path=path),)) for path in paths[:SHOWN])
    rest = left_out([path.rpartition("/")[0] or "." for path in paths[SHOWN:]])
    return Result((Line(f"{len(paths)} files match{remark}"), *shown, *rest))


async def _files_called(workspace: Workspace, name: str) -> Sequence[str]:
    """Return the files of a name that reads like a pattern, as `[id].tsx` does, and those in a folder of that name."""
    if not set("[]{}").intersection(name):
        return []
    return [file for file in await visible_files(workspace) if f"/{name}/" in f"/{file}/"]


def said_paths(context: Context) -> Rules:
    """Return the terminal of a Lark grammar for the words that read like a file; empty if none does.

    A trained model reads no other file.
    """
    words = {form for word in WORD.findall(context.text) for form in (word.rstrip("."), word.strip("()[]{}."))}
    files = filter(LIKE_A_FILE.fullmatch, sorted(words))
    return {"PATH": " | ".join(json.dumps(file, ensure_ascii=False) for file in files)}


async def read(
    workspace: Workspace,
    path: Annotated[FilePath, Copied(), Grammar(said_paths), PlaceReference(line="line")],
    line: Annotated[int, Field(ge=1)] = 1,
) -> Result:
    """Read 12 numbered lines of a file, from 2 lines before `line` on, and which of what they call is defined here."""
    path = await resolve_fuzzy(workspace, path)
    lines = await to_thread.run_sync(lambda: text_lines(workspace.read(path)))
    name = workspace.relative(workspace.resolve(path))
    if not lines:
        return Result((Line(f"{name} is empty", (Span(path=name),)),))
    if line > len(lines):
        raise Refusal(f"{name} has {len(lines)} lines: there is no line {line}")
    first = max(1, line - BEFORE)
    rows = [
        Line(shorten(f"{number}: {clean(text)}", ROW), (place(name, number),))
        for number, text in enumerate(lines[first - 1 : first - 1 + WINDOW], first)
    ]
    raised = await to_thread.run_sync(_raise_hint, name, lines, line)
    room = MAX_RESULT - len(f"{name} lines {len(lines)}-{len(lines)} of {len(lines)}\n")
    body = fitting(rows, room - sum(len(row.text) + 1 for row in raised))
    head = f"{name} lines {first}-{first + len(body) - 1} of {len(lines)}"
    called = await calls_defined_here(workspace, name, lines, range(first, first + len(body)), line)
    hint = [Line(shorten(f"of what it calls, defined here: {', '.join(called)}", ROW))] if called else raised
    return Result((Line(head, (Span(path=name),)), *fitting([*body, *hint], MAX_RESULT - len(head) - 1)))


def _raise_hint(name: str, lines: Sequence[str], line: int) -> Sequence[Line]:
    """Return what the stack trace around that line says, if there is one. Sources only quote traces."""
    call = None if language_of(name) else innermost_call(lines, line)
    return [Line.at(name, call[0], f"raised in {call[1]}")] if call else []


async def resolve_fuzzy(workspace: Workspace, path: str) -> str:
    """Return the path, or the one visible file or folder that ends like it. Raise Refusal if there is not just one."""
    try:
        workspace.resolve(path)
    except Refusal as refusal:
        files = await visible_files(workspace)
        near = _paths_ending_like(path, files)
        if len(near) == 1:
            return near[0]
        if near:
            raise Refusal(f"{path!r} may be {_alternatives(near)}: give the whole path") from None
        if same := _paths_ending_like(PurePosixPath(path).name, files):
            raise Refusal(f"{refusal}; there is {_alternatives(same)}") from None
        raise
    return path


def _paths_ending_like(path: str, files: Sequence[str]) -> Sequence[str]:
    """Return the files and folders whose last names are those of the path, shallow ones first."""
    wanted = path.removeprefix("./").strip("/")
    if not wanted:
        return []
    names = {name for file in files for name in (file, *map(str, PurePosixPath(file).parents))}
    near = [name for name in names if f"/{name}".endswith(f"/{wanted}")]
    return sorted(near, key=lambda name: (name.count("/"), name))


def _alternatives(paths: Sequence[str], shown: int = 4) -> str:
    more = f" or {len(paths) - shown} others" if len(paths) > shown else ""
    return " or ".join(paths[:shown]) + more
