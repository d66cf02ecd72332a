"""Where a large model is reached: an OpenAI-compatible endpoint, Anthropic's API, or the user's own Claude Code."""

import re
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable
from urllib.parse import urlsplit

from skillstill.errors import UsageError
from skillstill.models.anthropic import ADDRESS, AnthropicChat
from skillstill.models.remote import Endpoint, RemoteChat, Sampling
from skillstill.types import Model
from skillstill.util.hosts import leads_here


class LargeModel(Protocol):
    """A large model and the way to it."""

    @property
    def name(self) -> str:
        """Return a name that fits into a file name."""
        ...

    @property
    def label(self) -> str:
        """Return which model that is, for traces."""
        ...

    @property
    def receiver(self) -> str:
        """Return who is sent what the tools show; empty if it stays on this machine."""
        ...

    @property
    def tells_cost(self) -> bool:
        """Return whether what it opens is a `Priced`."""
        ...

    def open(
        self, sampling: Sampling, *, seconds: float, usd: float | None = None
    ) -> AbstractAsyncContextManager[Model]:
        """Return the model for one run.

        seconds   that a turn may take
        usd       that the run may cost, for models that tell their cost; the others are stopped by the ledger
        """
        ...


@runtime_checkable
class Priced(Protocol):
    """A model that tells what its run has cost, once it is closed."""

    @property
    def usd(self) -> float | None:
        """Return USD; None if it did not tell."""
        ...


@dataclass(frozen=True, slots=True)
class EndpointModel:
    """Any OpenAI-compatible server."""

    endpoint: Endpoint
    tells_cost: bool = False

    @property
    def name(self) -> str:
        return file_name("model", self.endpoint.model)

    @property
    def label(self) -> str:
        return f"endpoint:{self.endpoint.url}#{self.endpoint.model}"

    @property
    def receiver(self) -> str:
        return _receiver(self.endpoint)

    def open(self, sampling: Sampling, *, seconds: float, usd: float | None = None) -> RemoteChat:
        return RemoteChat(self.endpoint, sampling, seconds=seconds)


@dataclass(frozen=True, slots=True)
class AnthropicModel:
    """Anthropic's Messages API, or a server that speaks it. All samples are drawn at the model's own temperature."""

    endpoint: Endpoint
    tells_cost: bool = False

    @classmethod
    def named(cls, model: str, environment: Mapping[str, str]) -> "AnthropicModel":
        """Return the model at ANTHROPIC_BASE_URL, by default Anthropic's own. Raise UsageError."""
        if not model:
            raise UsageError("which model? Say it like anthropic:claude-sonnet-5-5")
        if not (key := environment.get("ANTHROPIC_API_KEY", "")):
            raise UsageError(f"anthropic:{model} needs your key: export ANTHROPIC_API_KEY")
        return cls(Endpoint(environment.get("ANTHROPIC_BASE_URL") or ADDRESS, model, key))

    @property
    def name(self) -> str:
        return file_name("anthropic", self.endpoint.model)

    @property
    def label(self) -> str:
        return f"anthropic:{self.endpoint.url}#{self.endpoint.model}"

    @property
    def receiver(self) -> str:
        return _receiver(self.endpoint)

    def open(self, sampling: Sampling, *, seconds: float, usd: float | None = None) -> AnthropicChat:
        return AnthropicChat(self.endpoint, seconds=seconds)


def file_name(kind: str, model: str) -> str:
    """Return `KIND-MODEL` as a file may be called."""
    return "-".join(filter(None, [kind, re.sub(r"[^a-z0-9.]+", "-", model.lower()).strip("-.")[:60]]))


def _receiver(endpoint: Endpoint) -> str:
    return "" if leads_here(endpoint.url) else urlsplit(endpoint.url).hostname or endpoint.url
