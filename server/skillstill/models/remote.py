"""Models behind an OpenAI-compatible server.

`RemoteCompletions` sends prompts that our own renderer made, for releases that were tuned on them. `RemoteChat` lets
the server render, for stock models and teachers, which know their own template better than we do.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx2
from pydantic import ValidationError

from skillstill import chat
from skillstill.errors import ContextFull, ModelError
from skillstill.text import one_line
from skillstill.types import Decision, Message, ToolCall, ToolSchema, Usage

SECONDS = 600.0  # of one completion; the run's own budget ends it earlier


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`url` up to and without `/v1`; the key, where there is one, is sent as a bearer token and never stored."""

    url: str
    model: str = "default"
    key: str = ""


class _Remote:
    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        self._client = httpx2.AsyncClient(base_url=endpoint.url.rstrip("/"), headers=headers, timeout=SECONDS)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer's first choice, with its usage. Raises ModelError and ContextFull."""
        try:
            response = await self._client.post(path, json={"model": self.endpoint.model, "temperature": 0, **body})
        except httpx2.HTTPError as error:
            raise ModelError(f"no answer from {self.endpoint.url}: {one_line(str(error), 200)}") from error
        if response.status_code != 200:
            raise _refused(self.endpoint.url, response.status_code, response.text)
        try:
            value = response.json()
            return {"usage": value.get("usage") or {}, **value["choices"][0]}
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ModelError(f"{self.endpoint.url} answered {one_line(response.text, 100)!r}: no completion") from error


class RemoteCompletions(_Remote):
    """`/v1/completions` with prompts rendered here. `taught`: schemas are left out, they are in the weights."""

    def __init__(self, endpoint: Endpoint, *, taught: bool = True) -> None:
        super().__init__(endpoint)
        self.taught = taught

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        prompt = "".join(segment.text for segment in chat.render(messages, () if self.taught else tools))
        body = {"prompt": prompt, "max_tokens": max_tokens, "stop": [chat.END], "logprobs": 1}
        choice = await self._post("/v1/completions", body)
        message = chat.parse(str(choice.get("text", "")), truncated=choice.get("finish_reason") == "length")
        return message.model_copy(update={"usage": _usage(choice), "decisions": _decisions(choice)})


class RemoteChat(_Remote):
    """`/v1/chat/completions` with the tools as the server's own parameter."""

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        body = {
            "messages": list(_wire_messages(messages)),
            "tools": [{"type": "function", "function": tool.model_dump()} for tool in tools],
            "parallel_tool_calls": False,
            "max_tokens": max_tokens,
        }
        choice = await self._post("/v1/chat/completions", body)
        message = _read_turn(choice.get("message") or {}, truncated=choice.get("finish_reason") == "length")
        return message.model_copy(update={"usage": _usage(choice)})


def _wire_messages(messages: Sequence[Message]) -> Sequence[dict[str, Any]]:
    """OpenAI's form. Calls are numbered through the conversation; each tool message answers the next open one."""
    wire: list[dict[str, Any]] = []
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        item: dict[str, Any] = {"role": message.role, "content": message.content}
        if message.calls:
            ids = [f"call_{index}_{place}" for place in range(len(message.calls))]
            item["tool_calls"] = [_wire_call(*pair) for pair in zip(ids, message.calls, strict=True)]
            open_calls += ids
        if message.role == "tool" and open_calls:
            item["tool_call_id"] = open_calls.pop(0)
        elif message.role == "tool":  # the answer to a call that could not be read: no id to refer to
            item["role"] = "user"
        wire.append(item)
    return wire


def _wire_call(id: str, call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    return {"id": id, "type": "function", "function": function}


def _read_turn(turn: Mapping[str, Any], *, truncated: bool) -> Message:
    """Servers that cannot read their model's calls print them as text: `chat.parse` finds those."""
    text = turn.get("content") or ""
    try:
        calls = tuple(_read_call(call["function"]) for call in turn.get("tool_calls") or ())
    except (ValueError, LookupError, TypeError, ValidationError) as error:
        reason = f"the call could not be read ({one_line(str(error), 100)})"
        return Message(role="assistant", content=text, malformed=reason, truncated=truncated)
    if not calls:
        return chat.parse(text, truncated=truncated)
    return Message(role="assistant", content=text, calls=calls, truncated=truncated)


def _read_call(function: Mapping[str, Any]) -> ToolCall:
    arguments = function.get("arguments") or {}
    return ToolCall(name=function["name"], arguments=json.loads(arguments) if isinstance(arguments, str) else arguments)


def _usage(choice: Mapping[str, Any]) -> Usage:
    usage = choice["usage"]
    reused = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return Usage(prompt=usage.get("prompt_tokens") or 0, reused=reused, completion=usage.get("completion_tokens") or 0)


def _decisions(choice: Mapping[str, Any]) -> tuple[Decision, ...]:
    """Without a grammar every token is a decision; servers without log-probabilities give none."""
    logprobs = choice.get("logprobs") or {}
    pairs = zip(logprobs.get("tokens") or (), logprobs.get("token_logprobs") or (), strict=False)
    return tuple(Decision(token=token, logprob=value) for token, value in pairs if value is not None)


def _refused(url: str, status: int, text: str) -> ModelError:
    what = f"{url} answered {status}: {one_line(text, 200)}"
    full = "context" in text.lower() and status in (400, 413)
    return ContextFull(what) if full else ModelError(what)
