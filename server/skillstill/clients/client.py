"""What all programs that call us have in common: told of this server in a file of theirs, and made to forget it again.

A `Client` says where that file is, what stands in it and what the program makes of it. A file that cannot be read is
never changed, and nothing but our own entry ever is.
"""

import re
import shlex
import shutil
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from skillstill.clients import document
from skillstill.clients.document import ABSENT, DocumentPlace
from skillstill.errors import ClientError, UsageError
from skillstill.workspace import Workspace

Scope = Literal["local", "project", "user"]
SERVER = "skillstill"
CALL_SECONDS = 600  # the limit of one call that clients are asked for: progress does not extend it
START_SECONDS = 30  # a machine under load takes a few
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")
_RESERVED = {"workspace"}  # Claude Code refuses it
_WORKSPACE, _REGISTRY = "--workspace", "--registry"  # what may stand behind `serve` in an entry of ours


@dataclass(frozen=True)
class Change:
    """What was done, and where."""

    did: Literal["added", "updated", "replaced", "unchanged", "removed", "absent"]
    place: DocumentPlace

    def __str__(self) -> str:
        if self.did == "unchanged":
            return f"nothing to change: {self.place} says so already"
        return f"nothing to remove: there is no {self.place}" if self.did == "absent" else f"{self.did} {self.place}"


@dataclass(frozen=True, kw_only=True)
class Client:
    """A program, and how it is told of servers.

    scopes      those that it knows, its usual one first
    file        where it keeps what it knows of servers, in a scope and for a project's folder
    beside      what it keeps of a server beside its command; the flag: whether its tools need no search
    typed       the command that adds a server's entry to a scope, if it has one
    forgets     the command that removes one
    replaces    what it would replace by something else in a command
    opened      its words for the folder that is open, for a scope in which it starts servers somewhere else;
                None if it has none
    asks        what it asks of those who share a project's file
    """

    title: str
    scopes: tuple[Scope, ...]
    file: Callable[[Scope, Path, str], DocumentPlace]
    beside: Callable[[bool], dict[str, Any]]
    typed: Callable[[Scope, str, dict[str, Any]], Sequence[str]] = lambda *_: ()
    forgets: Callable[[Scope, str], Sequence[str]] = lambda *_: ()
    replaces: str = "${"
    opened: Callable[[Scope], str | None] = lambda _: ""
    asks: str = ""

    def entry(self, command: Sequence[str], *, always_load: bool = True) -> dict[str, Any]:
        """Return what this client keeps of a server that it starts.

        `always_load`: its tools need no search: there are few.
        """
        beside = self.beside(always_load)
        kind = {"type": beside.pop("type")} if "type" in beside else {}
        return {**kind, "command": command[0], "args": list(command[1:]), **beside}

    def snippet(
        self,
        scope: Scope,
        project: Path,
        *,
        name: str = SERVER,
        workspace: Path | None = None,
        registry: Path | None = None,
        always_load: bool = True,
    ) -> str:
        """Return what to type, and what to write for people who edit files. Raises what `command` raises."""
        place, command = self.place(scope, project, name), self.command(scope, project, workspace, registry)
        entry = self.entry(command, always_load=always_load)
        words = self.typed(scope, name, entry)
        typing = f"Type in {folder(project)}:\n\n{shlex.join(words)}\n\nOr add to" if words else "Add to"
        under = ", under " + " > ".join(place.keys[:-2]) if place.keys[:-2] else ""
        return f"{typing} {place.file}{under}:\n\n{place.text(entry)}"

    def install(
        self,
        scope: Scope,
        project: Path,
        *,
        name: str = SERVER,
        workspace: Path | None = None,
        registry: Path | None = None,
        always_load: bool = True,
        force: bool = False,
    ) -> Change:
        """Add this server, or bring its entry up to date. Raises what `command` raises, the file left as it was."""
        place = self.place(scope, project, name)
        wanted = self.entry(self.command(scope, project, workspace, registry), always_load=always_load)
        found = document.find(place)
        if found == wanted:
            return Change("unchanged", place)
        if found is not ABSENT and not self._ours(found) and not force:
            raise ClientError(f"another server is {place}: --force replaces it, --name adds this one beside it")
        document.put(place, wanted)
        return Change("added" if found is ABSENT else "updated" if self._ours(found) else "replaced", place)

    def uninstall(self, scope: Scope, project: Path, *, name: str = SERVER) -> Change:
        """Take away what `install` added, and nothing else. Raise ClientError or UsageError, the file as it was."""
        place = self.place(scope, project, name)
        found = document.find(place)
        if found is ABSENT:
            return Change("absent", place)
        if not self._ours(found):
            words = self.forgets(scope, name)
            how = f"`{shlex.join(words)}` removes it" if words else f"remove it in {self.title}"
            raise ClientError(f"another server is {place}: {how}")
        document.take_out(place)
        return Change("removed", place)

    def place(self, scope: Scope, project: Path, name: str) -> DocumentPlace:
        """Return where this server's entry belongs. Raise ClientError or UsageError."""
        if scope not in self.scopes:
            raise UsageError(f"--scope for {self.title} is {' or '.join(self.scopes)}, not {scope}")
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise UsageError(f"a server's name is 1 to 64 of A-Z a-z 0-9 _ - and not `workspace`, not {name!r}")
        inside = folder(project)
        try:
            if not Path.home().is_dir():
                raise ClientError(f"there is no home folder {Path.home()}: set HOME")
            return self.file(scope, inside, name)
        except (OSError, RuntimeError) as error:
            raise ClientError(f"the configuration of {self.title} cannot be found: {error}") from error

    def command(
        self, scope: Scope, project: Path, workspace: Path | None = None, registry: Path | None = None
    ) -> tuple[str, ...]:
        """Return what this client shall start. Raise ClientError, or UsageError if that would not start."""
        opened = self.opened(scope)
        if opened is None and workspace is None:
            raise UsageError(
                f"in this scope {self.title} does not say which folder is open: "
                "name the one to serve by --workspace, or use --scope project"
            )
        if workspace is None and scope != "user":
            _served(project)  # there the client is open, and there it starts the server
        command = serving(workspace, registry)
        if any(self.replaces in word for word in command):
            raise UsageError(
                f"{self.title} would replace the {self.replaces} in {shlex.join(command)}: use another path"
            )
        return command if workspace or not opened else (*command, _WORKSPACE, opened)

    def _ours(self, found: Any) -> bool:
        """Return whether `install`, or a person who typed what `snippet` says, can have written this."""
        match found:
            case {"command": str(command), "args": ["serve", *options], **others}:
                known = others.keys() <= {"type", "env", *self.beside(True)} and _are_ours(options)
                return known and Path(command).name == "skillstill" and not others.get("env")
        return False


