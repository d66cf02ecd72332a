"""The MCP front over streamable HTTP: who may call, from where, how much and how often.

    connections -> authentication -> rate limit -> well-formed Host and Origin -> hang-ups -> sessions
        -> the SDK: 401, Host 421, Origin 403, body limit 413, both protocol eras

Not covered: encryption. Put a TLS proxy or an ssh tunnel before it.
"""

import asyncio
import re
import secrets
import socket
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import uvicorn
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.types import ASGIApp

from skillstill.errors import UsageError
from skillstill.server.connections import CONNECTIONS, STRANGERS, connection_class
from skillstill.server.guards import Clock, HangUps, RateLimit, Sessions, WellFormed, is_host
from skillstill.server.tokens import SINGLE, TOKEN, TokenTable
from skillstill.util.hosts import is_loopback

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
GRACE = 3  # seconds that open requests have when the server stops
Announce = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Where to listen and whom to answer. Port 0: any free one. `allowed_hosts`: as in a Host header, port optional.

    `token` is one for all clients, `clients` holds tokens by name: each of those sees its own runs only. `max_body` is
    in bytes; `max_sessions` are of the 2025 era; `calls_per_minute` counts every POST of one address, and a task that
    a client polls twice a second makes 120 of them; `patience` is how many seconds a client may take to send a request,
    and may leave an answer unread.
    """

    host: str = "127.0.0.1"
    port: int = 0
    token: str = field(default="", repr=False)
    clients: Mapping[str, str] = field(default_factory=dict, repr=False)
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    max_body: int = 1_000_000
    max_sessions: int = 1_000
    calls_per_minute: int = 600
    patience: float = 30.0

    @property
    def loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def tokens(self) -> Mapping[str, str]:
        """Return all tokens, by the names of their clients."""
        return {**({SINGLE: self.token} if self.token else {}), **self.clients}


def check(options: HttpOptions) -> None:
    """Raise UsageError if the options would let strangers in."""
    if not options.loopback and not (options.tokens and options.allowed_hosts):
        raise UsageError(
            f"other machines can reach {options.host}, so it needs a token and the names that clients call it by: type "
            "`SKILLSTILL_TOKEN=$(openssl rand -hex 32) skillstill serve --http PORT --host HOST --allowed-host NAME`"
        )
    if not all(map(TOKEN.fullmatch, options.tokens.values() or [""])):
        raise UsageError("the token must be 16 or more printable ASCII characters without spaces: set SKILLSTILL_TOKEN")
    if options.token in options.clients.values():
        raise UsageError("a client in the token file has the token in SKILLSTILL_TOKEN: each needs its own")
    for name in options.allowed_hosts:
        if not is_host(name):
            raise UsageError(f"{name!r} is no host name: expected one such as build.lan or build.lan:8443")


def application(server: Server[Any], options: HttpOptions, clock: Clock = time.monotonic) -> Starlette:
    """Return the guarded ASGI application. Raise UsageError, also if there is no token."""
    check(options)
    tokens = TokenTable(options.tokens)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=options.max_body,
        max_sessions=options.max_sessions + CONNECTIONS,  # that many may be in use, which `Sessions` does not end
        transport_security=_security(options),
        token_verifier=tokens,
    )
    app.add_middleware(Sessions, most=options.max_sessions)
    app.add_middleware(HangUps, patience=options.patience)
    app.add_middleware(WellFormed)
    app.add_middleware(RateLimit, per_minute=options.calls_per_minute, clock=clock)
    app.add_middleware(AuthenticationMiddleware, backend=BearerAuthBackend(tokens))  # added last: comes first
    return app


def say(text: str) -> None:
    """Print a line, not through the log, which never holds a token."""
    sys.stderr.write(f"{text}\n")


async def serve_http(
    server: Server[Any], options: HttpOptions, *, announce: Announce = say, clock: Clock = time.monotonic
) -> None:
    """Serve until SIGINT, SIGTERM or cancellation. Once it listens, announces its address and how to add it.

    Raise UsageError if the options are unsafe or the address cannot be had.
    """
    made_up = secrets.token_urlsafe(32) if options.loopback and not options.tokens else ""
    app = application(server, replace(options, token=options.token or made_up), clock)
    with _bound(options) as listening:
        url = _url(options, listening.getsockname()[1])
        await _serve(_Listener(app, options.patience, lambda: announce(_welcome(url, made_up))), listening)


async def _serve(listener: "_Listener", listening: socket.socket) -> None:
    """Serve until cancelled, and stop then as on a signal: uvicorn alone would leave everything open."""
    stopped = anyio.Event()

    async def serve() -> None:
        with anyio.CancelScope(shield=True):
            await listener.serve(sockets=[listening])
        stopped.set()

    async with anyio.create_task_group() as group:
        group.start_soon(serve)
        try:
            await stopped.wait()
        finally:
            listener.should_exit = True


class _Listener(uvicorn.Server):
    def __init__(self, app: ASGIApp, patience: float, on_ready: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=connection_class(patience),
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,  # whoever may name its own address evades the rate limit
                limit_concurrency=CONNECTIONS + STRANGERS,
                timeout_graceful_shutdown=GRACE + 2,
            )
        )
        self.on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop. Streams on which clients listen for changes never end by themselves: they are closed after GRACE."""
        timer = asyncio.get_running_loop().call_later(GRACE, self._hang_up)
        try:
            await super().shutdown(sockets)
        finally:
            timer.cancel()

    def _hang_up(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()


def _bound(options: HttpOptions) -> socket.socket:
    host = "127.0.0.1" if options.host == "localhost" else options.host
    try:
        bound = socket.create_server((host, options.port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        reason = str(getattr(error, "strerror", None) or error).partition(" (")[0]  # Python repeats the address
        raise UsageError(f"cannot listen on {options.host} port {options.port}: {reason}") from error
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio leaves it out here: 47 ms a call
    return bound


def _url(options: HttpOptions, port: int) -> str:
    """Return the address. Off loopback it has the first name that clients may use; a port in that is a proxy's."""
    name = _in_brackets(options.host) if options.loopback else options.allowed_hosts[0]
    return f"http://{name if re.search(r':[0-9]+$', name) else f'{name}:{port}'}{PATH}"


def _welcome(url: str, made_up: str) -> str:
    """Return a token that the user gave is not repeated; one that was made up is shown here and nowhere else."""
    shown = made_up or "$SKILLSTILL_TOKEN"
    return (
        f"skillstill: serving on {url}\n"
        f'skillstill: claude mcp add --transport http skillstill {url} --header "Authorization: Bearer {shown}"'
    )


def _security(options: HttpOptions) -> TransportSecuritySettings:
    """Return which Host and Origin headers are answered; a name without a port stands for all of its ports."""
    own = (*LOOPBACK, _in_brackets(options.host)) if options.loopback else ()
    hosts = [*own, *(name.lower() for name in options.allowed_hosts)]
    return TransportSecuritySettings(
        allowed_hosts=[*hosts, *(f"{name}:*" for name in hosts)],
        allowed_origins=[*(f"http://{name}:*" for name in own), *options.allowed_origins],
    )


def _in_brackets(host: str) -> str:
    return f"[{host}]" if ":" in host else host
