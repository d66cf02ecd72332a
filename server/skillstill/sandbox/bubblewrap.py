"""Sandboxes of bubblewrap: namespaces of the kernel, with no engine and no image. What is inside is the machine's /usr.

Commands have no capability, a private /tmp and /dev/shm, no network, and a filter of system calls (seccomp.py). An
ordinary user's sandbox is a user namespace. Root's is none: the runner becomes the owner of the folder, or a user whom
nobody else is if root owns it and everybody may read it. Only what root alone may read or write is left to root,
without rights and in a user namespace.
"""

import os
import shutil
import socket
import stat
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import Process

from skillstill.errors import SandboxError, SandboxLost
from skillstill.sandbox.memory import ControlGroup, make_group
from skillstill.sandbox.packages import FOLDER as PACKAGES
from skillstill.sandbox.packages import installed
from skillstill.sandbox.proxy import Proxy
from skillstill.sandbox.sandbox import FOLDER, Held, Sandbox, SandboxPlan
from skillstill.sandbox.scratch import nobody_else
from skillstill.sandbox.seccomp import filter_file
from skillstill.sandbox.session import MEGABYTE, RUNNER, Session, Transport, opened
from skillstill.sandbox.trial import problem_of
from skillstill.util.text import one_line

RELAY = Path(__file__).with_name("relay.py")
RUNNER_INSIDE, RELAY_INSIDE = "/run/runner.py", "/run/relay.py"
PYTHON = "/usr/bin/python3"
RUN = (PYTHON, "-I", "-u", RUNNER_INSIDE)
PATH = "/usr/local/bin:/usr/bin:/bin"
NOTHING = "/dev/null"  # in place of a file that is hidden
HOME = "/tmp"  # noqa: S108 - inside
USER = 1000  # the number that an ordinary user has inside
SYSTEM = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")  # links into /usr, or folders where it is not merged
SETTINGS = (  # what programs of /usr need of /etc, and what is nobody's secret
    "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types", "ssl/certs",
    "ssl/openssl.cnf", "pki/tls/certs", "pki/ca-trust/extracted", "java-17-openjdk", "java-21-openjdk",
)  # fmt: skip
# Folders above what is bound: bubblewrap would make them for root alone.
ABOVE = (
    *("/etc", "/etc/ssl", "/etc/pki", "/etc/pki/tls", "/etc/pki/ca-trust"),
    *("/opt", "/run", "/sys", "/sys/fs", "/sys/fs/cgroup"),
)
PATIENCE = 2  # seconds for a sandbox to end by itself
SAID = 2_000  # bytes of standard error that are kept


@dataclass(frozen=True, slots=True)
class User:
    """Whose a sandbox's processes are: a user and group, or ours in a user namespace if there are none."""

    inside: tuple[int, int] | None = None

    @property
    def is_root(self) -> bool:
        return self.inside is None and os.geteuid() == 0


class BubblewrapDriver:
    """See sandbox.Driver."""

    name = "bubblewrap"

    async def problem(self) -> str:
        return await problem_of(self, "bubblewrap")

    @asynccontextmanager
    async def open(self, workspace: Path, plan: SandboxPlan) -> AsyncIterator[Sandbox]:
        program, system_calls = _program(), filter_file()
        user = _user(workspace.stat(), plan.writable)
        async with AsyncExitStack() as stack:
            packages = await installed(plan.packages, await _python_version()) if plan.packages else None
            proxy = await stack.enter_async_context(Proxy(plan.hosts)) if plan.hosts else None
            if group := make_group(plan.limits):
                stack.push_async_callback(group.remove)
            command = [program, *_arguments(workspace, plan, user, packages, group)]
            starter = Starter(group.entering(command) if group else command, system_calls, user, proxy)
            held = Held(driver=f"bubblewrap {await _version(program)}", gaps=tuple(_gaps(user, group)))
            session = Session(starter.start, plan.limits, held, needs_runner=group is None)
            yield await stack.enter_async_context(opened(session))


@dataclass(frozen=True, slots=True)
class Starter:
    """Starts the sandboxes of one run, the next one if one broke down."""

    command: Sequence[str]
    system_calls: Path
    user: User
    proxy: Proxy | None

    async def start(self) -> Transport:
        try:
            return await (self._start(RUN) if self.proxy is None else self._start_with_door(self.proxy))
        except OSError as error:
            raise SandboxError(f"bubblewrap does not start: {error}") from error

    async def _start_with_door(self, proxy: Proxy) -> Transport:
        """Start a sandbox that first hands its listener to the proxy, through a socket that it inherits."""
        ours, theirs = socket.socketpair()
        with theirs:
            relay = (PYTHON, "-I", RELAY_INSIDE, str(theirs.fileno()))
            transport = await self._start((*relay, *RUN), theirs.fileno())
        try:
            await proxy.admit(ours)
        except BaseException:
            await transport.close()
            raise
        return transport

    async def _start(self, run: Sequence[str], *descriptors: int) -> Transport:
        with self.system_calls.open("rb") as calls:
            process = await anyio.open_process(
                [*self.command, "--seccomp", str(calls.fileno()), "--", *run, *map(str, self.user.inside or ())],
                env={},
                cwd="/",
                pass_fds=(calls.fileno(), *descriptors),
            )
        return Pipes(process)


