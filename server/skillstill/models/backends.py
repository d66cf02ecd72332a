"""Backends: a server, or this process. Each knows how well it is and how many runs it has."""

import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

import anyio

from skillstill.chat import dialect_named
from skillstill.errors import ModelBusy, ModelError, SkillstillError
from skillstill.models.remote import GREEDY, Endpoint, RemoteChat, RemoteCompletions, ScoringCompletions
from skillstill.models.servers import Server, ServerKind, identify, missing_adapter
from skillstill.types import DialectName, Model, Models, ModelSpec

FRESH = 15.0  # seconds that a server is believed to be what and as well as it was
FIRST, LONGEST = 1.0, 300.0  # seconds that a failing server is set aside: doubled each time in a row, up to the last


class Unfit(ModelError):
    """The backend is well, and cannot answer for this subagent."""


class Backend(Protocol):
    """Somewhere a model answers. `runs` is how many it has now; `cooldown`: for how many seconds it is set aside."""

    runs: int
    is_last_resort: bool

    @property
    def cooldown(self) -> float: ...

    def label(self, spec: ModelSpec) -> str: ...

    def lease(self, spec: ModelSpec) -> AbstractAsyncContextManager[Model]: ...

    def note_failure(self, error: SkillstillError) -> None: ...

    def note_success(self) -> None: ...


class LocalBackend:
    """This process, which is never set aside: it is what is left."""

    is_last_resort = True

    def __init__(self, models: Models) -> None:
        self.models, self.runs, self.cooldown = models, 0, 0.0

    def label(self, spec: ModelSpec) -> str:
        return self.models.label(spec)

    def lease(self, spec: ModelSpec) -> AbstractAsyncContextManager[Model]:
        return self.models.lease(spec)

    def note_failure(self, error: SkillstillError) -> None: ...

    def note_success(self) -> None: ...


class RemoteBackend:
    """A server. What it is, is asked when a run begins and was not known a moment ago."""

    is_last_resort = False

    def __init__(self, endpoint: Endpoint, *, seconds: float) -> None:
        """`seconds`: how long a turn may take."""
        self.endpoint, self.seconds, self.runs = endpoint, seconds, 0
        self._failures, self._back, self._known = 0, 0.0, -FRESH
        self._server = Server()
        self._asking = anyio.Lock()

    @property
    def cooldown(self) -> float:
        return max(0.0, self._back - time.monotonic())

    def label(self, spec: ModelSpec) -> str:
        """Return the server's address: which model answers there is the server's business."""
        return f"endpoint:{self.endpoint.address}"

    @asynccontextmanager
    async def lease(self, spec: ModelSpec) -> AsyncIterator[Model]:
        """Raise ModelError, also if the server has not what the subagent needs."""
        self.runs += 1
        try:
            async with self._model(spec, await self._identified()) as model:
                yield model
        finally:
            self.runs -= 1

    def note_failure(self, error: SkillstillError) -> None:
        """Set the server aside, each time in a row for longer, and at least for as long as it asks for."""
        if isinstance(error, Unfit):
            return
        asked = (error.after if isinstance(error, ModelBusy) else None) or 0.0
        cooldown = min(LONGEST, max(FIRST * 2**self._failures, asked))
        self._failures, self._back, self._known = self._failures + 1, time.monotonic() + cooldown, -FRESH

    def note_success(self) -> None:
        self._failures, self._known = 0, time.monotonic()

    async def _identified(self) -> Server:
        async with self._asking:
            if time.monotonic() - self._known >= FRESH:
                async with self.endpoint.client(self.seconds) as client:
                    self._server = await identify(client)
                self._known = time.monotonic()
        return self._server

    def _model(self, spec: ModelSpec, server: Server) -> RemoteChat | RemoteCompletions:
        named = self.endpoint.model if self.endpoint.is_named else None
        if spec.dialect is DialectName.HERMES:
            return RemoteChat(self.endpoint, seconds=self.seconds, fields=server.fields(named))
        adapter = server.adapter(spec.adapter) if spec.adapter else None
        if spec.adapter and adapter is None and server.kind is not ServerKind.OTHER and not named:
            raise Unfit(f"{self.endpoint.base_url} {missing_adapter(server, spec.adapter)}")
        kind = ScoringCompletions if server.can_score else RemoteCompletions
        call = named if adapter is None else adapter
        dialect = dialect_named(spec.dialect)
        return kind(self.endpoint, GREEDY, dialect=dialect, seconds=self.seconds, server=server, adapter=call)
