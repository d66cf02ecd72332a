"""Sandboxes that are containers of Docker or Podman: one for each run, with the runner as its process 1.

The engine limits memory, processes and CPU of the whole container, which has no network, no capability, a root that is
read-only, and the engine's filter of system calls. The runner is spoken to over the stream of an attachment: an `exec`
of the engine takes thirty times as long, cannot be timed out, and fails for good after some fork bombs.
"""

import os
import socket
import stat
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyio import EndOfStream, IncompleteRead, to_thread
from anyio.abc import UNIXSocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from skillstill.errors import SandboxError, SandboxLost
from skillstill.sandbox.engine import LABEL, Engine, connect, owner, reap
from skillstill.sandbox.image import find_image, image_name, image_python
from skillstill.sandbox.packages import FOLDER as PACKAGES
from skillstill.sandbox.packages import installed
from skillstill.sandbox.proxy import Proxy
from skillstill.sandbox.sandbox import FOLDER, Held, Sandbox, SandboxPlan
from skillstill.sandbox.session import OPEN_FILES, RUNNER, Session, Transport, opened
from skillstill.sandbox.trial import problem_of
from skillstill.util.text import one_line

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

RELAY = Path(__file__).with_name("relay.py")
RUNNER_INSIDE, RELAY_INSIDE, DOOR = "/run/runner.py", "/run/relay.py", "/run/door"
RUN = ("python3", "-I", "-u", RUNNER_INSIDE)
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
HOME = "/tmp"  # noqa: S108
NOTHING = Path("/dev/null")
AGENT, ROOT = "1000:1000", "0:0"  # users and groups inside: of no rights, and root, who has no capability either
STDERR, HEADER = 2, 8  # of a frame of the stream: 2 is standard error; its number, three zeros and the length
SAID = 2_000  # bytes of standard error that are kept
MANY = 4_096  # processes of a user on the whole machine, which is what the kernel counts
ADMISSION = 20  # seconds for a container to come to its door


class DockerDriver:
    """See sandbox.Driver."""

    name = "docker"

    async def problem(self) -> str:
        return await problem_of(self, "a container")

    @asynccontextmanager
    async def open(self, workspace: Path, plan: SandboxPlan) -> AsyncIterator[Sandbox]:
        client, engine = await to_thread.run_sync(connect)
        async with AsyncExitStack() as stack:
            stack.callback(client.close)
            python = await to_thread.run_sync(_prepared, client)
            folder = await installed(plan.packages, python) if plan.packages else None
            proxy = await stack.enter_async_context(Proxy(plan.hosts)) if plan.hosts else None
            empty = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            empty.chmod(0o755)
            arguments = _arguments(engine, workspace, plan, folder, empty)
            held = Held(driver=engine.name, gaps=tuple(_gaps(engine, arguments["user"])))
            containers = Containers(client, arguments, proxy)
            session = Session(containers.start, plan.limits, held)
            yield await stack.enter_async_context(opened(session))


def _prepared(client: "DockerClient") -> str:
    """Remove what others left, and return the version of the image's Python. Raise SandboxError if it is not there."""
    from docker.errors import DockerException

    try:
        reap(client)
        return image_python(find_image(client))
    except (DockerException, OSError) as error:
        raise SandboxError(one_line(f"the engine failed: {error}", 300)) from error


class Containers:
    """Starts the containers of one run, the next one if one broke down."""

    def __init__(self, client: "DockerClient", arguments: Mapping[str, Any], proxy: Proxy | None) -> None:
        self._client, self._arguments, self._proxy = client, arguments, proxy

    async def start(self) -> Transport:
        from docker.errors import DockerException

        try:
            if self._proxy is None:
                return await self._started(RUN)
            return await self._started_with_door(self._proxy)
        except (DockerException, OSError) as error:
            raise SandboxError(one_line(f"the engine starts no container: {error}", 300)) from error

    async def _started(self, command: tuple[str, ...], *mounts: Any) -> "AttachedContainer":
        container, attached = await to_thread.run_sync(self._create, command, mounts)
        transport = AttachedContainer(container, await UNIXSocketStream.from_socket(attached))
        try:
            await to_thread.run_sync(container.start)
        except BaseException:
            await transport.close()
            raise
        return transport

    async def _started_with_door(self, proxy: Proxy) -> "AttachedContainer":
        """Start a container that first hands its listener to the proxy, through a socket that is bound into it."""
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as door:
            path = Path(folder, "door")
            door.bind(str(path))
            door.listen(1)
            path.chmod(0o666)  # the folder above it is the caller's alone
            door.settimeout(ADMISSION)
            command = ("python3", "-I", RELAY_INSIDE, DOOR, *RUN)
            transport = await self._started(command, _bound(RELAY, RELAY_INSIDE), _bound(path, DOOR))
            try:
                channel, _ = await to_thread.run_sync(door.accept, abandon_on_cancel=True)
                await proxy.admit(channel)
            except BaseException:
                await transport.close()
                raise
        return transport

    def _create(self, command: tuple[str, ...], mounts: tuple[Any, ...]) -> "tuple[Container, socket.socket]":
        """Return a container that was not yet started, and the socket that is attached to its streams."""
        arguments = dict(self._arguments, entrypoint=list(command), mounts=[*self._arguments["mounts"], *mounts])
        container = self._client.containers.create(**arguments)
        try:
            streams = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            with self._client.api.attach_socket(container.id, params=streams) as stream, closing(stream._response):
                attached = socket.socket(fileno=os.dup(stream.fileno()))
        except BaseException:
            container.remove(force=True)
            raise
        attached.setblocking(False)
        return container, attached


