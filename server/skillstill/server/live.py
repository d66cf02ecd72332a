"""A registry that changes while we serve: noticed, and told to clients of both protocol eras."""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged

SECONDS = 0.5  # between looks
SESSIONS = 1_000  # handshakes that are remembered; those whose client is gone are dropped when there is news
log = logging.getLogger(__name__)


class Announcer:
    """Clients of 2026-07-28 listen on the bus; those of 2025-11-25 are remembered when they shake hands."""

    def __init__(self, look: Callable[[], Sequence[object]]) -> None:
        """`look` gives what clients are shown, as it stands now; it is called every SECONDS and must be cheap."""
        self.bus = InMemorySubscriptionBus()
        self._look = look
        self._sessions: deque[ServerSession] = deque(maxlen=SESSIONS)

    async def remember(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Middleware that keeps the sessions of handshakes."""
        result = await call_next(ctx)
        if ctx.method == "notifications/initialized":
            self._sessions.append(ctx.session)
        return result

    async def watch(self) -> None:
        """Look again and again; tell every change."""
        shown = self._look()
        while True:
            await anyio.sleep(SECONDS)
            if (now := self._look()) != shown:
                shown = now
                await self.announce()

    async def announce(self) -> None:
        await self.bus.publish(ToolsListChanged())
        for session in list(self._sessions):
            try:
                await session.send_tool_list_changed()
            except Exception:  # whatever a closed connection raises must not end the watch
                log.debug("a client is gone", exc_info=True)
                self._sessions.remove(session)
