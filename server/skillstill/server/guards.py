"""What stands between the network and the SDK's HTTP transport, as plain ASGI: each class has one job."""

import json
import re
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import anyio
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skillstill.server.connections import is_authenticated

CLIENTS = 1_024  # addresses whose rate is remembered
HOST = re.compile(r"(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?")
Clock = Callable[[], float]


def is_host(text: str) -> bool:
    """Return whether this is a host name or address, with a port that exists or none."""
    found = HOST.fullmatch(text)
    return found is not None and int(found["port"] or 1) in range(1, 65_536)


def is_origin(text: str) -> bool:
    """Return whether this is what a browser sends as an Origin: a scheme and a host, nothing behind them."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return text == f"{parts.scheme}://{parts.netloc}" and is_host(parts.netloc)


class WellFormed:
    """Answers 421 to a Host and 403 to an Origin that is none; the SDK then looks which of the others may call.

    It compares beginnings, and would take `localhost:99999x` for a port of localhost.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self.refusal(Headers(scope=scope)) if is_authenticated(scope) else None
        await (answer or self.app)(scope, receive, send)

    def refusal(self, headers: Headers) -> Response | None:
        if not all(map(is_host, headers.getlist("host"))):
            return Response("Invalid Host header", 421)
        if not all(map(is_origin, headers.getlist("origin"))):
            return Response("Invalid Origin header", 403)
        return None


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
        return scope["type"] == "http" and scope["method"] == "POST" and is_authenticated(scope)

    def wait(self, address: str) -> float:
        """Return seconds until this address may call; 0 or less: now, and the call is counted."""
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
        await _ask(self.app, scope, "POST", notice)


class Sessions:
    """Ends the session of the 2025 era that was unused longest when a client opens one more than there may be.

    The SDK would refuse the new one, for half an hour if nobody ends theirs. A client whose session is gone is answered
    404, on which it opens another. A session with a request under way is in use, that of an open stream, too.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app, self.most = app, most
        self.opened: OrderedDict[str, Scope] = OrderedDict()  # by id, the longest unused first; what opened each
        self.requests: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        session = Headers(scope=scope).get(MCP_SESSION_ID_HEADER, "")

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start":
                await self.note(scope, session, message)
            await send(message)

        self.requests[session] += 1
        try:
            return await self.app(scope, receive, watch)
        finally:
            self.release(session)

    async def note(self, scope: Scope, session: str, answer: Message) -> None:
        """Remember a session that this answer opens, forget one that it says is gone."""
        named = Headers(raw=answer["headers"]).get(MCP_SESSION_ID_HEADER)
        if answer["status"] == 404 or scope["method"] == "DELETE":
            self.opened.pop(session, None)
        elif not session and named:
            self.opened[named] = scope
            await self.make_room()

    def release(self, session: str) -> None:
        self.requests[session] -= 1
        if not self.requests[session]:
            del self.requests[session]
        if session in self.opened:
            self.opened.move_to_end(session)

    async def make_room(self) -> None:
        unused = [one for one in list(self.opened)[:-1] if not self.requests[one]]  # the last one is the new one
        for session in unused[: max(0, len(self.opened) - self.most)]:
            await _ask(self.app, self.opened.pop(session), "DELETE", session=session)


async def _ask(app: ASGIApp, scope: Scope, method: str, body: bytes = b"", *, session: str = "") -> None:
    """Send a request in the name of the client that sent `scope`; nobody reads the answer."""
    own = [(MCP_SESSION_ID_HEADER.encode(), session.encode())] if session else []
    dropped = {b"content-length", *(name for name, _ in own)}
    headers = [*own, *((name, value) for name, value in scope["headers"] if name not in dropped)]
    messages = iter([{"type": "http.request", "body": body}])

    async def receive() -> Message:
        return next(messages, {"type": "http.disconnect"})

    async def send(_: Message) -> None:
        """Do nothing: nobody is there to read it."""

    await app({**scope, "method": method, "headers": headers}, receive, send)


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
