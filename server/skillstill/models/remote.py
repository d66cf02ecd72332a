"""Models behind an OpenAI-compatible server.

`RemoteCompletions` sends prompts that our own renderer made, for releases that were tuned on them. `RemoteChat` lets
the server render, for stock models and teachers, which know their own template better than we do.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2
from pydantic import ValidationError

from skillstill import chat
from skillstill.chat import Dialect
from skillstill.errors import ContextFull, ModelBusy, ModelError, UsageError
from skillstill.types import Decision, Message, ToolCall, ToolSchema, Usage
from skillstill.util.text import one_line

SECONDS = 600.0  # of one completion; the run's own budget ends it earlier
# llama-server: "exceeds the available context size"; vLLM and OpenAI: "maximum context length"; others: "window".
FULL = re.compile(r"context.?(size|length|window)", re.IGNORECASE)
# Refusals of the moment. 408 and 425: too slow, too early; 429: too many. From 500 on all of them: servers and the
# proxies before them have more numbers for "not now" than the standard (529, 520 to 524).
BUSY = frozenset({408, 425, 429, *range(500, 600)})
PASSING = (httpx2.TimeoutException, httpx2.NetworkError, httpx2.RemoteProtocolError)
Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`url` with or without a final `/v1`; the key, if there is one, is sent as a bearer token and never shown."""

    url: str
    model: str = "default"
    key: str = field(default="", repr=False)

    @classmethod
    def parse(cls, address: str, key: str = "") -> Self:
        """Return the endpoint of `URL` or `URL#MODEL`. Raise UsageError."""
        url, _, name = address.partition("#")
        return cls(url, name or "default", key)

    def __post_init__(self) -> None:
        """Raise UsageError, which does not repeat what might be a secret."""
        if not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#@]*)?", self.url):
            raise UsageError(
                "the endpoint must be an address like http://localhost:8080#MODEL, without user, password or query: "
                "a key goes into SKILLSTILL_ENDPOINT_KEY"
            )
        if not re.fullmatch(r"[!-~]*", self.key):
            raise UsageError("the endpoint's key must be printable ASCII on one line, without spaces")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a server picks tokens. Temperature 0: always the likeliest. A `seed` makes other picks repeatable."""

    temperature: float = 0
    seed: int | None = None

    @property
    def fields(self) -> Body:
        return {"temperature": self.temperature, **({} if self.seed is None else {"seed": self.seed})}


GREEDY = Sampling()
OTHERWISE = 0.8  # temperature of second thoughts, llama.cpp's default: far from greedy, and still on the subject


@dataclass(frozen=True, slots=True)
class Request:
    """A turn that was asked for so many times, how to read it, and what it cost."""

    path: str
    body: Body
    read: Callable[[Body], Message]
    usage: Usage
    times: int = 1


class _Remote:
    def __init__(self, endpoint: Endpoint, sampling: Sampling = GREEDY, *, seconds: float = SECONDS) -> None:
        """Set up a client. `seconds`: how long one request may take. Raise UsageError."""
        self.endpoint, self.sampling = endpoint, sampling
        self._last: Request | None = None
        self.url = endpoint.url.rstrip("/").removesuffix("/v1")
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        try:
            _ = urlsplit(self.url).port  # raises; httpx2 would let any number pass
            self._client = httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=seconds)
        except (ValueError, httpx2.InvalidURL) as error:
            raise UsageError(f"the endpoint {self.url} is no address: {error}") from error

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def reconsider(self) -> Message | None:
        """Return another turn, sampled: asked the same way, the model would write the same. None if it fails."""
        if self._last is None:
            return None
        last = self._last
        again = {**last.body, "temperature": OTHERWISE, "seed": last.times}
        with suppress(ModelError):
            turn = await self._turn(last.path, again, last.read)
            usage = _sum(last.usage, turn.usage or Usage())
            self._last = replace(last, usage=usage, times=last.times + 1)
            return turn.model_copy(update={"usage": usage})
        return None

    async def _turn(self, path: str, body: Body, read: Callable[[Body], Message]) -> Message:
        """Return what `read` makes of the answer's first choice, with its usage. Raise ModelError, its children too."""
        text = await self._post(path, body)
        try:
            answer = _loads(text)
            usage = _usage(answer.get("usage") or {})
            turn = read(answer["choices"][0]).model_copy(update={"usage": usage})
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ModelError(f"{self.url} answered {self._shown(text, 100)!r}: no completion") from error
        self._last = Request(path, body, read, usage)
        return turn

    async def _post(self, path: str, body: Body) -> str:
        try:
            response = await self._client.post(
                path, json={"model": self.endpoint.model, **self.sampling.fields, **body}
            )
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
        return one_line(text.replace(self.endpoint.key, "[key]") if self.endpoint.key else text, width)


