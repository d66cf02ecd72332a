"""What stands between the network and the SDK's HTTP transport, as plain ASGI: each class has one job."""

import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CLIENTS = 1_024  # addresses whose rate is remembered
Clock = Callable[[], float]


class RateLimit:
    """Answers 429 to an address that posts more often than it may; a minute's worth may come at once.

    Only callers with the token are counted: others are refused anyway, and must not use up somebody's rate.
    For each address one number is kept: when all that it has sent so far would be due at an even pace.
    """

    def __init__(self, app: ASGIApp, per_minute: int, clock: Clock) -> None:
        self.app, self.clock = app, clock
        self.pace = 60 / per_minute
        self.due: OrderedDict[str, float] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wait = self.wait(scope["client"][0]) if self.counts(scope) else 0.0
        if wait <= 0:
            return await self.app(scope, receive, send)
        seconds = str(int(wait) + 1)
        body = {"error": "rate_limited", "error_description": f"Too many calls: try again in {seconds} s"}
        return await JSONResponse(body, 429, {"Retry-After": seconds})(scope, receive, send)

    def counts(self, scope: Scope) -> bool:
        return (
            scope["type"] == "http" and scope["method"] == "POST" and isinstance(scope.get("user"), AuthenticatedUser)
        )

    def wait(self, address: str) -> float:
        """Seconds until this address may call; 0 or less: now, and the call is counted."""
        now = self.clock()
        due = max(now, self.due.pop(address, now))
        wait = due + self.pace - now - 60
        self.due[address] = due if wait > 0 else due + self.pace
        if len(self.due) > CLIENTS:
            self.due.popitem(last=False)
        return wait


class HangUps:
    """Takes a client that leaves an answer unread for one that has hung up, and frees the run of any that has.

    In the 2026 era the SDK frees it by itself. The 2025 transport lets it go on for a client that comes back for its
    answer; without an event store it cannot, so its request is cancelled in its name.
    """

    def __init__(self, app: ASGIApp, patience: float) -> None:
        self.app, self.patience = app, patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        exchange = _Exchange(receive, send, self.patience)
        await self.app(scope, exchange.receive, exchange.send)
        if exchange.hung_up and MCP_SESSION_ID_HEADER in Headers(scope=scope):
            await self.cancel(scope, bytes(exchange.body))
        return None

    async def cancel(self, scope: Scope, body: bytes) -> None:
        """Post `notifications/cancelled` for the request that `body` holds."""
        request = _request_id(body)
        if request is None:
            return
        params = {"requestId": request, "reason": "the client hung up"}
        notice = json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).encode()
        headers = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
        messages = iter([{"type": "http.request", "body": notice}])

        async def receive() -> Message:
            return next(messages, {"type": "http.disconnect"})

        async def send(_: Message) -> None:
            """Nobody is there to read it."""

        await self.app({**scope, "headers": headers}, receive, send)


class _Exchange:
    """One request and its answer, watched. `body` stays within the SDK's limit: beyond it nothing more is received."""

    def __init__(self, receive: Receive, send: Send, patience: float) -> None:
        self._receive, self._send, self.patience = receive, send, patience
        self.body = bytearray()
        self.hung_up = self.answered = False
        self._unread = anyio.Event()

    async def receive(self) -> Message:
        message: Message = {"type": "http.disconnect"}
        async with anyio.create_task_group() as group:

            async def until_unread() -> None:
                await self._unread.wait()
                group.cancel_scope.cancel()

            group.start_soon(until_unread)
            message = await self._receive()
            group.cancel_scope.cancel()
        self.body += message.get("body", b"")
        self.hung_up |= message["type"] == "http.disconnect" and not self.answered
        return message

    async def send(self, message: Message) -> None:
        if self._unread.is_set():
            return
        with anyio.move_on_after(self.patience) as scope:
            await self._send(message)
        if scope.cancelled_caught:
            self._unread.set()
        self.answered |= message["type"] == "http.response.body" and not message.get("more_body", False)


def _request_id(body: bytes) -> Any:
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return request.get("id") if isinstance(request, dict) and "method" in request else None
