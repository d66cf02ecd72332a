"""The only way from a sandbox to the network: a proxy on the host that lets through the hosts that a skill names.

    async with Proxy(plan.hosts) as proxy:
        ...  # start `relay.py DOOR RUNNER...` in the sandbox
        await proxy.admit(channel)  # the host's end of the door, connected

Inside, `http_proxy` and `https_proxy` name a port of the sandbox's loopback, whose listener relay.py handed over. HTTPS
is a tunnel to port 443, and HTTP one request to port 80 a connection. A name is resolved here, and an address that is
not public is refused, so that no name leads to this machine, its network or a cloud's metadata. What a host that is let
through does with what it gets is not known here: name only hosts that may see the workspace.
"""

import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Self

import anyio
from anyio import BrokenResourceError, ClosedResourceError, DelimiterNotFound, EndOfStream, IncompleteRead
from anyio.abc import ByteReceiveStream, ByteStream, SocketListener, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from skillstill.errors import Refusal, SandboxError
from skillstill.types import Frozen
from skillstill.util.addresses import is_public

HEAD = 32_768  # bytes of a request's head
CHUNK = 65_536
PATIENCE = 60  # seconds without a byte, after which a connection ends
ADMISSION = 20  # seconds for a sandbox to hand its listener over
CONNECTIONS = 32  # at once
MOST = 256 << 20  # bytes of a run, in both directions together
REQUEST = re.compile(r"([A-Z]+) (?:http://)?([A-Za-z0-9._-]+)(?::(\d{1,5}))?(/[^\s]*)? HTTP/1\.[01]")
HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[^\r\n\0]*")
OWN_HEADERS = {"host", "connection", "keep-alive", "te", "trailer", "upgrade"}  # and proxy-...: not the server's

BROKEN = (
    OSError,
    BrokenResourceError,
    ClosedResourceError,
    EndOfStream,
    IncompleteRead,
)  # OSError: or it took too long

Connect = Callable[[str, int], Awaitable[ByteStream]]


class Request(Frozen):
    """The head of a request to the proxy. `length` is that of its body, which a tunnel has not."""

    method: str
    host: str
    port: int
    path: str = ""
    headers: tuple[str, ...] = ()
    length: int = 0

    @property
    def is_tunnel(self) -> bool:
        return self.method == "CONNECT"

    def forwarded(self) -> bytes:
        """Return the head that the server gets."""
        lines = (f"{self.method} {self.path} HTTP/1.1", f"Host: {self.host}", "Connection: close", *self.headers)
        return "\r\n".join((*lines, "", "")).encode("latin-1")


def read_request(head: bytes) -> Request:
    """Return the request that a head says. Raise Refusal if it is none that the proxy forwards."""
    first, *lines = head.decode("latin-1").split("\r\n")
    found, headers = REQUEST.fullmatch(first), [HEADER.fullmatch(line) for line in lines]
    if not found or not all(headers):
        raise Refusal("the proxy of this sandbox reads HTTP requests, `CONNECT host:443` and `GET http://host/…`")
    method, host, port, path = found.groups()
    tunnel = method == "CONNECT"
    if int(port or 80) != (443 if tunnel else 80):
        raise Refusal("the proxy of this sandbox lets through HTTPS to port 443 and HTTP to port 80")
    host = host.lower().removesuffix(".")
    if tunnel:
        return Request(method=method, host=host, port=443)
    names = [line.partition(":")[0].lower() for line in lines]
    if "transfer-encoding" in names or names.count("content-length") > 1:
        raise Refusal("the proxy of this sandbox needs one Content-Length of what is sent")
    lengths = [
        line.partition(":")[2].strip() for line, name in zip(lines, names, strict=True) if name == "content-length"
    ]
    return Request(
        method=method,
        host=host,
        port=80,
        path=path or "/",
        headers=tuple(
            line
            for line, name in zip(lines, names, strict=True)
            if name not in OWN_HEADERS and not name.startswith("proxy-")
        ),
        length=int(lengths[0]) if lengths and lengths[0].isdecimal() else 0,
    )


