"""How probable a text is after some passages, as a server can tell it: the base, without any adapter.

vLLM           tells the log-probability of each token of a prompt
llama-server   tells that of each token it writes, so it is made to write these; only with llguidance, because a
               grammar of characters would let it spell the text in tokens that nobody reads
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from skillstill.chat.likelihood import SHOWN, ranking_prompt
from skillstill.models.servers import LLGUIDANCE, Body, Server, ServerKind
from skillstill.types import Likelihoods

Ask = Callable[[str, Body], Awaitable[Any]]  # a path and a body; the answer as JSON


async def likelihoods(server: Server, ask: Ask, text: str, passages: Sequence[str]) -> Likelihoods:
    """Return how probable the text is as the meaning of each passage, a request for each or for all of them."""
    prompts = [f"{SHOWN}{ranking_prompt(passage, text)[0]}" for passage in passages]
    said = ranking_prompt("", text)[1]
    if server.kind is ServerKind.VLLM:
        return await _of_prompts(server, ask, [prompt + said for prompt in prompts], said)
    return await _of_writing(server, ask, prompts, said)


async def _of_prompts(server: Server, ask: Ask, prompts: Sequence[str], said: str) -> Likelihoods:
    fields = {**server.fields(None), "add_special_tokens": False}
    count = int((await ask("/tokenize", {**fields, "prompt": said}))["count"])
    body = {**fields, "prompt": list(prompts), "max_tokens": 1, "temperature": 0, "prompt_logprobs": 0}
    answer = await ask("/v1/completions", body)
    told = [choice["prompt_logprobs"][-count:] for choice in answer["choices"]]
    after = tuple(sum(float(next(iter(one.values()))["logprob"]) for one in tokens) for tokens in told)
    return Likelihoods(after, int(answer["usage"]["prompt_tokens"]))


async def _of_writing(server: Server, ask: Ask, prompts: Sequence[str], said: str) -> Likelihoods:
    tokens = (await ask("/tokenize", {"content": said, "add_special": False}))["tokens"]
    grammar = f"{LLGUIDANCE} {{}}\nstart: {' '.join(f'<[{token}]>' for token in tokens)}"
    body = {**server.fields(None), "grammar": grammar, "n_predict": len(tokens), "temperature": 0, "n_probs": 1}
    answers = [await ask("/completion", {**body, "prompt": prompt}) for prompt in prompts]
    after = tuple(
        sum(float(one["logprob"]) for one in answer["completion_probabilities"][: len(tokens)]) for answer in answers
    )
    return Likelihoods(after, sum(int(one["timings"]["prompt_n"]) + len(tokens) for one in answers))