class Pipes:
    """See session.Transport. The end of the runner's input ends it, also if this process is killed."""

    def __init__(self, process: Process) -> None:
        assert process.stdin
        assert process.stdout
        self._process, self._input, self._output = process, process.stdin, process.stdout
        self._ending = anyio.Lock()  # who sends and who receives may both find that it has ended

    async def send(self, data: bytes) -> None:
        try:
            await self._input.send(data)
        except anyio.BrokenResourceError as error:
            raise SandboxLost(await self._end()) from error

    async def receive(self) -> bytes:
        try:
            return await self._output.receive()
        except anyio.EndOfStream as error:
            raise SandboxLost(await self._end()) from error

    async def close(self) -> None:
        """Let the runner end, with which the kernel ends all others: bubblewrap ends when nobody is left."""
        await self._input.aclose()
        with anyio.move_on_after(PATIENCE):
            await self._process.wait()
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.aclose()

    async def _end(self) -> str:
        """Return that it ended, and the last line of its errors: only bubblewrap and the runner write there."""
        assert self._process.stderr
        with anyio.move_on_after(1), suppress(anyio.EndOfStream, anyio.ClosedResourceError):
            async with self._ending:
                said = await self._process.stderr.receive(SAID)
            lines = said.decode(errors="replace").strip().splitlines()
            return f"the sandbox broke down: {one_line(''.join(lines[-1:]), 300)}"
        return "the sandbox broke down: it has ended"


def _arguments(
    workspace: Path, plan: SandboxPlan, user: User, packages: Path | None, group: ControlGroup | None
) -> Iterator[str]:
    """Yield bubblewrap's options but for the filter of system calls."""
    yield from ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
    yield from ("--hostname", "sandbox", "--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
    if user.inside is None:
        yield from ("--unshare-user", "--uid", str(USER), "--gid", str(USER))
    else:  # of which nothing is left as soon as the runner has become another user
        yield from ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    for folder in ABOVE:
        yield from ("--perms", "0755", "--dir", folder)
    yield from ("--ro-bind", "/usr", "/usr", *_system(), "--proc", "/proc", "--dev", "/dev")
    size = str(plan.limits.tmp * MEGABYTE)
    for folder in (HOME, "/dev/shm"):  # noqa: S108
        yield from ("--perms", "1777", "--size", size, "--tmpfs", folder)
    yield from ("--bind" if plan.writable else "--ro-bind", str(workspace.resolve()), FOLDER, "--chdir", "/")
    for path in plan.hidden:
        inside = f"{FOLDER}/{path}"
        yield from ("--tmpfs", inside, "--remount-ro", inside) if path.endswith("/") else ("--ro-bind", NOTHING, inside)
    yield from ("--ro-bind", str(RUNNER), RUNNER_INSIDE)
    if plan.hosts:
        yield from ("--ro-bind", str(RELAY), RELAY_INSIDE)
    if packages:
        yield from ("--ro-bind", str(packages), PACKAGES)
    if group:
        yield from ("--ro-bind", *map(str, group.counted))
    yield from ("--remount-ro", "/dev", "--remount-ro", "/", "--clearenv")
    for name, value in _environment(packages).items():
        yield from ("--setenv", name, value)


def _system() -> Iterator[str]:
    for name in SYSTEM:
        folder = Path("/", name)
        if folder.is_symlink():
            yield from ("--symlink", str(folder.readlink()), str(folder))
        else:
            yield from ("--ro-bind-try", str(folder), str(folder))
    for name in SETTINGS:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")


def _environment(packages: Path | None) -> dict[str, str]:
    common = {"HOME": HOME, "LANG": "C.UTF-8"}
    if packages is None:
        return {**common, "PATH": PATH}
    return {**common, "PATH": f"{PACKAGES}/bin:{PATH}", "PYTHONPATH": PACKAGES}


def _user(folder: os.stat_result, writable: bool) -> User:
    """Return whose the processes are around a folder."""
    if os.geteuid():
        return User()
    if folder.st_uid:
        return User((folder.st_uid, folder.st_gid))
    is_for_all = folder.st_mode & (stat.S_IROTH | stat.S_IXOTH) == stat.S_IROTH | stat.S_IXOTH
    return User() if writable or not is_for_all else User((nobody_else(), nobody_else()))


def _gaps(user: User, group: ControlGroup | None) -> Iterator[str]:
    if group:
        return
    yield "CPU time: of each process, not of all together (no control group can be made here)"
    yield "memory: looked at 20 times a second, so it can be passed for a moment (no control group can be made here)"
    if user.is_root:
        yield "processes: root has no limit of them; run skillstill as another user"


def _program() -> str:
    if found := shutil.which("bwrap"):
        if not Path(PYTHON).exists():
            raise SandboxError(f"bubblewrap needs {PYTHON}, which runs inside: install the system's Python 3")
        return found
    raise SandboxError("bubblewrap is not installed: install your system's package bubblewrap")


async def _version(program: str) -> str:
    return (await anyio.run_process([program, "--version"], check=False)).stdout.decode().split()[-1]


async def _python_version() -> str:
    script = "import sys; print('%d.%d' % sys.version_info[:2])"
    return (await anyio.run_process([PYTHON, "-I", "-c", script])).stdout.decode().strip()