def serving(workspace: Path | None = None, registry: Path | None = None) -> tuple[str, ...]:
    """Return the command that serves a folder, or the one that it is started in.

    Raises what `Client.command` raises.
    """
    where = (_WORKSPACE, str(_served(workspace))) if workspace else ()
    which = (_REGISTRY, str(_in_utf8(registry.expanduser().absolute()))) if registry else ()  # skills lie beside a link
    return (str(_executable()), "serve", *where, *which)


def _are_ours(options: Sequence[Any]) -> bool:
    """Return whether each is one that `serving` writes, once, with a text behind it."""
    names = options[::2]
    known = sorted(map(str, names)) in ([], [_WORKSPACE], [_REGISTRY], [_REGISTRY, _WORKSPACE])
    return known and len(options) == 2 * len(names) and all(isinstance(option, str) for option in options)


def _served(path: Path) -> Path:
    """Return the folder's whole path, if a server starts there. Raise UsageError."""
    return Workspace(folder(path)).root


def folder(path: Path) -> Path:
    """Return the folder's whole path. Raise UsageError."""
    try:
        found = _in_utf8(path.expanduser().resolve(strict=True))
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"no such folder: {path}") from error
    if not found.is_dir():
        raise UsageError(f"not a folder: {path}")
    return found


def _in_utf8(path: Path) -> Path:
    """Raise UsageError if it is not."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(f"the name of this path is not UTF-8, which clients need: {str(path)!r}") from error
    return path


def _executable() -> Path:
    """Return the whole path of our program, since a client may be started with another PATH."""
    beside_python = Path(sysconfig.get_path("scripts"), "skillstill")
    found = shutil.which(beside_python) or shutil.which("skillstill")
    if not found:
        raise ClientError("the command `skillstill` is not installed here: type `pip install .` in its checkout")
    return Path(found).absolute()
