"""A registry that changes while we serve: noticed, and told to clients of both protocol eras."""

import logging
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakSet

import anyio
from anyio import to_thread
from anyio.abc import TaskStatus
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged

SECONDS = 0.5  # between looks
PATIENCE = 5.0  # seconds for one client to take the news
log = logging.getLogger(__name__)


class Announcer:
    """Clients of 2026-07-28 listen on the bus; those of 2025-11-25 are remembered when they shake hands."""

    def __init__(self, look: Callable[[], Sequence[object]]) -> None:
        """Set up. `look` returns what clients are shown now; it is called every SECONDS, in a thread."""
        self.bus = InMemorySubscriptionBus()
        self._look = look
        self._connections: WeakSet[Connection] = WeakSet()

    async def remember(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Keep the connections of handshakes, as long as they live, as a middleware."""
        result = await call_next(ctx)
        if ctx.method == "notifications/initialized":
            self._connections.add(ctx.session._connection)
        return result

    async def watch(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Look again and again, and announce every change. A look that fails is a look at nothing new.

        Started once it has looked first: what changes after a client's first answer must be a change here too.
        """
        shown = await to_thread.run_sync(self._look)
        task_status.started()
        while True:
            await anyio.sleep(SECONDS)
            try:
                now = await to_thread.run_sync(self._look)
            except Exception:
                log.debug("a look at the registries failed", exc_info=True)
                continue
            if now != shown:
                shown = now
                await self.announce()

    async def announce(self) -> None:
        await self.bus.publish(ToolsListChanged())
        for connection in list(self._connections):
            with anyio.move_on_after(PATIENCE):
                try:
                    await connection.send_tool_list_changed()
                except Exception:  # whatever a closed connection raises must not end the watch
                    log.debug("a client is gone", exc_info=True)
                    self._connections.discard(connection)
