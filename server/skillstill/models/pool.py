"""Where models come from: loaded here, lazily and once, or behind an endpoint."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from skillstill.chat import dialect_named
from skillstill.errors import BaseError
from skillstill.models.sources import locate
from skillstill.types import Adapter, DialectName, Model, ModelFile, ModelSpec

# llama.cpp and an HTTP client cost most of a second to import: each is loaded by the first lease that needs it.
if TYPE_CHECKING:
    from skillstill.models.llama import LlamaBase
    from skillstill.models.remote import Endpoint


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """gpu_layers and threads None: decided by the machine. `slots`: runs whose keys and values are kept at once."""

    offline: bool = False
    gpu_layers: int | None = None
    threads: int | None = None
    slots: int = 1


class LocalModels:
    """Bases in this process, one in memory however many adapters and runs share it."""

    def __init__(self, options: LocalOptions) -> None:
        self.options = options
        self._bases: dict[tuple[str, int], LlamaBase] = {}
        self._loading = anyio.Lock()

    @asynccontextmanager
    async def lease(self, spec: ModelSpec) -> AsyncIterator[Model]:
        """Raise BaseError and ModelError."""
        adapter = Adapter(path=await self._located(spec.adapter), sha256=spec.adapter.sha256) if spec.adapter else None
        base = await self._base(spec.base, spec.context)
        async with base.lease(adapter=adapter, dialect=dialect_named(spec.dialect)) as model:
            yield model

    def label(self, spec: ModelSpec) -> str:
        """Return the base, by its source."""
        return spec.base.source

    async def _located(self, file: ModelFile) -> Path:
        return await to_thread.run_sync(lambda: locate(file, offline=self.options.offline))

    async def _base(self, file: ModelFile, context: int) -> "LlamaBase":
        """Return the base by its hash: another file under the same path is another base."""
        path, key = await self._located(file), (file.sha256, context)
        async with self._loading:
            if key not in self._bases:
                self._bases[key] = await to_thread.run_sync(self._load, path, context)
            return self._bases[key]

    def _load(self, path: Path, context: int) -> "LlamaBase":
        try:
            from skillstill.models.engine import EngineOptions
            from skillstill.models.llama import LlamaBase
        except ModuleNotFoundError as error:
            raise BaseError(
                f"no model runs on this machine without {error.name}: type `pip install 'skillstill[embedded]'`, or "
                "name a server with --endpoint"
            ) from error

        options = self.options
        return LlamaBase(path, EngineOptions(context, options.slots, options.threads, options.gpu_layers))


@dataclass(frozen=True, slots=True)
class RemoteModels:
    """One server for everything: our own prompts for tuned subagents, its chat interface for stock models.

    `address` is `URL` or `URL#MODEL`, the URL with or without a final `/v1`.
    """

    address: str
    key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Raise UsageError if the address or key cannot be one."""
        self._endpoint()

    @asynccontextmanager
    async def lease(self, spec: ModelSpec) -> AsyncIterator[Model]:
        from skillstill.models.remote import RemoteChat, RemoteCompletions

        kind = RemoteChat if spec.dialect is DialectName.HERMES else RemoteCompletions
        async with kind(self._endpoint()) as model:
            yield model

    def _endpoint(self) -> "Endpoint":
        from skillstill.models.remote import Endpoint

        return Endpoint.parse(self.address, self.key)

    def label(self, spec: ModelSpec) -> str:
        """Return the server's address: which model answers there is the server's business."""
        return f"endpoint:{self.address}"
