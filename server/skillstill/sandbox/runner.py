"""The process inside a sandbox that executes what the host asks for. Standard library only, Python 3.9 or newer.

It has to be process 1 of a pid namespace: nothing inside can kill or stop that process, orphans become its children,
and `kill(-1)` ends all others. It is not dumpable, so that commands, which run as the same user, cannot reach its pipes
through /proc/1/fd. At the end of its standard input it ends, and everything with it.

    runner.py [UID GID]     become this user first: started as root, by a driver without a user namespace

A request is one line of JSON on standard input, and its answer, with the same `id`, one line on standard output. There
is one command at a time, and when it is answered no process of it is left. `data` and `stdin` are base64.

    {"id", "do": "exec", "command": [...], "environment": {...}, "stdin", "seconds", "output", "most", "memory",
     "limits": {...}}
        output   bytes that are kept; a command that writes more than `most` bytes is killed
        memory   bytes of all processes together, looked at every 50 ms; 0: something else limits it
        limits   of each process, by the names of setrlimit: {"NPROC": 64, "FSIZE": 100000000}
      -> {"id", "code", "data", "total", "killed": "" | "time" | "memory" | "output", "seconds"}
    {"id", "do": "read", "path", "most"}  -> {"id", "data"}
    {"id", "do": "write", "path", "data"} -> {"id"}
    {"id", "do": "greet"}                 -> {"id"}
    {"do": "serve", "command", "environment", "memory", "limits"}
      -> no answer: what else comes on standard input, and standard output, are this command's. The runner ends with
         it, and says why on standard error.

A file that cannot be read or written is answered by {"id", "error": "…"}. A command that cannot be started ends with
code 127, or 126 if it is no program. Any other failure ends the runner: the host then starts a new sandbox.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import resource
import selectors
import signal
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn

FOLDER = "/workspace"
SPOOL = "/tmp"  # noqa: S108 - of the sandbox
PR_SET_DUMPABLE = 4
LOOK = 0.05  # seconds between two looks at the memory
PATIENCE = 2  # seconds for killed processes to go
CHUNK = 1 << 16
SAID = 2_000  # bytes of what a server writes last to its standard error
# Where the kernel counts what it killed for want of memory, in a container or below a bound control group.
OOM_COUNTS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")


def main() -> None:
    if os.getpid() != 1:
        sys.exit("the runner has to be process 1 of a pid namespace of its own")
    become(*map(int, sys.argv[1:3]))
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the kernel keeps from process 1 what it has no handler for
    wake = wake_on_children()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request["do"] == "serve":
            serve(request, wake)
        sys.stdout.write(json.dumps({"id": request["id"], **answer(request, wake)}) + "\n")
        sys.stdout.flush()


def become(uid: int | None = None, gid: int = 0) -> None:
    if uid is not None:
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)


def wake_on_children() -> int:
    """Return a descriptor that can be read when a child has ended."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    return reader


def answer(request: dict[str, Any], wake: int) -> dict[str, Any]:
    if request["do"] == "exec":
        return execute(request, wake)
    if request["do"] == "greet":
        return {}
    try:
        return read(request) if request["do"] == "read" else write(request)
    except OSError as error:
        return {"error": error.strerror or str(error)}
    except (ValueError, RuntimeError) as error:  # a NUL in the path, a loop of links
        return {"error": str(error)}


def execute(request: dict[str, Any], wake: int) -> dict[str, Any]:
    began, kills = time.monotonic(), oom_kills()
    try:
        process = execute_once(request)
    except (OSError, ValueError) as error:
        code = 127 if isinstance(error, FileNotFoundError) else 126
        text = f"{reason(request, error)}\n".encode()
        return ended(code, text, len(text), "", began)
    assert process.stdout
    output = Output(process.stdout.fileno(), request["output"], request["most"])
    killed = watch(process, output, wake, request, began + request["seconds"])
    sweep(process)
    output.drain()
    process.stdout.close()
    return ended(process.returncode, bytes(output.kept), output.total, killed or cause(process, kills), began)


def ended(code: int, kept: bytes, total: int, killed: str, began: float) -> dict[str, Any]:
    data = base64.b64encode(kept).decode()
    return {"code": code, "data": data, "total": total, "killed": killed, "seconds": time.monotonic() - began}


def reason(request: dict[str, Any], error: Exception) -> str:
    """Return why a command cannot be started."""
    return f"{request['command'][0]}: {getattr(error, 'strerror', None) or error}"


def execute_once(request: dict[str, Any]) -> subprocess.Popen[bytes]:
    with os.fdopen(os.open(SPOOL, os.O_TMPFILE | os.O_RDWR), "r+b") as stdin:
        stdin.write(base64.b64decode(request["stdin"]))
        stdin.seek(0)
        return start(request, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def start(request: dict[str, Any], **streams: Any) -> subprocess.Popen[bytes]:
    limits = [(getattr(resource, "RLIMIT_" + name), value) for name, value in request["limits"].items()]

    def set_limits() -> None:
        for kind, value in limits:
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))

    return subprocess.Popen(
        request["command"],
        cwd=FOLDER,
        env={**os.environ, **request["environment"]},
        start_new_session=True,
        preexec_fn=set_limits,
        bufsize=0,
        **streams,
    )


