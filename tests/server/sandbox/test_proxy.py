"""The way out of a sandbox: the hosts that a skill names, and nothing else."""

import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import ByteStream, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream
from hypothesis import given
from hypothesis import strategies as st
from skillstill.errors import Refusal, SandboxError
from skillstill.sandbox import relay
from skillstill.sandbox.proxy import Proxy, connect_public, is_named, read_request
from skillstill.util.addresses import is_public

pytestmark = pytest.mark.anyio
SAY = "import os, sys; sys.stdout.write(os.environ['http_proxy'] + '\\n'); sys.stdout.flush(); input()"


async def echo(stream: SocketStream) -> None:
    """A server that sends back what it gets, to the end, or to the end of a request of HTTP."""
    async with stream:
        async for chunk in stream:
            await stream.send(chunk)
            if chunk.endswith((b"Connection: close\r\n\r\n", b"body")):
                break


class Network:
    """What the proxy can reach: one server on loopback, whatever the name. Remembers what it was asked for."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.reached: list[tuple[str, int]] = []

    async def connect(self, host: str, port: int) -> ByteStream:
        self.reached.append((host, port))
        return await anyio.connect_tcp("127.0.0.1", self.port)


@asynccontextmanager
async def network(serve: Callable[[SocketStream], Any] = echo) -> AsyncIterator[Network]:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as server, anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve, serve)
        yield Network(server.extra(anyio.abc.SocketAttribute.local_port))
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def relayed(proxy: Proxy) -> AsyncIterator[int]:
    """The port that a program behind relay.py is told to use, while it runs."""
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-I", relay.__file__, str(theirs.fileno()), sys.executable, "-c", SAY]
    with theirs:
        process = await anyio.open_process(command, pass_fds=[theirs.fileno()], stderr=None)
    async with process:
        await proxy.admit(ours)
        assert process.stdout
        line = await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", 100)
        yield int(line.decode().removeprefix("http://127.0.0.1:"))
        process.kill()


async def ask(port: int, data: bytes) -> bytes:
    """Everything that comes back over one connection."""
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        await stream.send(data)
        await stream.send_eof()
        return b"".join([chunk async for chunk in stream])


@asynccontextmanager
async def proxied(*hosts: str, most: int = 1 << 20) -> AsyncIterator[tuple[int, Network]]:
    async with (
        network() as there,
        Proxy(hosts, there.connect, most) as proxy,
        relayed(proxy) as port,
    ):
        yield port, there


async def test_a_named_host_is_reached_through_a_tunnel() -> None:
    async with proxied("example.org") as (port, there):
        assert await ask(port, b"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\nhello") == (
            b"HTTP/1.1 200 Connected\r\n\r\nhello"
        )
    assert there.reached == [("example.org", 443)]


async def test_a_plain_request_is_forwarded_in_the_named_hosts_name() -> None:
    head = b"POST http://Example.org/a?b HTTP/1.1\r\nHost: other.org\r\nProxy-Authorization: x\r\nX: y\r\n"
    request = head + b"Content-Length: 4\r\n\r\nbody"
    async with proxied("example.org") as (port, there):
        said = await ask(port, request)
    assert (
        said == b"POST /a?b HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\nX: y\r\nContent-Length: 4\r\n\r\nbody"
    )
    assert there.reached == [("example.org", 80)]


async def test_a_second_request_does_not_ride_on_the_first() -> None:
    first = b"GET http://example.org/ HTTP/1.1\r\n\r\n"
    async with proxied("example.org") as (port, _):
        said = await ask(port, first + b"GET /secret HTTP/1.1\r\nHost: other.org\r\n\r\n")
    assert b"secret" not in said


@pytest.mark.parametrize(
    "line",
    [
        b"CONNECT other.org:443 HTTP/1.1",
        b"CONNECT example.org.evil.net:443 HTTP/1.1",
        b"CONNECT evilexample.org:443 HTTP/1.1",
        b"CONNECT example.org@other.org:443 HTTP/1.1",
        b"CONNECT 127.0.0.1:443 HTTP/1.1",
        b"CONNECT [::1]:443 HTTP/1.1",
        b"CONNECT example.org:22 HTTP/1.1",
        b"GET http://example.org:8080/ HTTP/1.1",
        b"GET http://other.org/?example.org HTTP/1.1",
        b"GET https://example.org/ HTTP/1.1",
        b"GET /etc/passwd HTTP/1.1",
        b"GET http://example.org/ HTTP/1.1\r\nTransfer-Encoding: chunked",
        b"GET http://example.org/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 9",
        b"GET http://example.org/ HTTP/1.1\r\nA: b\nHost: other.org",
        b"\x16\x03\x01\x02\x00\x01",
    ],
)
async def test_anything_else_is_refused_in_a_sentence(line: bytes) -> None:
    async with proxied("example.org", "*.example.com") as (port, there):
        said = await ask(port, line + b"\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    assert not there.reached


async def test_a_head_without_end_is_not_read_to_its_end() -> None:
    async with proxied("example.org") as (port, there), await anyio.connect_tcp("127.0.0.1", port) as stream:
        with suppress(anyio.BrokenResourceError, anyio.EndOfStream):
            while True:
                await stream.send(b"GET http://example.org/ HTTP/1.1\r\nA: " + b"b" * 65_536)
    assert not there.reached


async def test_a_star_names_what_is_below_a_domain_and_not_the_domain() -> None:
    assert is_named("a.b.example.org", ["*.Example.org"])
    assert not is_named("example.org", ["*.example.org"])
    assert not is_named("badexample.org", ["*.example.org"])
    assert not is_named("example.org", ["*"])


async def test_a_run_gets_no_more_bytes_than_it_may() -> None:
    async with proxied("example.org", most=1_000) as (port, _):
        head = b"CONNECT example.org:443 HTTP/1.1\r\n\r\n"
        assert (await ask(port, head + b"a" * 400)).endswith(b"a" * 400)
        assert not (await ask(port, head + b"b" * 400)).endswith(b"b" * 400)


async def test_a_connection_that_breaks_leaves_the_others_alone() -> None:
    async with proxied("example.org") as (port, _):
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(b"CONNECT exam")
        assert (await ask(port, b"CONNECT example.org:443 HTTP/1.1\r\n\r\nhello")).endswith(b"hello")


async def test_a_host_that_does_not_answer_is_a_bad_gateway() -> None:
    async def nowhere(host: str, port: int) -> ByteStream:
        raise ConnectionRefusedError(111, "Connection refused")

    async with Proxy(["example.org"], nowhere) as proxy, relayed(proxy) as port:
        said = await ask(port, b"CONNECT example.org:443 HTTP/1.1\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")


async def test_a_named_host_on_this_machine_is_not_reached() -> None:
    with pytest.raises(Refusal, match="localhost has no public address"):
        await connect_public("localhost", 80)


PRIVATE = """
    127.0.0.1 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255
    ::1 :: fe80::1 fc00::1 ff02::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::a00:1 2002:a00:1:: 2001:0:a00:1::
"""


@pytest.mark.parametrize("address", PRIVATE.split())
async def test_what_is_not_public_is_not_reached_however_it_is_written(address: str) -> None:
    assert not is_public(address)


async def test_public_addresses_are_reached() -> None:
    assert is_public("93.184.215.14")
    assert is_public("2606:2800:21f:cb07:6820:80da:af6b:8b2c")


async def test_a_sandbox_that_opens_no_way_is_an_error() -> None:
    ours, theirs = socket.socketpair()
    theirs.close()
    async with Proxy(["example.org"]) as proxy:
        with pytest.raises(SandboxError, match="did not open its way"):
            await proxy.admit(ours)


@given(st.binary(max_size=200))
def test_no_bytes_make_the_proxy_fail(head: bytes) -> None:
    try:
        request = read_request(head)
    except Refusal:
        return
    assert request.port in {80, 443}


def test_relay_needs_nothing_but_python(tmp_path: Path) -> None:
    assert "skillstill" not in Path(relay.__file__).read_text(encoding="utf-8")
