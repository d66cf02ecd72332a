"""Where models come from: loaded here, lazily and once, or behind an endpoint."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from skillstill.chat import dialect_named
from skillstill.errors import UsageError
from skillstill.models.bases import LocatedBase, embedded_extra, locate_base
from skillstill.models.decoding import FormChoice
from skillstill.models.sources import locate
from skillstill.types import Adapter, Model, ModelFile, Models, ModelSpec

# llama.cpp and an HTTP client cost most of a second to import: each is loaded by the first lease that needs it.
if TYPE_CHECKING:
    from skillstill.models.backends import Backend
    from skillstill.models.llama import LlamaBase
    from skillstill.models.remote import Endpoint

HERE = "here"  # among the addresses of servers: this process
# Seconds that a turn may take at a server: with no other place to go, as long as the run's own budget allows.
ALONE, WITH_OTHERS = 600.0, 120.0
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """gpu_layers and threads None: decided by the machine. `slots`: runs whose keys and values are kept at once.

    form  `shipped`: a base is loaded as it ships, and not in a faster form that is made of it.
    """

    offline: bool = False
    gpu_layers: int | None = None
    threads: int | None = None
    slots: int = 1
    form: FormChoice = "fast"


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
        base = await self._base(spec)
        async with base.lease(adapter=adapter, dialect=dialect_named(spec.dialect)) as model:
            yield model

    def label(self, spec: ModelSpec) -> str:
        """Return the base, by its source."""
        return spec.base.source

    async def _located(self, file: ModelFile) -> Path:
        return await to_thread.run_sync(lambda: locate(file, offline=self.options.offline))

    async def _base(self, spec: ModelSpec) -> "LlamaBase":
        """Return the base by its hash: another file under the same path is another base."""
        offline = self.options.offline
        found = await to_thread.run_sync(lambda: locate_base(spec.base, spec.base_behaviour, offline=offline))
        key = (found.sha256, spec.context)
        async with self._loading:
            if key not in self._bases:
                self._bases[key] = await to_thread.run_sync(self._load, found, spec.context)
            return self._bases[key]

    def _load(self, base: LocatedBase, context: int) -> "LlamaBase":
        with embedded_extra():
            from skillstill.models.engine import EngineOptions
            from skillstill.models.forms import serving_form
            from skillstill.models.llama import LlamaBase

        if base.warning:
            log.warning("%s: %s", base.path, base.warning)
        options = self.options
        form = serving_form(base.path, base.sha256, options.form, options.gpu_layers)
        engine = EngineOptions(context, options.slots, options.threads, options.gpu_layers)
        return LlamaBase(form.path, engine, name=base.path.stem)


class RemoteModels:
    """Servers for everything: our own prompts for tuned subagents, a server's chat interface for stock models.

    An address is `URL` or `URL#MODEL`, the URL with or without a final `/v1`. `here` is asked if no server can answer.
    """

    def __init__(self, addresses: str | Sequence[str], keys: str = "", here: Models | None = None) -> None:
        """`keys` are one for all servers or one for each, with spaces between. Raise UsageError."""
        from skillstill.models.backends import LocalBackend, RemoteBackend

        self.endpoints = _endpoints([addresses] if isinstance(addresses, str) else addresses, keys.split())
        self.here = here
        patience = ALONE if len(self.endpoints) == 1 and here is None else WITH_OTHERS
        self.backends: list[Backend] = [RemoteBackend(one, seconds=patience) for one in self.endpoints]
        if here:
            self.backends.append(LocalBackend(here))

    @asynccontextmanager
    async def lease(self, spec: ModelSpec) -> AsyncIterator[Model]:
        """Raise ModelError and BaseError."""
        from skillstill.models.failover import FailoverModel, ScoringFailoverModel

        async with FailoverModel(self.backends, spec) as model:
            yield ScoringFailoverModel(model) if model.scores else model

    def label(self, spec: ModelSpec) -> str:
        """Return the addresses of all; the trace tells which of them answered."""
        here = [self.here.label(spec)] if self.here else []
        return ", ".join([f"endpoint:{one.address}" for one in self.endpoints] + here)


def _endpoints(addresses: Sequence[str], keys: Sequence[str]) -> "list[Endpoint]":
    from skillstill.models.remote import Endpoint

    if len(keys) > 1 and len(keys) != len(addresses):
        raise UsageError(
            f"SKILLSTILL_ENDPOINT_KEY holds {len(keys)} keys for {len(addresses)} endpoints: one, or one each"
        )
    each = keys if len(keys) > 1 else [*keys, ""][:1] * len(addresses)
    return [Endpoint.parse(address, key) for address, key in zip(addresses, each, strict=True)]