def is_named(host: str, hosts: Sequence[str]) -> bool:
    """Return whether a host is among these names; `*.example.org` names all hosts below example.org."""
    return any(host == one or (one.startswith("*.") and host.endswith(one[1:])) for one in map(str.lower, hosts))


async def connect_public(host: str, port: int) -> ByteStream:
    """Return a connection to a public address of a host. Raise Refusal if it has none, OSError if none answers."""
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(address[0]) for *_, address in found if is_public(str(address[0]))]
    if not addresses:
        raise Refusal(f"{host} has no public address: this sandbox reaches nothing on its own network")
    for address in addresses[:-1]:
        with suppress(OSError):
            return await anyio.connect_tcp(address, port)
    return await anyio.connect_tcp(addresses[-1], port)


class Proxy:
    """A proxy for one run, as an async context manager. Leaving it ends all connections."""

    def __init__(self, hosts: Sequence[str], connect: Connect = connect_public, most: int = MOST) -> None:
        self._hosts, self._connect, self._left = hosts, connect, most
        self._room = anyio.Semaphore(CONNECTIONS)
        self._tasks = anyio.create_task_group()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)

    async def admit(self, channel: socket.socket) -> None:
        """Serve the listener that comes through a connected unix socket, and close that. Raise SandboxError."""
        with channel:
            channel.settimeout(ADMISSION)
            try:
                listener = await anyio.to_thread.run_sync(_receive_listener, channel, abandon_on_cancel=True)
            except OSError as error:
                raise SandboxError(f"the sandbox did not open its way to the proxy: {error}") from error
        self._tasks.start_soon(self._listen, await SocketListener.from_socket(listener))

    async def _listen(self, listener: SocketListener) -> None:
        async with listener:
            await listener.serve(self._serve, self._tasks)

    async def _serve(self, client: SocketStream) -> None:
        """Serve one connection. What breaks ends this connection only."""
        with suppress(*BROKEN):
            async with client, self._room:
                try:
                    await self._forward(client)
                except (Refusal, DelimiterNotFound) as refusal:
                    await client.send(_answer("403 Forbidden", str(refusal)))
                except OSError as error:
                    await client.send(_answer("502 Bad Gateway", f"no connection: {error.strerror or error}"))

    async def _forward(self, client: SocketStream) -> None:
        received = BufferedByteReceiveStream(client)
        with anyio.fail_after(PATIENCE):
            request = read_request(await received.receive_until(b"\r\n\r\n", HEAD))
            if not is_named(request.host, self._hosts):
                raise Refusal(f"{request.host} is not among the hosts of this sandbox: {', '.join(self._hosts)}")
            server = await self._connect(request.host, request.port)
        async with server, anyio.create_task_group() as both:
            if request.is_tunnel:
                await client.send(b"HTTP/1.1 200 Connected\r\n\r\n")
            else:
                await server.send(request.forwarded())
            both.start_soon(self._pump, received, server, MOST if request.is_tunnel else request.length)
            await self._pump(server, client, MOST)
            both.cancel_scope.cancel()

    async def _pump(self, source: ByteReceiveStream, target: ByteStream, most: int) -> None:
        """Send at most so many bytes from one to the other, and no more than the run has left.

        The end of one is passed on to the other; a connection that breaks ends like one that is closed.
        """
        with suppress(*BROKEN):
            while most > 0 and self._left > 0:
                with anyio.fail_after(PATIENCE):
                    chunk = await source.receive(min(CHUNK, most, self._left))
                    most -= len(chunk)
                    self._left -= len(chunk)
                    await target.send(chunk)
            return
        with suppress(*BROKEN):
            await target.send_eof()


def _answer(status: str, text: str) -> bytes:
    body = f"{text}\n".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


def _receive_listener(channel: socket.socket) -> socket.socket:
    """Return the listening socket that relay.py sends. Raise OSError if there comes none."""
    _, descriptors, *_ = socket.recv_fds(channel, 1, 1)
    if not descriptors:
        raise OSError("it ended")
    listener = socket.socket(fileno=descriptors[0])
    listener.setblocking(False)
    return listener
