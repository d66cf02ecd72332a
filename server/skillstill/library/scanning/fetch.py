"""Where definitions come from: a folder, a file, a folder of repositories, or a git address that is cloned for a while.

A clone runs nothing of the repository's and asks the user nothing: no hooks, templates, submodules, filters (LFS among
them) or prompts, and only of so many seconds, bytes and files. Its files are byte for byte those of the commit.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from skillstill.errors import LibraryError, UsageError
from skillstill.util.text import one_line

SECONDS, BYTES, FILES = 600, 2_000_000_000, 200_000  # of one clone
_ADDRESS = re.compile(r"(?:https?|ssh|git|file)://\S+|[\w.-]+@[\w.-]+:(?!//)\S+")
_USER = re.compile(r"(?<=://)[^/@\s]*@")
_OFF = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.symlinks": "true",
    "core.autocrlf": "false",
    "core.askPass": "",
    "credential.interactive": "false",
    "filter.lfs.smudge": "",
    "filter.lfs.process": "",
    "filter.lfs.required": "false",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "advice.detachedHead": "false",
}
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GCM_INTERACTIVE": "never",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file",
    "LC_ALL": "C",
}
_RAW = "* -text -eol -filter -ident -working-tree-encoding\n"


@dataclass(frozen=True, slots=True)
class FetchedSource:
    """`place` is a folder or a file; `name` an address without credentials, or an absolute path."""

    place: Path
    name: str
    commit: str = ""
    tree_ids: Mapping[str, str] | None = field(default=None, repr=False)


@contextmanager
def sources(what: str) -> Iterator[tuple[FetchedSource, ...]]:
    """Return the sources that a person named. A clone is there inside the block alone.

    Raise LibraryError and UsageError.
    """
    if not what.strip():  # as a path, it would be the current folder
        raise UsageError("expected a folder, a file or the address of a git repository, got nothing")
    if _ADDRESS.fullmatch(what) and not Path(what).exists():
        with tempfile.TemporaryDirectory(prefix="skillstill-", ignore_cleanup_errors=True) as folder:
            yield (_clone(what, Path(folder) / _clone_name(what)),)
    else:
        yield _local(Path(what).expanduser())


def _local(place: Path) -> tuple[FetchedSource, ...]:
    """Return a folder of repositories is as many sources; any other is one."""
    if not place.exists():
        raise LibraryError(
            f"expected a folder, a file or the address of a git repository, got {one_line(str(place), 200)}"
        )
    inner = sorted(folder for folder in place.iterdir() if folder.is_dir()) if place.is_dir() else []
    if any((folder / ".git").exists() for folder in inner) and not (place / ".git").exists():
        return tuple(_source_of_clone(folder) for folder in inner if not folder.is_symlink())
    return (_source_of_clone(place),)


def _source_of_clone(place: Path) -> FetchedSource:
    """Return the source by a clone's address. Its git is not asked: a stranger's configuration can run programs."""
    git = place / ".git"
    address = _origin(git) if git.is_dir() else ""
    return FetchedSource(place, address or str(place.resolve()), _head(git) if git.is_dir() else "")


def _origin(git: Path) -> str:
    found = re.search(
        r'^\[remote "origin"\][^\[]*?^\s*url\s*=\s*(\S+)', _text(git / "config"), re.MULTILINE | re.DOTALL
    )
    return public(found[1]) if found and _ADDRESS.fullmatch(found[1]) else ""


def _head(git: Path) -> str:
    head = _text(git / "HEAD").strip()
    if reference := re.fullmatch(r"ref: (refs/[\w./+@-]+)", head):
        packed = re.search(
            rf"^([0-9a-f]{{40,64}}) {re.escape(reference[1])}$", _text(git / "packed-refs"), re.MULTILINE
        )
        loose = "" if ".." in reference[1] else _text(git / reference[1]).strip()
        head = loose or (packed[1] if packed else "")
    return head if re.fullmatch(r"[0-9a-f]{40,64}", head) else ""


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    except OSError:
        return ""


def public(address: str) -> str:
    """Return an address without the name and password in it, and without the ending that may as well be left out."""
    return _USER.sub("", address).rstrip("/").removesuffix(".git")


def _clone_name(address: str) -> str:
    """Return the name that git gives the folder of a clone: a skill at its top is called so."""
    parts = [part for part in re.split(r"[/:]", public(address)) if part.strip(".")]
    return re.sub(r"[^\w.-]", "-", parts[-1])[:100]


def _clone(address: str, folder: Path) -> FetchedSource:
    if shutil.which("git") is None:
        raise LibraryError("git is not installed: clone the repository elsewhere and import its folder")
    until = time.monotonic() + SECONDS
    depth = ["--depth=1", "--single-branch", "--no-tags", "--no-checkout", "--no-recurse-submodules", "--template="]
    _git(["clone", "--quiet", *depth, "--", address, str(folder)], address, folder, until)
    ids = _trees(
        _git(["-C", str(folder), "ls-tree", "-r", "-t", "-z", "--long", "HEAD"], address, folder, until), address
    )
    (folder / ".git" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "info" / "attributes").write_text(_RAW, encoding="utf-8")
    _git(["-C", str(folder), "checkout", "--quiet", "--force", "--detach", "HEAD"], address, folder, until)
    return FetchedSource(folder, public(address), _head(folder / ".git"), ids)


def _trees(listed: bytes, address: str) -> Mapping[str, str]:
    """Return git's ids of the folders. Raise LibraryError before a few objects become more files than a disk holds."""
    ids: dict[str, str] = {}
    files = size = 0
    for line in filter(None, listed.split(b"\0")):
        (_, kind, number, length), path = line.partition(b"\t")[0].split(), line.partition(b"\t")[2]
        files += 1
        size += int(length) if length.isdigit() else 0
        if kind == b"tree":
            ids[path.decode("utf-8", "replace")] = number.decode()
    if files > FILES or size > BYTES:
        raise LibraryError(
            f"{_shown(address)} holds {files} files of {size >> 20} MB: clone it and import a folder of it"
        )
    return ids


