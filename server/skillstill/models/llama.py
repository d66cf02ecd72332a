"""A base served inside this process: `LlamaBase` is shared, each run leases a `LlamaModel` with a slot of its own."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import anyio
import llguidance
from anyio import to_thread
from llguidance.llamacpp import lltokenizer_from_vocab

from skillstill import chat
from skillstill.chat import Dialect
from skillstill.chat.grammar import turn_grammar
from skillstill.chat.likelihood import SHOWN, ranking_prompt
from skillstill.errors import ContextFull, ModelError
from skillstill.models.engine import Engine, EngineOptions, Logits, log_sum_exp
from skillstill.models.prefixes import Prefixes
from skillstill.models.scheduler import Read, Scheduler, Steps
from skillstill.models.slot import Prompt, Slot
from skillstill.models.writing import Writing
from skillstill.types import Adapter, Likelihoods, Message, ToolSchema, Usage
from skillstill.util.meters import engine_meter
from skillstill.util.text import one_line

# What llguidance may compute for one token: five times its default, which a vocabulary of 150,000 exceeds if much text
# was shown that may be copied. Some 70 ms at worst.
LIMITS = llguidance.LLParserLimits(step_lexer_fuel=1_000_000)
LEAST_ROOM = 32  # tokens that a turn needs at the least: a short call
Matchers = Callable[[], llguidance.LLMatcher]


class LlamaBase:
    """A loaded base. Runs share its batches, each with a slot of its own."""

    def __init__(self, path: Path, options: EngineOptions, name: str = "") -> None:
        """`name` is the base's, if the file has another. Raise ModelError: not loadable, or not a ChatML model."""
        self.engine = Engine(path, replace(options, slots=options.slots + 1))
        self.meter = engine_meter(
            one_line(name or path.stem, 60), self.engine.form(), options.slots, self.engine.capacity
        )
        self.scheduler = Scheduler(self.engine, self.meter)
        *slots, self.aside = [Slot(self.engine, sequence) for sequence in range(options.slots + 1)]
        self.weighing = anyio.Lock()  # one run at a time uses what is aside
        self.prefixes = Prefixes(self.engine, path, tuple(slots))
        self._free = slots
        self._slots = anyio.Semaphore(options.slots)
        end = self.engine.tokenize(chat.END)
        if len(end) != 1:
            self.engine.close()
            raise ModelError(f"{path} is no ChatML model: {chat.END} is not one token of its vocabulary")
        self.end = end[0]

    @asynccontextmanager
    async def lease(self, *, adapter: Adapter | None = None, dialect: Dialect) -> AsyncIterator["LlamaModel"]:
        """Lend a model to one run."""
        async with self._slots:
            slot = self._take(adapter)
            self.meter.slots_used += 1
            try:
                yield LlamaModel(self, slot, adapter, dialect)
            finally:
                self.meter.slots_used -= 1
                self._free.append(slot)

    def _take(self, adapter: Adapter | None) -> Slot:
        """Return the slot that this adapter used last, whose system turn it may find again.

        Else the one longest unused.
        """
        slot = next((slot for slot in reversed(self._free) if slot.adapter == adapter), self._free[0])
        self._free.remove(slot)
        return slot

    @cached_property
    def vocabulary(self) -> llguidance.LLTokenizer:
        """Return the vocabulary as the grammar's masks need it; takes a part of a second, once."""
        return lltokenizer_from_vocab(self.engine.vocabulary, eos_token=self.end)

    def marker(self, tag: str) -> str:
        """Return a tag as a terminal of a grammar: one token if the vocabulary has it as one."""
        tokens = self.engine.tokenize(tag)
        return f"<[{tokens[0]}]>" if len(tokens) == 1 else json.dumps(tag)


@dataclass(slots=True)
class Turn:
    """A turn of at most `room` tokens, and how far it is written. `reused` tokens of the prompt were in the cache.

    `metered` of those written are counted in the meter.
    """

    prompt: Prompt
    messages: Sequence[Message]
    tools: Sequence[ToolSchema]
    matchers: Matchers
    room: int
    writing: Writing | None = None
    reused: int = 0
    metered: int = 0