def serve(request: dict[str, Any], wake: int) -> NoReturn:
    """Hand standard input and output to a command, and end with it."""
    try:
        process = start(request, stdin=subprocess.PIPE, stdout=sys.stdout, stderr=subprocess.PIPE)
    except (OSError, ValueError) as error:
        end(reason(request, error))
    assert process.stdin
    assert process.stderr
    threading.Thread(target=forward, args=(sys.stdin.buffer, process.stdin), daemon=True).start()
    said = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stderr, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        while not reap(process):
            if request["memory"] and is_over(request["memory"]):
                end("it took too much memory")
            for key, _ in selector.select(LOOK if request["memory"] else None):
                chunk = os.read(key.fd, CHUNK)
                if key.fd != wake:
                    said = (said + chunk)[-SAID:]
                    if not chunk:
                        selector.unregister(key.fd)
    os.set_blocking(process.stderr.fileno(), False)
    said += process.stderr.read(CHUNK) or b""
    last = said.decode(errors="replace").strip().splitlines()[-1:]
    end(": ".join((f"it ended with exit code {process.returncode}", *last)))


def forward(source: Any, pipe: IO[bytes]) -> None:
    """Pass on what comes from the host. At its end the host is gone."""
    while chunk := source.read1(CHUNK):
        with suppress(OSError):  # it does not listen any more
            while chunk:
                chunk = chunk[pipe.write(chunk) :]
    os._exit(0)


def end(why: str) -> NoReturn:
    """End the runner at once, whatever its threads wait for."""
    os.write(2, f"{why}\n".encode())
    os._exit(1)


class Output:
    """What a command writes: the first bytes are kept, the others counted."""

    def __init__(self, descriptor: int, room: int, most: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor, self.room, self.most = descriptor, room, most
        self.kept, self.total, self.is_open = bytearray(), 0, True

    def take(self) -> bool:
        """Read a chunk. Return whether there was one."""
        try:
            chunk = os.read(self.descriptor, CHUNK)
        except BlockingIOError:
            return False
        self.is_open = bool(chunk)
        self.total += len(chunk)
        self.kept += chunk[: max(0, self.room - len(self.kept))]
        return self.is_open

    def drain(self) -> None:
        """Read what is left in the pipe: all writers are dead."""
        while self.is_open and self.take():
            pass


def watch(process: subprocess.Popen[bytes], output: Output, wake: int, request: dict[str, Any], deadline: float) -> str:
    """Wait until the command has ended or reached a limit. Return which one."""
    look = time.monotonic() + LOOK
    with selectors.DefaultSelector() as selector:
        selector.register(output.descriptor, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)
        while not reap(process):
            now = time.monotonic()
            if now >= deadline:
                return "time"
            if output.total > output.most:
                return "output"
            if request["memory"] and now >= look:
                if is_over(request["memory"]):
                    return "memory"
                look = time.monotonic() + LOOK
            ready = selector.select((min(look, deadline) if request["memory"] else deadline) - now)
            for key, _ in ready:
                if key.fileobj is sys.stdin:
                    sys.exit("the host is gone")
                if key.fd == wake:
                    os.read(wake, CHUNK)
                elif not output.take() and not output.is_open:
                    selector.unregister(output.descriptor)
    return ""


def reap(process: subprocess.Popen[bytes]) -> bool:
    """Collect what has ended, orphans too. Return whether the command is among it."""
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == process.pid:
                process.returncode = os.waitstatus_to_exitcode(status)
            if pid == 0:
                break
    return process.returncode is not None


def sweep(process: subprocess.Popen[bytes]) -> None:
    """End every other process and wait until it is gone. End the sandbox if one stays."""
    end, pause = time.monotonic() + PATIENCE, 0.0002
    while True:
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        if reap(process) and not others():
            return
        if time.monotonic() > end:
            sys.exit("a process does not end")
        time.sleep(pause)
        pause = min(2 * pause, 0.02)


def others() -> list[int]:
    return [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit() and one.name != "1"]


def cause(process: subprocess.Popen[bytes], kills: int) -> str:
    """Return which limit of the kernel ended the command."""
    if process.returncode in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
        return "time"
    return "memory" if oom_kills() > kills else ""


def oom_kills() -> int:
    total = 0
    for file in OOM_COUNTS:
        with suppress(OSError):
            total += sum(int(line.split()[1]) for line in lines(file) if line.startswith("oom_kill "))
    return total


def is_over(memory: int) -> bool:
    """Return whether the other processes use more bytes. What they share is counted once, if that decides."""
    return sum(map(resident_bytes, others())) > memory and sum(map(proportional_bytes, others())) > memory


def resident_bytes(pid: int) -> int:
    with suppress(OSError):
        return int(lines(f"/proc/{pid}/statm")[0].split()[1]) * resource.getpagesize()
    return 0


def proportional_bytes(pid: int) -> int:
    with suppress(OSError):
        return sum(int(line.split()[1]) << 10 for line in lines(f"/proc/{pid}/smaps_rollup") if line.startswith("Pss:"))
    return resident_bytes(pid)


def lines(file: str) -> list[str]:
    return Path(file).read_text("ascii").splitlines()


def read(request: dict[str, Any]) -> dict[str, Any]:
    with open(outside_proc(request["path"]), "rb", opener=open_regular) as file:
        return {"data": base64.b64encode(file.read(request["most"])).decode()}


def write(request: dict[str, Any]) -> dict[str, Any]:
    path = outside_proc(request["path"])
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb", opener=open_regular) as file:
        file.write(base64.b64decode(request["data"]))
    return {}


def outside_proc(path: str) -> Path:
    """Return the path without links. In /proc are files of the runner itself."""
    real = (Path(FOLDER) / path).resolve()
    if Path("/proc") in (real, *real.parents):
        raise PermissionError(1, "not a file of the sandbox")
    return real


def open_regular(path: str, flags: int) -> int:
    """Open a regular file; a pipe or a device blocks nobody and is refused."""
    descriptor = os.open(path, (flags & ~os.O_TRUNC) | os.O_NONBLOCK, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(22, "not a regular file")
    if flags & os.O_TRUNC:
        os.ftruncate(descriptor, 0)
    return descriptor


if __name__ == "__main__":
    main()
