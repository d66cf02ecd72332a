"""A base served inside this process: `LlamaBase` is shared, each run gets a `LlamaModel` with a sequence of its own."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import anyio
import llguidance
import llguidance.numpy as masks
import numpy as np
from anyio import from_thread, to_thread
from llguidance.llamacpp import lltokenizer_from_vocab
from numpy.typing import NDArray

from skillstill import chat
from skillstill.errors import ContextFull, ModelError
from skillstill.grammar import turn_grammar
from skillstill.models.engine import Engine, EngineOptions
from skillstill.types import Decision, Message, ToolSchema, Usage


@dataclass(slots=True)
class Slot:
    """A sequence of the context, the tokens whose keys and values it holds, and the adapter they belong to."""

    sequence: int
    tokens: list[int] = field(default_factory=list)
    adapter: Path | None = None


class LlamaBase:
    """A loaded base. One completion decodes at a time; waiting runs take turns, each keeping its own slot."""

    def __init__(self, path: Path, options: EngineOptions) -> None:
        """Raises ModelError: not loadable, or not a ChatML model."""
        self.engine = Engine(path, options)
        self.turn = anyio.Lock()
        self._free = [Slot(sequence) for sequence in range(options.slots)]
        self._slots = anyio.Semaphore(options.slots)
        end = self.engine.tokenize(chat.END)
        if len(end) != 1:
            raise ModelError(f"{path} is no ChatML model: {chat.END} is not one token of its vocabulary")
        self.end = end[0]

    @asynccontextmanager
    async def lease(self, *, adapter: Path | None = None, taught: bool) -> AsyncIterator["LlamaModel"]:
        """A model for one run. `taught`: it carries the tools in its weights, so prompts leave their schemas out."""
        async with self._slots:
            slot = self._take(adapter)
            try:
                yield LlamaModel(self, slot, taught)
            finally:
                self._free.append(slot)

    def _take(self, adapter: Path | None) -> Slot:
        """The slot that this adapter used last, whose beginning it may find again; else the one longest unused."""
        slot = next((slot for slot in reversed(self._free) if slot.adapter == adapter), self._free[0])
        self._free.remove(slot)
        if slot.adapter != adapter:
            slot.tokens, slot.adapter = [], adapter
        return slot

    @cached_property
    def vocabulary(self) -> llguidance.LLTokenizer:
        """The vocabulary as the grammar's masks need it; takes most of a second, once."""
        return lltokenizer_from_vocab(self.engine.vocabulary, eos_token=self.end)

    @cache  # noqa: B019 - as many entries as skills, and the base outlives them
    def grammar(self, tools: tuple[str, ...], may_answer: bool) -> str:
        schemas = [ToolSchema.model_validate_json(tool) for tool in tools]
        return turn_grammar(schemas, may_answer=may_answer, marker=self._marker)

    def _marker(self, tag: str) -> str:
        tokens = self.engine.tokenize(tag)
        return f"<[{tokens[0]}]>" if len(tokens) == 1 else json.dumps(tag)


