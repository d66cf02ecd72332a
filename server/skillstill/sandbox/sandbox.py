"""What a sandbox is, whatever builds it: commands and files in one folder, with limits that hold."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import Field

from skillstill.types import Frozen

FOLDER = "/workspace"  # where the workspace is inside
Killed = Literal["", "time", "memory", "output"]


class SandboxLimits(Frozen):
    """Of one command, but for `memory`, `processes` and `tmp`, which all that runs in the sandbox shares.

    seconds      wall time
    cpus         cores' worth of CPU time
    memory       megabytes
    processes    at once
    output       kilobytes that come back; a command that writes 256 times as much is killed
    file         megabytes of one file that is written
    tmp          megabytes of /tmp
    """

    seconds: Annotated[float, Field(gt=0, le=3_600)] = 20
    cpus: Annotated[float, Field(gt=0, le=64)] = 1
    memory: Annotated[int, Field(ge=16, le=65_536)] = 512
    processes: Annotated[int, Field(ge=2, le=4_096)] = 64
    output: Annotated[int, Field(ge=1, le=1_024)] = 64
    file: Annotated[int, Field(ge=1, le=10_000)] = 100
    tmp: Annotated[int, Field(ge=1, le=10_000)] = 64


class Held(Frozen):
    """Which promises a sandbox keeps on this machine. One that is only asked for is none.

    driver      its name, and what enforces it: `docker 20.10.24`, `bubblewrap 0.8.0`
    gaps        for people: each limit that does not hold, with the reason
    """

    driver: str
    gaps: tuple[str, ...] = ()


class Completed(Frozen):
    """A command that ended. `output` is what it wrote to both streams, at most the limit's first kilobytes.

    code       its exit status; -N if signal N ended it; 127 if there is no such program
    is_cut     whether `output` leaves some of it out
    total      bytes that it wrote, as far as they were read
    killed     which limit ended it; empty if none did
    """

    code: int
    output: str
    is_cut: bool = False
    total: int
    killed: Killed = ""
    seconds: float


class Stream(Protocol):
    """The standard input and output of a command that goes on."""

    async def send(self, data: bytes) -> None: ...

    async def receive(self) -> bytes:
        """Return what came next, empty at the end. Raise SandboxLost instead if it is known why it ended."""
        ...


class Sandbox(Protocol):
    """One sandbox of one run. All paths are those inside. Each method raises SandboxLost if the sandbox broke down.

    What broke down is replaced by a new one at the next call.
    """

    @property
    def held(self) -> Held: ...

    async def exec(
        self,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> Completed:
        """Run a command in the workspace, at most the limit's `seconds`, and end all that it leaves behind."""
        ...

    async def serve(self, command: Sequence[str], *, environment: Mapping[str, str] | None = None) -> Stream:
        """Start a command that goes on until it ends or the sandbox does, and return its streams.

        It has a runner of its own, with a `/tmp` of its own and all limits but that of seconds: what `exec` ends is not
        among its processes. That it cannot be started is only known when its streams have ended.
        """
        ...

    async def read(self, path: str, limit: int) -> bytes:
        """Return at most `limit` bytes of a file. Raise Refusal if there is none."""
        ...

    async def write(self, path: str, data: bytes) -> None:
        """Replace or make a file and the folders above it. Raise Refusal if it cannot be written."""
        ...


class SandboxPlan(Frozen):
    """What a run asks of a sandbox.

    writable   whether commands may change the workspace
    hidden     paths of the workspace that are not to be seen inside; those of folders end with `/`
    packages   names of what is installed beside the driver's own programs, pinned: `pytest==8.4.2`
    hosts      that may be reached, through a proxy that lets through nothing else; none: there is no network
    """

    writable: bool = False
    hidden: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    limits: SandboxLimits = SandboxLimits()


class Driver(Protocol):
    """Something that builds sandboxes."""

    name: str

    async def problem(self) -> str:
        """Return why it builds none here, with what to type; empty if it does. It tries, and takes at most seconds."""
        ...

    def open(self, workspace: Path, plan: SandboxPlan) -> AbstractAsyncContextManager[Sandbox]:
        """Return a sandbox around the folder. Leaving ends everything in it. Raise SandboxError on entering."""
        ...
