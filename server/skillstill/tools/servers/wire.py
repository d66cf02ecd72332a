"""An MCP server's standard input and output as the mcp library's streams of messages. Nothing that comes is trusted."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter

from skillstill.errors import SandboxError, SandboxLost
from skillstill.sandbox.sandbox import Stream
from skillstill.util.text import one_line

MOST = 4 << 20  # bytes that a server may write after each request
SHOWN = 80  # characters of what is no message
BROKEN = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


class Wire:
    """One message a line, both ways.

    ended     why nothing comes any more; empty as long as something may
    rubbish   the last line that was no message
    """

    def __init__(self, stream: Stream) -> None:
        self.ended, self.rubbish = "", ""
        self._stream, self._room = stream, MOST

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[TransportStreams]:
        """Yield what the library reads from and writes to. At the end of the server the first one ends."""
        into, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, out_of = anyio.create_memory_object_stream[SessionMessage](0)
        async with incoming, outgoing, into, out_of, anyio.create_task_group() as tasks:
            tasks.start_soon(self._read, into)
            tasks.start_soon(self._write, out_of, into)
            yield incoming, outgoing
            tasks.cancel_scope.cancel()

    async def _read(self, into: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        rest = b""
        async with into:
            try:
                while chunk := await self._stream.receive():
                    self._count(chunk)
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        await self._pass_on(line, into)
                raise SandboxLost("it has ended")
            except (SandboxError, *BROKEN) as error:
                self.ended = self.ended or str(error) or "it has ended"

    def _count(self, chunk: bytes) -> None:
        """Raise SandboxLost if the server writes more than anybody asked for."""
        self._room -= len(chunk)
        if self._room < 0:
            raise SandboxLost(f"it wrote more than {MOST >> 20} MB to one request")

    async def _pass_on(self, line: bytes, into: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except (ValueError, RecursionError):
            self.rubbish = one_line(line.decode(errors="replace"), SHOWN) or self.rubbish
        else:
            await into.send(SessionMessage(message))

    async def _write(
        self,
        out_of: MemoryObjectReceiveStream[SessionMessage],
        into: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        try:
            async for one in out_of:
                if isinstance(one.message, JSONRPCRequest):  # what only answers the server earns it no room
                    self._room = MOST
                text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                await self._stream.send(text.encode() + b"\n")
        except (SandboxError, *BROKEN) as error:
            self.ended = self.ended or str(error) or "it has ended"
            await into.aclose()