def _git(arguments: list[str], address: str, folder: Path, until: float) -> bytes:
    """Return what it prints.

    Raise LibraryError: git's own last line, or which limit was passed; the clone is gone then.
    """
    options = [word for key, value in _OFF.items() for word in ("-c", f"{key}={value}")]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as complaints:
        with subprocess.Popen(
            ["git", *options, *arguments],
            env=os.environ | _QUIET,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=complaints,
            start_new_session=True,
        ) as running:
            try:
                limit = _run_watched(running, folder, out.fileno(), until)
            finally:
                _end(running)
        if limit or running.returncode:
            complaints.seek(0)
            lines = complaints.read(100_000).decode("utf-8", "replace").strip().split("\n")
            why = limit or next((line for line in lines if line.startswith("fatal:")), lines[-1]).removeprefix(
                "fatal: "
            )
            raise LibraryError(f"{_shown(address)} was not imported: {one_line(_USER.sub('', why), 300)}")
        out.seek(0)
        return out.read()


def _run_watched(running: "subprocess.Popen[bytes]", folder: Path, out: int, until: float) -> str:
    """Return which limit was passed; empty if it ended by itself."""
    while True:
        try:
            running.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            if time.monotonic() > until:
                return f"not done after {SECONDS} seconds"
            if _size(folder) + os.fstat(out).st_size > BYTES:
                return f"larger than {BYTES >> 20} MB"
        else:
            return ""


def _size(folder: Path) -> int:
    """Return the bytes of the packs and lists that have arrived; files that vanish meanwhile count nothing."""
    size = 0
    for top, _, names in os.walk(folder / ".git" / "objects"):
        for name in names:
            try:
                size += (Path(top) / name).lstat().st_size
            except OSError:
                continue
    return size


def _end(running: "subprocess.Popen[bytes]") -> None:
    """Kill the process and all that it started, whether it is done or not."""
    if running.poll() is None:
        os.killpg(running.pid, signal.SIGKILL)


def _shown(address: str) -> str:
    return one_line(public(address), 200)
