"""Servers in the words of vLLM and of llama-server.

What vLLM answers here was read from a vLLM 0.32.0 that served our releases (docs/scaling.md).
"""

import json
from collections.abc import Sequence

from tests.server.models.openai_server import Json, OpenAiServer, Said

BASE = "smollm2"
USAGE = {"prompt_tokens": 22, "total_tokens": 33, "completion_tokens": 11, "prompt_tokens_details": None}


def speak_vllm(server: OpenAiServer, *adapters: str) -> OpenAiServer:
    """Let the server be a vLLM that serves a base and these adapters."""
    cards = [{"id": BASE, "object": "model", "owned_by": "vllm", "root": "./hf-base", "parent": None}]
    cards += [{"id": one, "object": "model", "owned_by": "vllm", "root": one, "parent": BASE} for one in adapters]
    server.pages = {
        "/health": Said("", type="text/plain"),
        "/version": Said('{"version":"0.32.0"}'),
        "/v1/models": Said(json.dumps({"object": "list", "data": cards})),
        "/tokenize": Said('{"count":2,"max_model_len":4096,"tokens":[787,3589],"token_strs":null}'),
    }
    return server


def speak_llama(server: OpenAiServer, *adapters: str, grammar: str = "root ::= object") -> OpenAiServer:
    """Let the server be a llama-server with these adapters; `grammar` is what it makes of a JSON schema."""
    listed = [{"id": at, "path": f"/models/{one}", "scale": 0.0} for at, one in enumerate(adapters)]
    server.pages = {
        "/health": Said('{"status":"ok"}'),
        "/v1/models": Said(json.dumps({"object": "list", "data": [{"id": "a.gguf", "owned_by": "llamacpp"}]})),
        "/lora-adapters": Said(json.dumps(listed)),
        "/completion": Said(json.dumps({"content": "{", "generation_settings": {"grammar": grammar}})),
    }
    return server


def vllm_turn(tokens: Sequence[str], logprob: float = -0.5, finish: str = "stop") -> Said:
    """What vLLM's `/v1/completions` answers: the token that ends the turn is told, and is no text."""
    told = [*tokens, "<|im_end|>"] if finish == "stop" else list(tokens)
    logprobs: Json = {
        "text_offset": [len("".join(told[:at])) for at in range(len(told))],
        "token_logprobs": [logprob] * len(told),
        "tokens": told,
        "top_logprobs": [{one: logprob} for one in told],
    }
    choice = {"index": 0, "text": "".join(tokens), "logprobs": logprobs, "finish_reason": finish, "stop_reason": None}
    return Said(json.dumps({"object": "text_completion", "choices": [choice], "usage": USAGE}))


def vllm_prompts(*logprobs: Sequence[float]) -> Said:
    """What vLLM answers to prompts whose tokens' log-probabilities were asked for; of the first there is none."""
    choices = [
        {
            "index": at,
            "text": " ",
            "finish_reason": "length",
            "prompt_logprobs": [None, *({str(at): {"logprob": one, "rank": 9}} for at, one in enumerate(values))],
        }
        for at, values in enumerate(logprobs)
    ]
    return Said(json.dumps({"choices": choices, "usage": {**USAGE, "prompt_tokens": 99}}))


def vllm_refuses(message: str, status: int = 400, kind: str = "BadRequestError") -> Said:
    return Said(json.dumps({"error": {"message": message, "type": kind, "param": None, "code": status}}), status)