class LlamaModel:
    """One run's view of a base. Keeps the keys and values of the turns so far, so that each turn reads only news."""

    def __init__(self, base: LlamaBase, slot: Slot, taught: bool) -> None:
        self.base, self.slot, self.taught = base, slot, taught

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        """The next turn, greedily, within the grammar. Raises ContextFull and ModelError."""
        prompt = self.prompt(messages, tools)
        room = self.base.engine.options.context - len(prompt)
        if room < min(max_tokens, 32):
            raise ContextFull(f"the run has {len(prompt)} tokens and the context is full")
        may_answer = any(message.role == "tool" for message in messages)
        async with self.base.turn:
            # Not abandoned on cancel: the thread itself looks for it before each batch, so the engine stays sound.
            return await to_thread.run_sync(self._write, prompt, tuple(tools), may_answer, min(max_tokens, room))

    def prompt(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> list[int]:
        """The tokens of what has been said; each segment is tokenized by itself, as in training."""
        segments = chat.render(messages, () if self.taught else tools)
        return [token for segment in segments for token in self._tokens(segment.text)]

    def _tokens(self, text: str) -> list[int]:
        return self.base.engine.tokenize(text)

    def _write(self, prompt: list[int], tools: tuple[ToolSchema, ...], may_answer: bool, room: int) -> Message:
        base = self.base
        grammar = base.grammar(tuple(tool.model_dump_json() for tool in tools), may_answer)
        matcher = llguidance.LLMatcher(base.vocabulary, grammar)
        if matcher.is_error():
            raise ModelError(f"the tools make no grammar: {matcher.get_error()}")
        base.engine.use(self.slot.adapter)
        reused = self._rewind(prompt)
        written = Writing(base.engine, matcher, base.end)
        written.run(prompt[reused:], room, self._decode)
        message = chat.parse(written.text, truncated=written.truncated)
        usage = Usage(prompt=len(prompt), reused=reused, completion=len(written.tokens))
        return message.model_copy(update={"usage": usage, "decisions": tuple(written.decisions)})

    def _rewind(self, prompt: Sequence[int]) -> int:
        """Keep what the slot and the prompt have in common, but for a last token to decode; how many that are."""
        pairs = enumerate(zip(self.slot.tokens, prompt, strict=False))
        common = next((index for index, (old, new) in pairs if old != new), min(len(self.slot.tokens), len(prompt)))
        keep = min(common, len(prompt) - 1)
        self.base.engine.forget(self.slot.sequence, keep)
        del self.slot.tokens[keep:]
        return keep

    def _decode(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        position = len(self.slot.tokens)
        try:
            logits = self.base.engine.decode(tokens, position, self.slot.sequence, from_thread.check_cancelled)
        except BaseException:
            self.base.engine.forget(self.slot.sequence, position)  # a part of the tokens may be in
            raise
        self.slot.tokens += tokens
        return logits


class Writing:
    """One turn being written: the arg-max is checked against the grammar alone, and masked only where it is refused."""

    def __init__(self, engine: Engine, matcher: llguidance.LLMatcher, end: int) -> None:
        self.engine, self.matcher, self.end = engine, matcher, end
        self.tokens: list[int] = []
        self.decisions: list[Decision] = []
        self.truncated = False

    @property
    def text(self) -> str:
        return b"".join(map(self.engine.piece, self.tokens)).decode("utf-8", "replace")

    def run(self, pending: list[int], room: int, decode: Callable[[Sequence[int]], NDArray[np.float32]]) -> None:
        """Read `pending`, then write until the grammar or the model ends the turn, or `room` tokens are written."""
        while True:
            forced = self.matcher.compute_ff_tokens()
            self.matcher.consume_tokens(forced)
            self.tokens += forced
            if self.matcher.is_stopped():
                return
            if len(self.tokens) >= room:
                self.truncated = True
                return
            token = self._choose(decode([*pending, *forced]))
            if token == self.end:
                return
            self.tokens.append(token)
            pending = [token]

    def _choose(self, logits: NDArray[np.float32]) -> int:
        wanted = int(logits.argmax())
        token = wanted
        if not self.matcher.try_consume_tokens([wanted]):
            token = self._best_allowed(logits)
            self.matcher.consume_token(token)
        logprob = float(logits[token] - _log_sum_exp(logits))
        text = self.engine.piece(token).decode("utf-8", "replace")
        self.decisions.append(Decision(token=text, logprob=round(logprob, 4), overruled=token != wanted))
        return token

    def _best_allowed(self, logits: NDArray[np.float32]) -> int:
        mask = masks.allocate_token_bitmask(1, len(logits))
        masks.fill_next_token_bitmask(self.matcher, mask)
        allowed = logits[None].copy()
        masks.apply_token_bitmask_inplace(allowed, mask)
        return int(allowed.argmax())


def _log_sum_exp(logits: NDArray[np.float32]) -> float:
    top = logits.max()
    return float(top + np.log(np.exp(logits - top).sum()))
