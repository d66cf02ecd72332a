"""What a server is and offers, by its own words: vLLM, llama-server, or any other with an OpenAI interface.

vLLM           /v1/models lists the base and its adapters, each an own model
llama-server   /lora-adapters lists adapters, which a request scales by their number
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import httpx2

from skillstill.chat import END
from skillstill.errors import ModelBusy
from skillstill.types import ModelFile

SECONDS = 3.0  # for each of these small questions: a server that is slower to answer them is of no use to a run
DIGITS = 12  # of an adapter's hash, in its name: as many as in the names of our files
LLGUIDANCE = "%llguidance"
Body = Mapping[str, Any]


class ServerKind(StrEnum):
    VLLM = "vLLM"
    LLAMA = "llama-server"
    OTHER = "server"


@dataclass(frozen=True, slots=True)
class Server:
    """`adapters` by their names: what a request calls each. `model`: the base, as a request calls it.

    has_grammars   whether a turn can be held to a grammar of llguidance's
    """

    kind: ServerKind = ServerKind.OTHER
    model: str = ""
    adapters: Mapping[str, str | int] = field(default_factory=dict)
    has_grammars: bool = False

    @property
    def can_score(self) -> bool:
        """Return whether it tells how probable a text is that it did not write itself."""
        return self.kind is ServerKind.VLLM or (self.kind is ServerKind.LLAMA and self.has_grammars)

    @property
    def hides_doubts(self) -> bool:
        """Return whether its log-probabilities are those behind the grammar's mask, not what the model thought."""
        return self.kind is ServerKind.VLLM

    def adapter(self, file: ModelFile) -> str | int | None:
        """Return what a request calls this adapter, known by the first digits of its hash; None if it is not here."""
        return next((call for name, call in self.adapters.items() if file.sha256[:DIGITS] in name), None)

    def fields(self, call: str | int | None) -> Body:
        """Return what a request says to be answered by that adapter, or by the bare base if it is None."""
        if self.kind is ServerKind.VLLM:
            return {"model": call or self.model}
        scales = [{"id": number, "scale": float(number == call)} for number in self.adapters.values()]
        return {"lora": scales} if scales else {}

    def grammar_fields(self, grammar: str) -> Body:
        """Return what a request says to keep a Lark grammar of a turn; nothing if the server knows none."""
        if not self.has_grammars:
            return {}
        if self.kind is ServerKind.VLLM:
            return {"structured_outputs": {"grammar": grammar}}
        return {"grammar": f"{LLGUIDANCE} {{}}\n{_with_end(grammar)}"}


def _with_end(grammar: str) -> str:
    """Return the grammar of a turn and the token after it: what llama-server takes for the end is another one."""
    return f"start: turn {END}\nturn: {grammar.removeprefix('start: ')}"


def missing_adapter(server: Server, file: ModelFile) -> str:
    """Return that it lacks the adapter, and how to start it so that it does not."""
    digits = file.sha256[:DIGITS]
    option = f"--lora-modules {digits}=FOLDER" if server.kind is ServerKind.VLLM else f"--lora {digits}.gguf"
    return (
        f"is a {server.kind} without the adapter {digits}: start it with {option}, or name a model of its as URL#MODEL"
    )


async def identify(client: httpx2.AsyncClient) -> Server:
    """Return what the server at the client's address is. Raise ModelBusy if it is not well, and ModelError."""
    health = await _get(client, "/health")
    if health.status_code >= 500 and health.status_code != 501:  # 501: it has no such page, like 404
        raise ModelBusy(f"{client.base_url} is not well: /health answered {health.status_code}")
    listed = _json(await _get(client, "/v1/models"))
    try:
        cards = listed["data"] if listed else []
        owners = {card.get("owned_by") for card in cards}
        if "vllm" in owners:
            return _vllm(cards)
        return await _llama(client) if "llamacpp" in owners else Server()
    except (LookupError, TypeError, ValueError, AttributeError):  # it says it in other words
        return Server()


def _vllm(cards: list[Body]) -> Server:
    """Return the server whose adapters are the models that name a parent."""
    adapters = {str(card["id"]): str(card["id"]) for card in cards if card.get("parent")}
    base = next((str(card["id"]) for card in cards if not card.get("parent")), "")
    return Server(ServerKind.VLLM, base, adapters, has_grammars=True)


async def _llama(client: httpx2.AsyncClient) -> Server:
    listed = _json(await _get(client, "/lora-adapters"))
    adapters: dict[str, str | int] = {}
    for one in listed or ():
        adapters[re.split(r"[/\\]", str(one["path"]))[-1]] = int(one["id"])
    return Server(ServerKind.LLAMA, "", adapters, await _has_llguidance(client))


async def _has_llguidance(client: httpx2.AsyncClient) -> bool:
    """Return whether it was built with llguidance: then it turns a JSON schema into a grammar of that.

    A grammar of ours must not be the question: it ends the process of a server without llguidance
    (https://github.com/ggml-org/llama.cpp/issues/25960).
    """
    asked = {"prompt": "a", "n_predict": 1, "json_schema": {}, "cache_prompt": False}
    said = _json(await _send(client, "POST", "/completion", asked))
    return bool(said) and str(said["generation_settings"]["grammar"]).startswith(LLGUIDANCE)


async def _get(client: httpx2.AsyncClient, path: str) -> httpx2.Response:
    return await _send(client, "GET", path)


async def _send(client: httpx2.AsyncClient, method: str, path: str, body: Body | None = None) -> httpx2.Response:
    try:
        return await client.request(method, path, json=body, timeout=SECONDS)
    except httpx2.HTTPError as error:
        raise ModelBusy(f"no answer from {client.base_url}: {str(error) or type(error).__name__}") from error


def _json(response: httpx2.Response) -> Any:
    """Return what it says, or None if that is an error or no JSON."""
    try:
        return response.json() if response.status_code == 200 else None
    except ValueError:
        return None
