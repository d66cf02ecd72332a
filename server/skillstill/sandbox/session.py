"""A sandbox as its host sees it: requests to the runner inside (runner.py), whose answers nobody trusts.

A driver gives a `Transport` to a runner that it has started. All drivers share the rest: deadlines, answers that are
checked, and a new runner in place of one that broke down.
"""

import base64
import codecs
import json
import math
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

import anyio
from pydantic import Base64Bytes, Field, ValidationError

from skillstill.errors import Refusal, SandboxLost
from skillstill.sandbox.sandbox import Completed, Held, Killed, SandboxLimits, Stream
from skillstill.types import Frozen
from skillstill.util.text import one_line

RUNNER = Path(__file__).with_name("runner.py")
START = 30.0  # seconds until a runner has to answer first: an engine under load takes some of them
GRACE = 2.0  # seconds that an answer may be late
FILE_SECONDS = 20.0  # for a file to be read or written
MOST_DATA = 16 << 20  # bytes of a file that is read or written in one piece
LONGEST_ANSWER = MOST_DATA * 4 // 3 + 4_096  # bytes of a line: the data in base64, and the names around it
FLOOD = 256  # times the output that is kept may be written before the command is killed
MEGABYTE = 1 << 20
OPEN_FILES = 256
SERVED = 3_600.0  # seconds of CPU time, for each core, of a command that goes on: no run takes longer


class Transport(Stream, Protocol):
    """The pipes of a runner that was started."""

    async def close(self) -> None:
        """End everything inside. Calling it again does nothing."""
        ...


class Answer(Frozen):
    """What the runner says to a request; `error` says why a file was not read or written."""

    id: str
    error: Annotated[str, Field(max_length=1_000)] = ""


class FileAnswer(Answer):
    data: Base64Bytes = b""


class ExecAnswer(FileAnswer):
    code: int
    total: Annotated[int, Field(ge=0)]
    killed: Killed
    seconds: Annotated[float, Field(ge=0)]


Kind = TypeVar("Kind", bound=Answer)


