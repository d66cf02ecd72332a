"""The connections of the HTTP server: how long a request may take to arrive, and how many strangers may wait.

uvicorn bounds all connections together, and times only those that wait for another request. So those who hold no token
could take every place, and a half-sent header could stay for ever.
"""

import asyncio
from collections import Counter

import h11
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS = 200  # of clients that have shown a token
STRANGERS = 100  # connections beside them that have not, or not yet


def is_authenticated(scope: Scope | None) -> bool:
    """Return whether the SDK's authentication has accepted the token of this request."""
    return scope is not None and isinstance(scope.get("user"), AuthenticatedUser)


def connection_class(seconds: float) -> type[H11Protocol]:
    """Return the class of connections on which a request must arrive within so many seconds, headers and body."""
    return type("Connection", (_Connection,), {"seconds": seconds})


class _Connection(H11Protocol):
    seconds: float
    since: float
    trusted = False  # a request with a token has been answered on it
    _arriving: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since = self.loop.time()
        self._time_the_request()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timing()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.their_state in {h11.IDLE, h11.SEND_BODY}:
            self._time_the_request()
        else:
            self._stop_timing()

    def on_response_complete(self) -> None:
        self.trusted |= is_authenticated(self.scope)  # type: ignore[arg-type]
        super().on_response_complete()

    def _time_the_request(self) -> None:
        if self._arriving is None:
            self._arriving = self.loop.call_later(self.seconds, self.transport.abort)

    def _stop_timing(self) -> None:
        if self._arriving is not None:
            self._arriving.cancel()
            self._arriving = None

    @property
    def _is_stranger(self) -> bool:
        return not self.trusted and not is_authenticated(self.scope)  # type: ignore[arg-type]

    def _make_room(self) -> None:
        """Close the oldest stranger if there are too many: of the address that has most, so that it harms itself."""
        strangers = [one for one in self.connections if isinstance(one, _Connection) and one._is_stranger]
        if len(strangers) <= STRANGERS:
            return
        crowd = Counter(one._address for one in strangers).most_common(1)[0][0]
        oldest = min((one for one in strangers if one._address == crowd), key=lambda one: one.since)
        self.connections.discard(oldest)  # now, for the transport tells only later that it is closed
        oldest.transport.abort()

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""
