"""Models behind an OpenAI-compatible server.

`RemoteCompletions` sends prompts that our own renderer made, for releases that were tuned on them, and holds the turn
to its grammar if the server can. `RemoteChat` lets the server render, for stock models and teachers, which know their
own template better than we do.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2

from skillstill import chat
from skillstill.chat import Dialect
from skillstill.chat.grammar import turn_grammar
from skillstill.errors import ContextFull, ModelBusy, ModelError, UsageError
from skillstill.models.conformance import conformance
from skillstill.models.exchange import Answer, Exchange
from skillstill.models.likelihoods import likelihoods
from skillstill.models.servers import Body, Server, ServerKind
from skillstill.models.wire import is_truncated, read_turn, wire_messages, wire_tools
from skillstill.types import Decision, Likelihoods, Message, ToolSchema, Usage

SECONDS = 600.0  # of one completion; the run's own budget ends it earlier
CONNECTING = 5.0  # seconds until nobody is there
COMPLETIONS, CHAT = "/v1/completions", "/v1/chat/completions"
ANY = "default"  # the model's name if the address says none
UNKNOWN, NOTHING = Server(), dict[str, Any]()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`url` with or without a final `/v1`; the key, if there is one, is sent as a bearer token and never shown."""

    url: str
    model: str = ANY
    key: str = field(default="", repr=False)

    @classmethod
    def parse(cls, address: str, key: str = "") -> Self:
        """Return the endpoint of `URL` or `URL#MODEL`. Raise UsageError."""
        url, _, name = address.partition("#")
        return cls(url, name or ANY, key)

    def __post_init__(self) -> None:
        """Raise UsageError, which does not repeat what might be a secret."""
        if not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#@]*)?", self.url):
            raise UsageError(
                "the endpoint must be an address like http://localhost:8080#MODEL, without user, password or query: "
                "a key goes into SKILLSTILL_ENDPOINT_KEY"
            )
        if not re.fullmatch(r"[!-~]*", self.key):
            raise UsageError("the endpoint's key must be printable ASCII on one line, without spaces")

    @property
    def is_named(self) -> bool:
        """Return whether the address says which model is meant."""
        return self.model != ANY

    @property
    def address(self) -> str:
        return f"{self.url}#{self.model}" if self.is_named else self.url

    @property
    def base_url(self) -> str:
        return self.url.rstrip("/").removesuffix("/v1")

    def client(self, seconds: float, headers: Mapping[str, str] | None = None) -> httpx2.AsyncClient:
        """Return a client of it. `seconds`: how long one request may take. Raise UsageError.

        `headers` carry the key if it is not to be a bearer token.
        """
        if headers is None:
            headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        patience = httpx2.Timeout(seconds, connect=min(seconds, CONNECTING))
        try:
            _ = urlsplit(self.base_url).port  # raises; httpx2 would let any number pass
            return httpx2.AsyncClient(base_url=self.base_url, headers=headers, timeout=patience)
        except (ValueError, httpx2.InvalidURL) as error:
            raise UsageError(f"the endpoint {self.base_url} is no address: {error}") from error


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
    def __init__(
        self, endpoint: Endpoint, sampling: Sampling = GREEDY, *, seconds: float = SECONDS, fields: Body = NOTHING
    ) -> None:
        """Set up a client. `seconds`: how long one request may take; `fields`: said with each. Raise UsageError."""
        self.endpoint, self.sampling, self.fields = endpoint, sampling, fields
        self._last: Request | None = None
        self._client = endpoint.client(seconds)
        self._exchange = Exchange(self._client, endpoint.base_url, endpoint.key)

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
        turn = await self._ask(path, body, partial(_with_usage, read))
        self._last = Request(path, body, read, turn.usage or Usage())
        return turn

    async def _ask(self, path: str, body: Body, read: Callable[[Body], Answer]) -> Answer:
        """Return what `read` makes of the answer. Raise ModelError, its children too."""
        told = {"model": self.endpoint.model, **self.sampling.fields, **self.fields, **body}
        return await self._exchange.ask(path, told, read)


