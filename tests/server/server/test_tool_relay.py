"""The server of tools that somebody else executes, over stdio."""

import os
import sys
from pathlib import Path
from typing import cast

import anyio
import pytest
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp import Client, StdioServerParameters
from mcp_types import RequestParamsMeta
from skillstill.server.tool_relay import CALL_ID, SCHEMAS, SOCKET, TOOLS
from skillstill.types import ToolSchema

from tests.scenes import HANGS

pytestmark = pytest.mark.anyio
READ = ToolSchema(name="read", description="Reads a file.", parameters={"type": "object"})


def meta(call: str) -> RequestParamsMeta:
    return cast("RequestParamsMeta", {CALL_ID: call})


async def answer_at_length(stream: SocketStream) -> None:
    async with stream:
        call = (await BufferedByteReceiveStream(stream).receive_until(b"\n", 100)).decode()
        await stream.send(f"r1: {call} {'ö' * 100_000}".encode())


async def test_it_offers_what_it_was_told_and_has_each_call_answered_by_its_id(tmp_path: Path) -> None:
    (tmp_path / TOOLS).write_bytes(SCHEMAS.dump_json((READ,)))
    command = ["-m", "skillstill.server.tool_relay", str(tmp_path)]
    relay = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    with anyio.fail_after(HANGS):
        async with Client(relay) as client:
            (tool,) = (await client.list_tools()).tools
            assert (tool.name, tool.description, tool.input_schema) == ("read", "Reads a file.", {"type": "object"})
            assert tool.annotations
            assert tool.annotations.read_only_hint
            alone = await client.call_tool("read", {}, meta=meta("toolu_1"))
            assert (alone.is_error, alone.content[0].text) == (True, "nobody is there to execute this call")  # type: ignore[union-attr]
            async with (
                await anyio.create_unix_listener(tmp_path / SOCKET) as listener,
                anyio.create_task_group() as group,
            ):
                group.start_soon(listener.serve, answer_at_length)
                answered = await client.call_tool("read", {}, meta=meta("toolu_2"))
                assert not answered.is_error
                assert answered.content[0].text == f"r1: toolu_2 {'ö' * 100_000}"  # type: ignore[union-attr]
                unnamed = await client.call_tool("read", {})
                assert (unnamed.is_error, unnamed.content[0].text) == (True, "this call has no id")  # type: ignore[union-attr]
                group.cancel_scope.cancel()