class RemoteCompletions(_Remote):
    """`/v1/completions` with prompts rendered here. A finetuned model reads no schemas."""

    def __init__(
        self,
        endpoint: Endpoint,
        sampling: Sampling = GREEDY,
        *,
        dialect: Dialect = chat.LINES,
        seconds: float = SECONDS,
    ) -> None:
        super().__init__(endpoint, sampling, seconds=seconds)
        self.dialect = dialect

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        prompt = "".join(segment.text for segment in chat.render(messages, self.dialect, tools))
        body = {"prompt": prompt, "max_tokens": max_tokens, "stop": [chat.END], "logprobs": 1}
        return await self._turn("/v1/completions", body, partial(self._read, messages, tools))

    def _read(self, said: Sequence[Message], tools: Sequence[ToolSchema], choice: Body) -> Message:
        message = chat.parse(choice["text"], self.dialect, said, tools, truncated=_truncated(choice))
        return message.model_copy(update={"decisions": _decisions(choice.get("logprobs") or {})})


class RemoteChat(_Remote):
    """`/v1/chat/completions` with the tools as the server's own parameter.

    A server whose template has no place for tools leaves them out without a word, as llama-server does for SmolLM2.
    """

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        body = {"messages": _wire_messages(messages), "max_tokens": max_tokens, **_wire_tools(tools)}
        return await self._turn("/v1/chat/completions", body, _read_turn)


def _wire_tools(tools: Sequence[ToolSchema]) -> Body:
    """Return no field without tools: OpenAI refuses an empty list."""
    listed = [{"type": "function", "function": tool.prompt_fields()} for tool in tools]
    return {"tools": listed, "parallel_tool_calls": False} if listed else {}


def _wire_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return messages in OpenAI's form. Calls are numbered; each tool message answers the next open one.

    Texts are escaped as `chat` does it: servers render them into one text, markers and all.
    """
    wire: list[dict[str, Any]] = []
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        item: dict[str, Any] = {"role": message.role, "content": _without_tags(message)}
        if message.calls:
            ids = [f"call_{index}_{place}" for place in range(len(message.calls))]
            item["tool_calls"] = [_wire_call(*pair) for pair in zip(ids, message.calls, strict=True)]
            open_calls += ids
        if message.role == "tool" and open_calls:
            item["tool_call_id"] = open_calls.pop(0)
        elif message.role == "tool":  # the answer to a call that could not be read, or that the run began with: no id
            item["role"] = "user"
        if wire and item["role"] == wire[-1]["role"] == "user":  # some templates refuse two in a row
            wire[-1]["content"] += f"\n\n{item['content']}"
        else:
            wire.append(item)
    return wire


def _without_tags(message: Message) -> str:
    """Return the result without the tags that many templates put around one."""
    return chat.escape(chat.without_tags(message.content) if message.role == "tool" else message.content)


def _wire_call(id: str, call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": chat.escaped_json(call.arguments)}
    return {"id": id, "type": "function", "function": function}


def _read_turn(choice: Body) -> Message:
    """Return the turn. A server that cannot read its model's calls prints them, in the dialect of stock models."""
    text = chat.without_thoughts(choice["message"].get("content") or "")
    wire = choice["message"].get("tool_calls") or ()
    if not wire:
        return chat.parse(text, chat.HERMES, truncated=_truncated(choice))
    try:
        calls = tuple(_read_call(call["function"]) for call in wire)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        shown = "\n".join(filter(None, [text, json.dumps(wire, ensure_ascii=False)]))
        return Message(role="assistant", content=shown, malformed=_unreadable(error), truncated=_truncated(choice))
    return Message(role="assistant", content=text, calls=calls, truncated=_truncated(choice))


def _read_call(function: Body) -> ToolCall:
    arguments = function.get("arguments") or {}
    return ToolCall(name=function["name"], arguments=_loads(arguments) if isinstance(arguments, str) else arguments)


def _loads(text: str) -> Any:
    """Return the value, in which each half of a surrogate pair became a `?`: no trace and no prompt can hold one."""
    return json.loads(json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace"))


def _unreadable(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"the call's arguments are not JSON ({error.msg} at character {error.pos})"
    if isinstance(error, ValidationError):
        return 'the call needs a "name", and "arguments" that are an object'
    return 'the call needs a "name" and "arguments"'


def _truncated(choice: Body) -> bool:
    return choice.get("finish_reason") == "length"


def _usage(usage: Body) -> Usage:
    reused = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return Usage(prompt=usage.get("prompt_tokens") or 0, reused=reused, completion=usage.get("completion_tokens") or 0)


def _decisions(logprobs: Body) -> tuple[Decision, ...]:
    """Return the decisions: without a grammar, every token is one. Servers without log-probabilities give none.

    llama-server lists one object for each token, OpenAI and vLLM two lists side by side.
    """
    pairs = [(one["token"], one["logprob"]) for one in logprobs.get("content") or ()]
    pairs += zip(logprobs.get("tokens") or (), logprobs.get("token_logprobs") or (), strict=False)
    return tuple(Decision(token=token, logprob=value) for token, value in pairs if value is not None)


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


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        prompt=one.prompt + other.prompt, reused=one.reused + other.reused, completion=one.completion + other.completion
    )
