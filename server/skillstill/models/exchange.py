"""One request to a server of models and its answer; refusals and silence become errors that say what to do next."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

import httpx2

from skillstill.errors import ContextFull, ModelBusy, ModelError
from skillstill.models.servers import Body
from skillstill.models.wire import loads
from skillstill.util.text import one_line

# llama-server: "exceeds the available context size"; vLLM and OpenAI: "maximum context length"; others: "window";
# Anthropic: "prompt is too long".
FULL = re.compile(r"context.?(size|length|window)|prompt is too long", re.IGNORECASE)
# Refusals of the moment. 408 and 425: too slow, too early; 429: too many. From 500 on all of them: servers and the
# proxies before them have more numbers for "not now" than the standard (529, 520 to 524).
BUSY = frozenset({408, 425, 429, *range(500, 600)})
PASSING = (httpx2.TimeoutException, httpx2.NetworkError, httpx2.RemoteProtocolError)
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A client of a server, the server's address for people, and the key that they must not be shown."""

    client: httpx2.AsyncClient
    url: str
    key: str = ""

    async def ask(self, path: str, body: Body, read: Callable[[Body], Answer]) -> Answer:
        """Return what `read` makes of the answer. Raise ModelError, its children too."""
        text = await self._post(path, body)
        try:
            return read(loads(text))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ModelError(f"{self.url} answered {self._shown(text, 100)!r}: no completion") from error

    async def _post(self, path: str, body: Body) -> str:
        try:
            response = await self.client.post(path, json=body)
        except httpx2.HTTPError as error:
            reason = self._shown(str(error) or type(error).__name__, 200)
            kind = ModelBusy if isinstance(error, PASSING) else ModelError
            raise kind(f"no answer from {self.url}: {reason}") from error
        if response.status_code == 200:
            return response.text
        what = f"{self.url} answered {response.status_code}: {self._shown(_complaint(response.text), 200)}"
        if _is_full(response):
            raise ContextFull(what)
        if response.status_code in BUSY:
            raise ModelBusy(what, _retry_after(response.headers.get("Retry-After", "")))
        raise ModelError(what)

    def _shown(self, text: str, width: int) -> str:
        """Return a line of what the server said, without the key, which some repeat when they refuse it."""
        return one_line(text.replace(self.key, "[key]") if self.key else text, width)


def _complaint(text: str) -> str:
    """Return what a refusal says: its `error.message`, if it has one."""
    with suppress(ValueError, LookupError, TypeError):
        return str(json.loads(text)["error"]["message"])
    return text or "nothing"


def _retry_after(text: str) -> float | None:
    """Return the seconds from now, given as a number or as a date; None if it is neither."""
    with suppress(ValueError):
        return max(0.0, float(text))
    with suppress(ValueError):
        when = parsedate_to_datetime(text)
        return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    return None


def _is_full(response: httpx2.Response) -> bool:
    return response.status_code in {400, 413} and FULL.search(response.text) is not None