class RemoteCompletions(_Remote):
    """`/v1/completions` with prompts rendered here. A finetuned model reads no schemas.

    `server` is what the server said of itself; `adapter` is what it calls the model's own one.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        sampling: Sampling = GREEDY,
        *,
        dialect: Dialect = chat.LINES,
        seconds: float = SECONDS,
        server: Server = UNKNOWN,
        adapter: str | int | None = None,
    ) -> None:
        super().__init__(endpoint, sampling, seconds=seconds, fields=server.fields(adapter))
        self.dialect, self.server = dialect, server

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        prompt = "".join(segment.text for segment in chat.render(messages, self.dialect, tools))
        body = {"prompt": prompt, "max_tokens": max_tokens, "stop": [chat.END], "logprobs": 1}
        read = partial(self._read, messages, tools)
        if self.server.kind is ServerKind.OTHER:
            return await self._turn(COMPLETIONS, body, read)
        return await self._turn_in(turn_grammar(tools, self.dialect, messages), body, read)

    async def _turn_in(self, grammar: str, body: Body, read: Callable[[Body], Message]) -> Message:
        """Return a turn that keeps the grammar, if the server can hold it to one.

        Where a grammar hides what the model wanted, the turn is written freely, and again only if it breaks it.
        """
        held = {**body, **self.server.grammar_fields(grammar)}
        if not self.server.hides_doubts:
            return await self._turn(COMPLETIONS, held, lambda choice: _checked(grammar, read, choice)[0])
        turn, is_kept = await self._ask(COMPLETIONS, body, partial(_checked_first, grammar, read))
        unsure = partial(_undecided, read)
        self._last = Request(COMPLETIONS, held, unsure, turn.usage or Usage())
        if is_kept:
            return turn
        try:
            other = await self._turn(COMPLETIONS, held, unsure)
        except (ContextFull, ModelBusy):
            raise
        except ModelError:  # it takes no grammar: the loop tells the model what was wrong
            return turn
        return other.model_copy(update={"usage": _sum(turn.usage or Usage(), other.usage or Usage())})

    def _read(self, said: Sequence[Message], tools: Sequence[ToolSchema], choice: Body) -> Message:
        message = chat.parse(choice["text"], self.dialect, said, tools, truncated=is_truncated(choice))
        return message.model_copy(update={"decisions": _decisions(choice.get("logprobs") or {})})


class ScoringCompletions(RemoteCompletions):
    """Completions of a server that also tells likelihoods (`Server.can_score`)."""

    async def likelihoods(self, text: str, passages: Sequence[str]) -> Likelihoods:
        """Return how probable the text is as the meaning of each passage. Raise ModelError, its children too."""
        return await likelihoods(self.server, self._answer, text, passages)

    async def _answer(self, path: str, body: Body) -> Body:
        return await self._ask(path, body, dict)


class RemoteChat(_Remote):
    """`/v1/chat/completions` with the tools as the server's own parameter.

    A server whose template has no place for tools leaves them out without a word, as llama-server does for SmolLM2.
    """

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        body = {"messages": wire_messages(messages), "max_tokens": max_tokens, **wire_tools(tools)}
        return await self._turn(CHAT, body, read_turn)


def _with_usage(read: Callable[[Body], Message], answer: Body) -> Message:
    return read(answer["choices"][0]).model_copy(update={"usage": _usage(answer.get("usage") or {})})


def _checked_first(grammar: str, read: Callable[[Body], Message], answer: Body) -> tuple[Message, bool]:
    turn, is_kept = _checked(grammar, read, answer["choices"][0])
    return turn.model_copy(update={"usage": _usage(answer.get("usage") or {})}), is_kept


def _checked(grammar: str, read: Callable[[Body], Message], choice: Body) -> tuple[Message, bool]:
    """Return the turn, its decisions without what the grammar forced, and whether it keeps the grammar."""
    turn = read(choice)
    found = conformance(grammar, choice["text"], turn.decisions, truncated=turn.truncated)
    if found is None:
        return turn, turn.malformed is None
    return turn.model_copy(update={"decisions": found.decisions}), found.is_kept


def _undecided(read: Callable[[Body], Message], choice: Body) -> Message:
    """Return the turn without decisions: behind a mask, everything looks sure."""
    return read(choice).model_copy(update={"decisions": ()})


def _usage(usage: Body) -> Usage:
    reused = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return Usage(prompt=usage.get("prompt_tokens") or 0, reused=reused, completion=usage.get("completion_tokens") or 0)


def _decisions(logprobs: Body) -> tuple[Decision, ...]:
    """Return the decisions: without a grammar, every token is one. Servers without log-probabilities give none.

    llama-server lists one object for each token, with the one that was likeliest. OpenAI and vLLM have two lists side
    by side.
    """
    listed = [(one["token"], one["logprob"], _is_overruled(one)) for one in logprobs.get("content") or ()]
    pairs = zip(logprobs.get("tokens") or (), logprobs.get("token_logprobs") or (), strict=False)
    listed += [(token, value, False) for token, value in pairs]
    return tuple(
        Decision(token=one, logprob=value, overruled=is_odd) for one, value, is_odd in listed if value is not None
    )


def _is_overruled(token: Body) -> bool:
    likeliest = token.get("top_logprobs") or [token]
    return bool(likeliest[0].get("id") != token.get("id"))


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        prompt=one.prompt + other.prompt, reused=one.reused + other.reused, completion=one.completion + other.completion
    )
