"""Claude Code: what it is told of this server, in which file and under which keys; added and taken away again.

Files and keys are those that Claude Code 2.1.329 was seen to use.
"""

import os
import re
import shlex
import shutil
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from skillstill.clients import document
from skillstill.clients.document import ABSENT, Place
from skillstill.errors import ClientError, UsageError

Scope = Literal["local", "project", "user"]
SERVER = "skillstill"
CALL_MILLISECONDS = 600_000  # Claude Code's own limit of one call; progress does not extend it
READ_AND_WRITE, OWNER_ONLY = 0o644, 0o600
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")
_RESERVED = {"workspace"}  # Claude Code refuses it


@dataclass(frozen=True)
class Change:
    """What was done, and where."""

    did: Literal["added", "updated", "replaced", "unchanged", "removed", "absent"]
    place: Place

    def __str__(self) -> str:
        if self.did == "unchanged":
            return f"nothing to change: {self.place} says so already"
        return f"nothing to remove: there is no {self.place}" if self.did == "absent" else f"{self.did} {self.place}"


def entry(command: Sequence[str], *, always_load: bool = True) -> dict[str, Any]:
    """What Claude Code keeps of a server that it starts. `always_load`: its tools need no search, for there are few."""
    loading = {"alwaysLoad": True} if always_load else {}
    return {
        "type": "stdio",
        "command": command[0],
        "args": list(command[1:]),
        **loading,
        "timeout": CALL_MILLISECONDS,
    }


def serving(workspace: Path | None = None) -> tuple[str, ...]:
    """The command that serves a folder, or the one that it is started in. Raises ClientError or UsageError."""
    command = (str(_executable()), "serve", *(("--workspace", str(_folder(workspace))) if workspace else ()))
    if any("${" in word for word in command):
        raise UsageError(f"Claude Code would replace the ${{...}} in {shlex.join(command)}: use another path")
    return command


def snippet(
    scope: Scope, project: Path, *, name: str = SERVER, workspace: Path | None = None, always_load: bool = True
) -> str:
    """What to type, and what to write for people who edit files. Raises ClientError or UsageError."""
    place, command = _place(scope, project, name), serving(workspace)
    typed = shlex.join(["claude", "mcp", "add", name, "--scope", scope, "--", *command])
    written = document.text({"mcpServers": {name: entry(command, always_load=always_load)}})
    under = ", under " + " > ".join(place.keys[:-2]) if place.keys[:-2] else ""
    return f"Type in {_folder(project)}:\n\n{typed}\n\nOr add to {place.file}{under}:\n\n{written}"


def install(
    scope: Scope,
    project: Path,
    *,
    name: str = SERVER,
    workspace: Path | None = None,
    always_load: bool = True,
    force: bool = False,
) -> Change:
    """Add this server, or bring its entry up to date. Raises ClientError or UsageError, the file left as it was."""
    place, wanted = _place(scope, project, name), entry(serving(workspace), always_load=always_load)
    found = document.find(place)
    if found == wanted:
        return Change("unchanged", place)
    if found is not ABSENT and not _ours(found) and not force:
        raise ClientError(f"another server is {place}: --force replaces it, --name adds this one beside it")
    document.put(place, wanted)
    return Change("added" if found is ABSENT else "updated" if _ours(found) else "replaced", place)


def uninstall(scope: Scope, project: Path, *, name: str = SERVER) -> Change:
    """Take away what `install` added, and nothing else. Raises ClientError or UsageError, the file left as it was."""
    place = _place(scope, project, name)
    found = document.find(place)
    if found is ABSENT:
        return Change("absent", place)
    if not _ours(found):
        raise ClientError(f"another server is {place}: `claude mcp remove {name} --scope {scope}` removes it")
    document.take_out(place)
    return Change("removed", place)


def _place(scope: Scope, project: Path, name: str) -> Place:
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise UsageError(f"a server's name is 1 to 64 of A-Z a-z 0-9 _ - and not `workspace`, not {name!r}")
    folder = _folder(project)
    try:
        if not Path.home().is_dir():
            raise ClientError(f"there is no home folder {Path.home()}: set HOME")
        if scope == "project":
            return Place((folder / ".mcp.json").resolve(), ("mcpServers", name), READ_AND_WRITE)
        above = ("projects", _project(folder)) if scope == "local" else ()
        return Place(_settings().resolve(), (*above, "mcpServers", name), OWNER_ONLY)
    except (OSError, RuntimeError) as error:
        raise ClientError(f"Claude Code's configuration cannot be found: {error}") from error


def _settings() -> Path:
    """Claude Code's own file; old installations have it under another name."""
    chosen = os.environ.get("CLAUDE_CONFIG_DIR")
    old = Path(chosen or Path.home() / ".claude") / ".config.json"
    return old if old.is_file() and old.stat().st_size else Path(chosen or Path.home()) / ".claude.json"


def _project(folder: Path) -> str:
    """What Claude Code calls a project: the git repository's main folder, elsewhere the folder itself."""
    root = next((above for above in (folder, *folder.parents) if (above / ".git").exists()), None)
    return str(_main_folder(root) if root else folder)


def _main_folder(root: Path) -> Path:
    """For one of git's linked worktrees, the repository that it is linked to; else `root`."""
    try:
        own = root / (root / ".git").read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        linked_back = (own / (own / "gitdir").read_text(encoding="utf-8").strip()).resolve()
        common = (own / (own / "commondir").read_text(encoding="utf-8").strip()).resolve()
    except (OSError, RuntimeError, ValueError):
        return root
    if linked_back != root / ".git":
        return root
    return common.parent if common.name == ".git" else common


def _folder(path: Path) -> Path:
    try:
        folder = path.expanduser().resolve(strict=True)
        str(folder).encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(f"the name of this folder is not UTF-8, which Claude Code needs: {str(path)!r}") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"no such folder: {path}") from error
    if not folder.is_dir():
        raise UsageError(f"not a folder: {path}")
    return folder


def _executable() -> Path:
    """By its whole path, for a client may be started with another PATH."""
    beside_python = Path(sysconfig.get_path("scripts"), "skillstill")
    found = shutil.which(beside_python) or shutil.which("skillstill")
    if not found:
        raise ClientError("the command `skillstill` is not installed here: type `pip install skillstill`")
    return Path(found).absolute()


def _ours(found: Any) -> bool:
    """Whether `install`, or a person who typed what `snippet` says, can have written this."""
    match found:
        case {"command": str(command), "args": ["serve"] | ["serve", "--workspace", str()], **others}:
            known = others.keys() <= {"type", "env", "alwaysLoad", "timeout"}
            return known and Path(command).name == "skillstill" and not others.get("env")
    return False
