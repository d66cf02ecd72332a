"""The counters of all serving processes of a user, one small file each: whoever wants to know reads them.

A file is named by the machine, the process and its start, so that nobody is taken for somebody dead. A home may be
shared by machines and containers: each sees the processes of its own.
"""

import hashlib
import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from skillstill.util.counters import Counters
from skillstill.util.storage import OWNER_ONLY, state_folder

FORGOTTEN = 7 * 86_400  # seconds after which the file of a process of another machine goes, which we cannot ask after


def folder() -> Path:
    return state_folder() / "serving"


def publish(counters: Counters) -> None:
    """Write the counters of this process. Raise OSError.

    A reader sees the old file or the new one. A crash of the machine may lose it, and with it goes the process.
    """
    (file := _own_file()).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = file.with_suffix(".part")
    part.touch(mode=OWNER_ONLY)
    part.write_text(counters.model_dump_json(), encoding="utf-8")
    part.replace(file)


def retract() -> None:
    """Remove the file of this process."""
    for file in (_own_file(), _own_file().with_suffix(".part")):
        with suppress(OSError):
            file.unlink()


def published() -> Sequence[Counters]:
    """Return the counters of the processes of this machine that serve, the first one first. Files of dead ones go."""
    return sorted(_readable(), key=lambda counters: (counters.started, counters.process))


def _readable() -> Iterator[Counters]:
    for file in folder().glob("*.json"):
        if _is_alive(file):
            with suppress(OSError, ValidationError):  # just gone; or another version's
                yield Counters.model_validate_json(file.read_bytes())
        elif file.name.startswith(_machine()) or _age(file) > FORGOTTEN:
            for leftover in (file, file.with_suffix(".part")):
                with suppress(OSError):
                    leftover.unlink()


def _own_file() -> Path:
    return folder() / f"{_machine()}-{os.getpid()}-{_start(os.getpid())}.json"


def _is_alive(file: Path) -> bool:
    match file.stem.split("-"):
        case [machine, process, start] if machine == _machine() and process.isdecimal():
            return start == _start(int(process)) and _runs(int(process))
    return False


@cache
def _machine() -> str:
    """Return a name for this machine, and for this container of it: process 7 of another one is another process."""
    try:
        numbers = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        numbers = ""
    return hashlib.sha256(f"{socket.gethostname()} {numbers}".encode()).hexdigest()[:12]


def _start(process: int) -> str:
    """Return when a process began, in ticks since the machine did, if the system tells: numbers are used again."""
    return (_status(process) or [""] * 20)[19]


def _runs(process: int) -> bool:
    if Path("/proc/self/stat").exists():
        return _status(process)[:1] not in ([], ["Z"])  # Z: ended, and its parent has not looked yet
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def _status(process: int) -> Sequence[str]:
    """Return what Linux says of a process behind its name, which may hold anything."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _age(file: Path) -> float:
    try:
        return time.time() - file.stat().st_mtime
    except OSError:
        return 0.0