class LlamaModel:
    """One run's view of a base. Keeps the keys and values of the turns so far, so that each turn reads only news."""

    def __init__(self, base: LlamaBase, slot: Slot, adapter: Adapter | None, dialect: Dialect) -> None:
        self.base, self.slot, self.adapter, self.dialect = base, slot, adapter, dialect
        self.turn: Turn | None = None  # the last one, for second thoughts
        self._begun = False

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        """Return the next turn, greedily, within the grammar. Raise ContextFull and ModelError."""
        turn = await to_thread.run_sync(self._turn, messages, tools, max_tokens)
        return await self.base.scheduler.run(self.slot, self.adapter, self._write(turn))

    async def reconsider(self) -> Message | None:
        """Return the last turn written otherwise: back to where it was least sure, and on from its second choice there.

        None if it was sure of all, or was the first turn with calls. Raise ModelError.
        """
        turn = self.turn
        if turn is None or turn.writing is None or not turn.writing.reconsider(turn.matchers()):
            return None
        return await self.base.scheduler.run(self.slot, self.adapter, self._finish(turn, turn.writing))

    async def likelihoods(self, text: str, passages: Sequence[str]) -> Likelihoods:
        """Return how probable the text is as the meaning of each passage. Raise ModelError.

        The adapter is off: it has forgotten words.
        """
        tokenize = self.base.engine.tokenize
        shown = tokenize(SHOWN)
        pairs = [
            (tokenize(read), tokenize(said)) for read, said in (ranking_prompt(passage, text) for passage in passages)
        ]
        async with self.base.weighing:
            after = await self.base.scheduler.run(self.base.aside, None, self._weigh(shown, pairs))
        return Likelihoods(tuple(after), len(shown) + sum(len(read) + len(said) for read, said in pairs))

    def prompt(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Prompt:
        """Return the tokens of what has been said; each segment is tokenized by itself, as in training."""
        segments = chat.render(messages, self.dialect, tools)
        parts = [(segment.shared, self.base.engine.tokenize(segment.text)) for segment in segments]
        shared = sum(len(tokens) for is_shared, tokens in parts if is_shared)
        return Prompt([token for _, tokens in parts for token in tokens], shared)

    def _turn(self, messages: Sequence[Message], tools: Sequence[ToolSchema], max_tokens: int) -> Turn:
        prompt = self.prompt(messages, tools)
        room = self.base.engine.options.context - len(prompt.tokens)
        if room < LEAST_ROOM:
            raise ContextFull(f"the run has {len(prompt.tokens)} tokens and the context is full")
        return Turn(prompt, messages, tools, self._matchers(messages, tools), min(max_tokens, room))

    def _weigh(self, shown: Sequence[int], pairs: Sequence[tuple[list[int], list[int]]]) -> Steps[list[float]]:
        """Return the log-probability of each text `said` after what is shown and `read`."""
        yield from self._show(shown)
        weighed = []
        for read, said in pairs:
            self.base.aside.keep(len(shown))
            self.base.meter.read += len(read) + len(said)
            weighed.append((yield from _likelihood(read, said)))
        return weighed

    def _show(self, shown: Sequence[int]) -> Steps[None]:
        """Have what is shown before each text in the slot that is aside."""
        self.base.aside.rewind(Prompt([*shown, self.base.end], len(shown)))
        if self.base.aside.tokens:
            self.base.meter.reused += len(shown)
        else:
            yield Read(shown)
            self.base.meter.read += len(shown)

    def _write(self, turn: Turn) -> Steps[Message]:
        watched = any(message.calls for message in turn.messages)
        turn.writing = Writing(self.base.engine, turn.matchers(), self.base.end, watched=watched)
        if not self._begun:
            self.slot.begin(self.adapter)
            self._begun = True
        self.slot.rewind(turn.prompt)
        turn.reused = yield from self.base.prefixes.read_shared(self.slot, turn.prompt)
        self.base.meter.reused += turn.reused
        self.base.meter.read += len(turn.prompt.tokens) - turn.reused
        self.turn = turn
        return (yield from self._finish(turn, turn.writing))

    def _finish(self, turn: Turn, writing: Writing) -> Steps[Message]:
        """Return the turn, written to its end from where it is."""
        begun = Prompt([*turn.prompt.tokens, *writing.tokens], turn.prompt.shared)
        self.slot.rewind(begun)
        yield from writing.steps(begun.tokens[len(self.slot.tokens) :], turn.room)
        message = chat.parse(writing.text, self.dialect, turn.messages, turn.tools, truncated=writing.truncated)
        completion = len(writing.tokens) + writing.discarded
        self.base.meter.written += completion - turn.metered
        turn.metered = completion
        usage = Usage(prompt=len(turn.prompt.tokens), reused=turn.reused, completion=completion)
        return message.model_copy(update={"usage": usage, "decisions": tuple(writing.decisions)})

    def _matchers(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Matchers:
        grammar = turn_grammar(tools, self.dialect, messages, marker=self.base.marker)
        matcher = llguidance.LLMatcher(self.base.vocabulary, grammar, limits=LIMITS)
        if matcher.is_error():
            raise ModelError(f"the tools make no grammar: {matcher.get_error()}")
        return matcher.deep_copy


def _likelihood(read: Sequence[int], said: Sequence[int]) -> Steps[float]:
    """Return the natural-log probability of `said` after what the sequence holds and `read`."""
    tokens, total = [*read, *said], 0.0

    def add(at: int, logits: Logits) -> None:
        nonlocal total
        if at + 1 < len(tokens):
            total += float(logits[tokens[at + 1]]) - log_sum_exp(logits)

    yield Read(tokens, len(read) - 1, add)
    return total