class Session:
    """A sandbox (sandbox.py) over the transports that `start` returns, one at a time.

    needs_runner   whether memory and processes are limited by what the runner can do, for want of better means
    """

    def __init__(
        self,
        start: Callable[[], Awaitable[Transport]],
        limits: SandboxLimits,
        held: Held,
        *,
        needs_runner: bool = False,
    ) -> None:
        self._start, self._limits, self._held, self._needs_runner = start, limits, held, needs_runner
        self._transport: Transport | None = None
        self._served: list[Transport] = []
        self._turn = anyio.Lock()  # a runner does one thing at a time

    @property
    def held(self) -> Held:
        return self._held

    async def exec(
        self,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> Completed:
        limit = min(seconds or math.inf, self._limits.seconds)
        kept = self._limits.output << 10
        request = {
            "do": "exec",
            "command": list(command),
            "environment": dict(environment or {}),
            "stdin": base64.b64encode(stdin).decode(),
            "seconds": limit,
            "output": kept,
            "most": kept * FLOOD,
            **self._limited(limit),
        }
        answer = await self._ask(ExecAnswer, request, limit)
        data, is_cut = answer.data[:kept], answer.total > len(answer.data[:kept])
        text = codecs.getincrementaldecoder("utf-8")("replace").decode(data, final=not is_cut)
        return Completed(
            code=answer.code,
            output=text,
            is_cut=is_cut,
            total=answer.total,
            killed=answer.killed,
            seconds=answer.seconds,
        )

    async def serve(self, command: Sequence[str], *, environment: Mapping[str, str] | None = None) -> Stream:
        request = {
            "do": "serve",
            "command": list(command),
            "environment": dict(environment or {}),
            **self._limited(SERVED),
        }
        async with self._turn:
            if self._transport is None:
                await self.start()
            assert self._transport
            stream, self._transport = self._transport, None
            self._served.append(stream)
            await stream.send(json.dumps(request).encode() + b"\n")
        return stream

    async def read(self, path: str, limit: int) -> bytes:
        most = min(limit, MOST_DATA)
        answer = await self._ask(FileAnswer, {"do": "read", "path": path, "most": most}, FILE_SECONDS)
        if answer.error:
            raise Refusal(f"{path!r} cannot be read: {one_line(answer.error, 200)}")
        return answer.data[:most]

    async def write(self, path: str, data: bytes) -> None:
        if len(data) > (most := min(self._limits.file * MEGABYTE, MOST_DATA)):
            raise Refusal(f"{path!r} cannot be written: {len(data):,} bytes, at most {most:,} are")
        request = {"do": "write", "path": path, "data": base64.b64encode(data).decode()}
        answer = await self._ask(Answer, request, FILE_SECONDS)
        if answer.error:
            raise Refusal(f"{path!r} cannot be written: {one_line(answer.error, 200)}")

    async def start(self) -> None:
        """Start a runner and hear from it. Raise SandboxError if it says nothing."""
        self._transport = await self._start()
        await self._exchange(self._transport, Answer, {"do": "greet"}, START)

    async def close(self) -> None:
        """End everything inside, even if the caller is being cancelled."""
        with anyio.CancelScope(shield=True):
            await self._end_runner()
            while self._served:
                await self._served.pop().close()

    async def _end_runner(self) -> None:
        """End the runner that executes, if there is one."""
        transport, self._transport = self._transport, None
        if transport:
            with anyio.CancelScope(shield=True):
                await transport.close()

    async def _ask(self, kind: type[Kind], request: Mapping[str, Any], seconds: float) -> Kind:
        """Return the answer of a runner, which is started if there is none. Raise SandboxLost if it does not answer."""
        async with self._turn:
            if self._transport is None:
                await self.start()
            assert self._transport
            return await self._exchange(self._transport, kind, request, seconds)

    async def _exchange(
        self, transport: Transport, kind: type[Kind], request: Mapping[str, Any], seconds: float
    ) -> Kind:
        """Return the answer. A runner that gives none, or is not waited for any longer, is ended."""
        number = secrets.token_hex(8)
        try:
            with anyio.fail_after(seconds + GRACE):
                await transport.send(json.dumps({"id": number, **request}).encode() + b"\n")
                answer = kind.model_validate_json(await _line(transport))
            if answer.id != number:
                raise SandboxLost("the sandbox broke down: it answered another request")
        except TimeoutError as error:
            await self._end_runner()
            raise SandboxLost(f"the sandbox broke down: no answer within {seconds + GRACE:g} seconds") from error
        except ValidationError as error:
            await self._end_runner()
            raise SandboxLost("the sandbox broke down: what it answered is no answer") from error
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError) as error:
            await self._end_runner()
            raise SandboxLost(f"the sandbox broke down: {str(error) or 'it has ended'}") from error
        except BaseException:
            await self._end_runner()
            raise
        return answer

    def _limited(self, seconds: float) -> Mapping[str, Any]:
        """Return what of a request the runner limits a command by."""
        memory = self._limits.memory * MEGABYTE if self._needs_runner else 0
        return {"memory": memory, "limits": self._process_limits(seconds)}

    def _process_limits(self, seconds: float) -> Mapping[str, int]:
        """Return what holds for each process of a command, by the names of setrlimit.

        DATA keeps one process from taking much between two looks at the memory. AS would count what it only reserves,
        which Go and Node do by the gigabyte.
        """
        limits = self._limits
        return {
            **({"DATA": limits.memory * MEGABYTE, "NPROC": limits.processes} if self._needs_runner else {}),
            "CPU": math.ceil(seconds * limits.cpus),
            "FSIZE": limits.file * MEGABYTE,
            "NOFILE": OPEN_FILES,
            "CORE": 0,
        }


@asynccontextmanager
async def opened(session: Session) -> AsyncIterator[Session]:
    """Yield the session with its first runner started. Leaving ends everything in it."""
    try:
        await session.start()
        yield session
    finally:
        await session.close()


async def _line(transport: Transport) -> bytes:
    """Return one line and nothing else. Raise SandboxLost if it does not come whole."""
    data = bytearray()
    while not data.endswith(b"\n"):
        chunk = await transport.receive()
        if not chunk:
            raise SandboxLost("the sandbox broke down: it has ended")
        data += chunk
        if len(data) > LONGEST_ANSWER:
            raise SandboxLost("the sandbox broke down: its answer is too long")
    return bytes(data)
