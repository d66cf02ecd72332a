"""What a sandbox is opened around: the workspace, whose secrets it hides, or a copy, whose changes come as a patch."""

import difflib
import errno
import os
import re
import secrets
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fcntl import ioctl
from itertools import takewhile
from pathlib import Path
from typing import Literal

from skillstill.errors import SandboxError

NOBODY_ELSE = range(61_184, 65_520)  # kept for users of a moment, which systemd makes too
IsSecret = Callable[[str], bool]  # of a path from the workspace
Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]  # of difflib
MOST_FILES, MOST_BYTES = 100_000, 2 << 30  # of a copy: what takes seconds to make
MOST_CHANGES, MOST_PATCH = 1_000, 1_000_000  # files and characters of a patch
LARGEST_TEXT = 1_000_000  # bytes of a file whose lines are compared
MOST_COMPARED = 4_000_000  # pairs of lines: difflib takes seconds for them, if somebody wants it to
CLONE = 0x40049409  # FICLONE: the copy shares the original's blocks, on file systems that can
NAMED = 5  # files of a kind that are named
# What a name is quoted for in a patch, as git does it.
ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


@dataclass(frozen=True, slots=True)
class Original:
    """A file as it was copied: the state of the original, and of its copy."""

    state: tuple[int, ...]
    copy: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Scratch:
    """A copy of a workspace in a folder of its own, without devices and secrets. Root's belongs to nobody else."""

    workspace: Path
    folder: Path
    originals: dict[str, Original]
    is_secret: IsSecret

    def patch(self) -> str:
        """Return what changed in the copy, as git writes it, behind a line about what is left out; empty if nothing."""
        return _Patch(self).text()


def copy_workspace(workspace: Path, is_secret: IsSecret) -> Scratch:
    """Return a copy of the workspace, which `remove_scratch` removes. Raise SandboxError if it is too large."""
    above = Path(tempfile.mkdtemp(prefix="skillstill-scratch-"))  # for nobody but us
    try:
        scratch = Scratch(workspace, above / workspace.name, {}, is_secret)
        _copy(scratch)
    except OSError as error:
        _remove(above)
        raise SandboxError(f"{workspace} cannot be copied: {error.strerror}") from error
    except BaseException:
        _remove(above)
        raise
    return scratch


def nobody_else() -> int:
    """Return the number of a user or group that hardly anything else has."""
    return secrets.choice(NOBODY_ELSE)


def remove_scratch(scratch: Scratch) -> None:
    _remove(scratch.folder.parent)


def _remove(folder: Path) -> None:
    """Remove a folder that strangers filled: nested a thousand times, without rights. Python's own way stumbles."""
    for command in (["chmod", "-R", "u+rwX", "--"], ["rm", "-rf", "--"]):
        subprocess.run([*command, folder], check=False, capture_output=True)


def hidden_paths(workspace: Path, is_secret: IsSecret) -> tuple[str, ...]:
    """Return the paths of a folder that a sandbox around it must not show; those of folders end with `/`."""
    return tuple(path + "/" * entry.is_dir() for path, entry, secret in _walk(workspace, is_secret) if secret)


def _walk(root: Path, is_secret: IsSecret) -> Iterator[tuple[str, os.DirEntry[str], bool]]:
    """Yield every file and folder with its path from the root, folders first, links as they are; none in a secret."""
    folders = [""]
    while folders:
        folder = folders.pop()
        with suppress(OSError), os.scandir(root / folder) as entries:  # without rights, or too deep to be named
            for entry in entries:
                path = f"{folder}/{entry.name}".removeprefix("/")
                if entry.is_symlink():
                    yield path, entry, False
                    continue
                secret = is_secret(path)
                yield path, entry, secret
                if entry.is_dir(follow_symlinks=False) and not secret:
                    folders.append(path)