class AttachedContainer:
    """See session.Transport. At the end of the stream the container goes by itself, also if this process is killed."""

    def __init__(self, container: "Container", stream: UNIXSocketStream) -> None:
        self._container, self._stream = container, stream
        self._frames = BufferedByteReceiveStream(stream)
        self._said = b""

    async def send(self, data: bytes) -> None:
        await self._stream.send(data)

    async def receive(self) -> bytes:
        try:
            while True:
                header = await self._frames.receive_exactly(HEADER)
                frame = await self._frames.receive_exactly(int.from_bytes(header[4:], "big"))
                if header[0] != STDERR:
                    return frame
                self._said = (self._said + frame)[-SAID:]
        except (EndOfStream, IncompleteRead) as error:
            if not self._said:
                return b""
            last = self._said.decode(errors="replace").strip().splitlines()[-1:]
            raise SandboxLost(one_line(f"the container ended: {''.join(last)}", 300)) from error

    async def close(self) -> None:
        await self._stream.aclose()
        await to_thread.run_sync(self._remove)

    def _remove(self) -> None:
        from docker.errors import DockerException

        with suppress(DockerException, OSError):  # it went by itself, or its engine did
            self._container.remove(force=True)


def _gaps(engine: Engine, user: str) -> Iterator[str]:
    yield from engine.gaps
    if engine.is_rootless:
        yield "commands are root's inside, without capabilities, and yours outside: the engine runs without root"
    elif user.startswith("0:"):
        yield "commands are root's, without capabilities: the folder is root's alone; run skillstill as another user"


def _arguments(
    engine: Engine, workspace: Path, plan: SandboxPlan, packages: Path | None, empty: Path
) -> dict[str, Any]:
    """Return what containers.create of docker's SDK is to be told.

    An empty folder hides others: Podman would copy what is in them into a tmpfs.
    """
    limits = plan.limits
    tmp = f"rw,exec,nosuid,nodev,mode=1777,size={limits.tmp}m"
    mounts = [_bound(workspace, FOLDER, read_only=not plan.writable), _bound(RUNNER, RUNNER_INSIDE)]
    mounts += [_bound(empty if path.endswith("/") else NOTHING, f"{FOLDER}/{path}".rstrip("/")) for path in plan.hidden]
    return {
        "image": image_name(),
        "labels": {LABEL: owner()},
        "auto_remove": True,
        "stdin_open": True,  # once: the runner's input ends with the attachment
        "working_dir": FOLDER,
        "hostname": "sandbox",
        "environment": _environment(packages),
        "use_config_proxy": False,  # the address of the user's proxy may hold a password
        "user": _user(engine, workspace, writable=plan.writable),
        "network_mode": "none",
        "ipc_mode": "private",
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "read_only": True,
        "tmpfs": {HOME: tmp},
        "shm_size": f"{limits.tmp}m",
        "mounts": mounts + ([_bound(packages, PACKAGES)] if packages else []),
        "mem_limit": f"{limits.memory}m",
        "memswap_limit": f"{limits.memory}m",
        "pids_limit": limits.processes + 1,  # the runner
        "nano_cpus": int(min(limits.cpus, engine.cpus) * 1e9),
        "ulimits": _ulimits(),
        "log_config": {"Type": "none", "Config": {}},
    }


def _environment(packages: Path | None) -> dict[str, str]:
    common = {"HOME": HOME, "LANG": "C.UTF-8"}
    if packages is None:
        return {**common, "PATH": PATH}
    return {**common, "PATH": f"{PACKAGES}/bin:{PATH}", "PYTHONPATH": PACKAGES}


def _user(engine: Engine, workspace: Path, *, writable: bool) -> str:
    """Return whose a container's processes are: the caller's, so that files stay theirs.

    If the caller is root it is a user of no rights, or the folder's owner if the folder is not for everybody.
    """
    if engine.is_rootless:
        return ROOT  # inside, which is the caller outside
    if os.getuid():
        return f"{os.getuid()}:{os.getgid()}"
    folder, wanted = workspace.stat(), stat.S_IROTH | stat.S_IXOTH | (stat.S_IWOTH if writable else 0)
    return AGENT if folder.st_mode & wanted == wanted else f"{folder.st_uid}:{folder.st_gid}"


def _bound(source: Path, target: str, *, read_only: bool = True) -> Any:
    from docker.types import Mount

    return Mount(target, str(source.resolve()), type="bind", read_only=read_only)


def _ulimits() -> list[Any]:
    """Return limits of each process. Podman asks for more than it may if they are not named."""
    from docker.types import Ulimit

    limits = {"nproc": MANY, "nofile": OPEN_FILES, "core": 0}
    return [Ulimit(name=name, soft=limit, hard=limit) for name, limit in limits.items()]