def _copy(scratch: Scratch) -> None:
    owner = (nobody_else(), nobody_else()) if os.geteuid() == 0 else (-1, -1)  # -1: as it is
    scratch.folder.mkdir(mode=0o700)
    os.chown(scratch.folder, *owner)
    size = count = 0
    for path, entry, secret in _walk(scratch.workspace, scratch.is_secret):
        if secret:
            continue
        status = entry.stat(follow_symlinks=False)
        size, count = size + status.st_size, count + 1
        if size > MOST_BYTES or count > MOST_FILES:
            raise SandboxError(
                f"{scratch.workspace} is too large for a copy (more than {MOST_FILES:,} files or "
                f"{MOST_BYTES >> 20:,} MB): name a smaller folder with --workspace"
            )
        copy = scratch.folder / path
        if stat.S_ISLNK(status.st_mode):
            copy.symlink_to(Path(entry.path).readlink())
        elif stat.S_ISDIR(status.st_mode):
            copy.mkdir()
        elif stat.S_ISREG(status.st_mode):
            with suppress(PermissionError, FileNotFoundError):  # what we may not read, and what is gone by now
                _copy_file(Path(entry.path), copy)
        if not os.path.lexists(copy):
            continue
        os.chown(copy, *owner, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            scratch.originals[path] = Original(_state(status), _state(copy.lstat()))


def _copy_file(source: Path, target: Path) -> None:
    with open(source, "rb", opener=_open_regular) as original, target.open("xb") as copy:
        try:
            ioctl(copy.fileno(), CLONE, original.fileno())
        except OSError:
            shutil.copyfileobj(original, copy, 1 << 20)
        os.fchmod(copy.fileno(), stat.S_IMODE(os.fstat(original.fileno()).st_mode) | 0o600)


def _open_regular(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _state(status: os.stat_result) -> tuple[int, ...]:
    """Return what changes with a file. A command can set all times but that of the last change of state."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class _Patch:
    """What changed in a copy. It is a stranger's: names, links and contents are what commands made of them."""

    def __init__(self, scratch: Scratch) -> None:
        self.scratch = scratch
        self.left_out: dict[str, list[str]] = {}  # paths by the reason
        self.now: dict[str, tuple[int, ...]] = {}

    def text(self) -> str:
        sections: list[str] = []
        room = MOST_PATCH
        for path in self.changed():
            if room <= 0 or len(sections) == MOST_CHANGES:
                self.leave_out(path, "more than a patch holds")
            elif section := self.section(path):
                sections.append(section)
                room -= len(section)
        return "".join([*self.told(), *sections])

    def told(self) -> Iterator[str]:
        """Yield a line for each reason to leave something out; git reads over them."""
        for reason, paths in sorted(self.left_out.items()):
            named = ", ".join(map(_quoted, paths[:NAMED]))
            more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
            yield f"Left out ({reason}): {named}{more}\n"

    def leave_out(self, path: str, reason: str) -> str:
        self.left_out.setdefault(reason, []).append(path)
        return ""

    def changed(self) -> list[str]:
        """Return the paths of files that are new, gone or not what was copied."""
        for path, entry, secret in _walk(self.scratch.folder, self.scratch.is_secret):
            if secret:
                self.leave_out(path, "named like a secret")
            elif not entry.is_dir(follow_symlinks=False):
                self.now[path] = _state(entry.stat(follow_symlinks=False))
        was = {path: one.copy for path, one in self.scratch.originals.items()}
        return sorted(path for path in {**was, **self.now} if was.get(path) != self.now.get(path))

    def section(self, path: str) -> str:
        """Return what git writes about a file, or nothing if that is no text."""
        original = self.scratch.originals.get(path)
        try:
            before = _read(self.scratch.workspace / path) if original else None
            # What is gone is not looked for: a folder above it may be a link by now, and lead anywhere.
            after = _read(self.scratch.folder / path) if path in self.now else None
        except OSError as error:
            return self.leave_out(path, "no regular file" if error.errno == errno.ELOOP else "cannot be read")
        if original and (before is None or before.state != original.state):
            return self.leave_out(path, "changed in the workspace meanwhile")
        if any(one and len(one.data) > LARGEST_TEXT for one in (before, after)):
            return self.leave_out(path, "large")
        if any(one and one.lines is None for one in (before, after)):
            return self.leave_out(path, "binary")
        return _section(path, before, after)


@dataclass(frozen=True, slots=True)
class _File:
    data: bytes
    is_program: bool
    state: tuple[int, ...]

    @property
    def mode(self) -> str:
        return "100755" if self.is_program else "100644"

    @property
    def lines(self) -> list[str] | None:
        """Return its lines with their ends; None if it is no text."""
        with suppress(UnicodeDecodeError):
            text = self.data.decode()
            return None if "\0" in text else re.findall("[^\n]*\n|[^\n]+", text)
        return None


def _read(file: Path) -> _File | None:
    """Return a file, at most one byte more than is compared; None if it is gone. Raise OSError if it is none."""
    try:
        with open(file, "rb", opener=_open_regular) as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.ELOOP, "not a regular file")
            return _File(opened.read(LARGEST_TEXT + 1), bool(status.st_mode & 0o100), _state(status))
    except FileNotFoundError:
        return None


def _section(path: str, before: _File | None, after: _File | None) -> str:
    """Return what git writes about a file that was made, removed or changed."""
    old, new = _quoted(f"a/{path}"), _quoted(f"b/{path}")
    head = [f"diff --git {old} {new}\n"]
    if before is None and after:
        head.append(f"new file mode {after.mode}\n")
    elif after is None and before:
        head.append(f"deleted file mode {before.mode}\n")
    elif before and after and before.mode != after.mode:
        head += [f"old mode {before.mode}\n", f"new mode {after.mode}\n"]
    lines, new_lines = (before and before.lines) or [], (after and after.lines) or []
    hunks = [] if lines == new_lines else list(_hunks(lines, new_lines))
    if hunks:
        tab = "\t" if " " in path else ""  # for the program `patch`, which takes a space for the end of the name
        head += [f"--- {old + tab if before else '/dev/null'}\n", f"+++ {new + tab if after else '/dev/null'}\n"]
    return "".join([*head, *hunks]) if len(head) > 1 else ""


def _hunks(before: list[str], after: list[str]) -> Iterator[str]:
    for group in _Comparison(before, after).get_grouped_opcodes():
        (_, first, _, new_first, _), (_, _, last, _, new_last) = group[0], group[-1]
        yield f"@@ -{_range(first, last)} +{_range(new_first, new_last)} @@\n"
        for kind, old_start, old_end, new_start, new_end in group:
            if kind == "equal":
                yield from _marked(" ", before[old_start:old_end])
            else:
                yield from _marked("-", before[old_start:old_end])
                yield from _marked("+", after[new_start:new_end])


def _range(first: int, last: int) -> str:
    """Return lines as a hunk's head names them: the first, counted from 1, and how many; of none the one before."""
    return f"{first + (last > first)},{last - first}"


def _marked(mark: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


class _Comparison(difflib.SequenceMatcher[str]):
    """Lines compared. Those that are the same at both ends cost nothing; of too many others none are the same."""

    def __init__(self, before: list[str], after: list[str]) -> None:
        super().__init__(None, before, after)
        self.before, self.after = before, after

    def get_opcodes(self) -> list[Opcode]:
        before, after = self.before, self.after
        start = _equal(before, after)
        end = _equal(before[start:][::-1], after[start:][::-1])
        old, new = before[start : len(before) - end], after[start : len(after) - end]
        if len(old) * len(new) > MOST_COMPARED:
            middle: list[Opcode] = [("replace", 0, len(old), 0, len(new))]
        else:
            middle = difflib.SequenceMatcher(None, old, new).get_opcodes()
        whole: list[Opcode] = [("equal", 0, start, 0, start)]
        whole += [(kind, a + start, b + start, c + start, d + start) for kind, a, b, c, d in middle]
        whole.append(("equal", len(before) - end, len(before), len(after) - end, len(after)))
        return [one for one in whole if one[1] < one[2] or one[3] < one[4]]


def _equal(before: Sequence[str], after: Sequence[str]) -> int:
    """Return how many lines are the same at the beginning."""
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(before, after, strict=False)))


def _quoted(path: str) -> str:
    """Return a path as git writes it: in quotes and escaped if there is more in it than plain characters."""
    data = os.fsencode(path)
    if all(32 <= byte < 127 and byte not in ESCAPES for byte in data):
        return path
    escaped = (ESCAPES.get(byte) or (f"{byte:03o}" if not 32 <= byte < 127 else "") for byte in data)
    return (
        '"' + "".join(f"\\{escape}" if escape else chr(byte) for escape, byte in zip(escaped, data, strict=True)) + '"'
    )
